import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import type { StatusCode } from 'hono/utils/http-status'
import type { Agent } from '../agent/agent-contract.ts'
import {
  chooseAgent,
  readServedAgents,
  SERVED_AGENTS,
  type ServedAgents,
} from '../agent/served-agents.ts'
import { checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { appFiles } from './app-files.ts'
import { AUTH_OPTIONS, type AuthOptions, createAuth } from './auth/auth.ts'
import { readGrant } from './auth/tokens.ts'
import { type Caller, mayAs, requireRole } from './caller.ts'
import { createHub } from './events/hub.ts'
import { createGuard } from './guard.ts'
import { jsonAnswer } from './json-answer.ts'
import { createLimits, type ServerLimits } from './limits.ts'
import { type Listening, type ListenOptions, listen } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { openApiDocument } from './openapi.ts'
import { asMiddleware, createPipeline } from './pipeline.ts'
import { createReaders } from './readers/readers.ts'
import { resumableUploads } from './resumable-uploads.ts'
import { mountRoutes, type Route, type RouteSpec } from './route.ts'
import { assetRoutes } from './routes/assets.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { dataRoutes } from './routes/data.ts'
import { eventRoutes } from './routes/events.ts'
import { lineageRoutes } from './routes/lineage.ts'
import { messageRoutes } from './routes/messages.ts'
import { promptRoutes } from './routes/prompts.ts'
import { runRoutes } from './routes/runs.ts'
import { serverInfoRoutes } from './routes/server-info.ts'
import { tableRoutes } from './routes/tables.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { type ServerLogger, silent } from './server-log.ts'
import { createTries } from './tries.ts'

/** Options of {@link createServer}. */
export interface ServerOptions extends ServedAgents {
  /**
   * Which of the agents somebody may talk to, by their names, the first of them by default: so that a namespace or a role has
   * agents that trust less than others. A conversation of another agent can be read, and not gone on with. Default: all.
   */
  agentsOf?: (caller: Caller) => readonly string[]
  /**
   * Who may send messages as the system, as the assistant and as other people, with times of their own. Default: owners; without
   * `auth` everybody is one.
   */
  speakAs?: (caller: Caller) => boolean
  /** Who may use it; without, everybody who reaches it, and then it listens on loopback only. */
  auth?: AuthOptions
  limits?: ServerLimits
  /** Hosts that requests may name beside localhost and IP addresses: `box.local`, or `*` behind a proxy that checks. */
  allowedHosts?: readonly string[]
  /** Origins of other sites whose pages may use it (CORS), such as `https://app.example`. Default: none. */
  allowedOrigins?: readonly string[]
  /** The folder of the built workbench; by default the one that comes with byref, null for none. */
  app?: string | null
  /** A folder for uploads that can be resumed (tus); without, there are none. */
  uploads?: string
  /** Told of each request and each failure; pino's interface. Default: nothing, and failures to stderr. */
  log?: ServerLogger
}

const OPTIONS: OptionTable<ServerOptions> = {
  ...SERVED_AGENTS,
  agentsOf: is.callback(),
  speakAs: is.callback(),
  auth: is.group(AUTH_OPTIONS),
  limits: is.group({ requestsPerMinute: is.count, uploadBytes: is.positive }),
  allowedHosts: is.listOf(is.string),
  allowedOrigins: is.listOf(is.string),
  app: is.nullable(is.string),
  uploads: is.string,
  log: is.having<ServerLogger>('a logger, such as pino()', 'info', 'error'),
}

/** HTTP around agents: the API of docs/http-api.md and the workbench. */
export interface Server {
  /** Answers one request: for tests, and for any runtime that speaks web requests. */
  fetch(request: Request): Response | Promise<Response>
  /** Listens, on Node. Throws ByrefError `config_invalid` where the address is taken, not allowed, or open to all. */
  listen(options?: ListenOptions): Promise<Listening>
  /** The routes' document by OpenAPI 3.1, as `GET /api/openapi.json` answers it. */
  readonly openApi: Readonly<Record<string, unknown>>
  /** Ends the streams. The agents stay open. */
  close(): void
}

/** Bytes of one uploaded file, unless the limits say otherwise. */
const MAX_UPLOAD = 5 * 1024 * 1024 * 1024

/**
 * Makes a server.
 *
 * @throws ByrefError `config_invalid` for no agent, and auth that names no way in
 */
export function createServer(options: ServerOptions): Server {
  checkOptions('createServer', options, OPTIONS)
  const { allowedHosts = [], allowedOrigins = [], log = silent } = options
  const { speakAs = (caller) => mayAs(caller, 'owner') } = options
  const agents = agentsByName(options)
  const first = [...agents.values()][0] as Agent
  const auth = createAuth(options.auth)
  const limits = createLimits(options.limits, auth.required)
  const hub = createHub([...agents.values()], first.log)
  const readers = createReaders([...agents.values()], first.log)
  const metrics = createMetrics(hub)
  const uploads =
    options.uploads === undefined
      ? null
      : resumableUploads({
          folder: options.uploads,
          maxBytes: options.limits?.uploadBytes ?? MAX_UPLOAD,
        })
  let isClosing = false

  const routes: Route[] = [
    ...serverInfoRoutes(agentsOf, { auth, ready }),
    ...conversationRoutes(hub),
    ...messageRoutes(),
    ...runRoutes(),
    ...dataRoutes(),
    ...promptRoutes(),
    ...lineageRoutes(),
    ...eventRoutes(hub),
    ...assetRoutes(auth.key),
    ...uploadRoutes(),
    ...tableRoutes(),
    ...(uploads?.routes ?? []),
  ]
  const openApi = openApiDocument(routes)

  function agentsOf(caller: Caller): ReadonlyMap<string, Agent> {
    if (!options.agentsOf) return agents
    const theirs = new Map(
      options.agentsOf(caller).flatMap((name) => {
        const agent = agents.get(name)
        return agent ? [[name, agent] as const] : []
      }),
    )
    if (theirs.size > 0) return theirs
    throw new ByrefError('forbidden', `There is no agent for "${caller.subject}"`)
  }

  async function ready(): Promise<void> {
    try {
      await first.log.list({ limit: 1 })
    } catch (cause) {
      throw new ByrefError('log_failed', 'The log does not answer', { cause })
    }
  }

  async function authenticate(c: Context, { role, path }: RouteSpec): Promise<Caller> {
    const isSigned = path === '/api/assets/:id/content' && c.req.query('signature') !== undefined
    const caller = isSigned
      ? await grantedCaller(c)
      : role === null
        ? NOBODY
        : await auth.authenticate(c)
    c.set('caller', caller)
    if (role !== null) {
      await limits.request(caller)
      if (!isSigned) requireRole(caller, role)
    }
    return caller
  }

  /** Whom the signature of an address stands for: somebody who reads this one asset. */
  async function grantedCaller(c: Context): Promise<Caller> {
    const { signature = '', path = null } = c.req.query()
    const grant = auth.key ? await readGrant(auth.key, signature) : null
    if (!grant || grant.assetId !== c.req.param('id') || grant.path !== path) {
      throw new ByrefError(
        'unauthorized',
        'The address is not signed for this, or its time is over',
      )
    }
    return { subject: `asset:${grant.assetId}`, namespace: grant.namespace, role: 'reader' }
  }

  const pipeline = createPipeline({
    guard: createGuard({ hosts: allowedHosts, origins: allowedOrigins }),
    draining: (c) => (isClosing ? drainingAnswer(c) : null),
    log,
    metrics,
  })
  const app = new Hono()
  if (allowedOrigins.length > 0) app.use('/api/*', crossOrigin(allowedOrigins))
  mountRoutes(app, routes, {
    pipeline,
    tries: createTries(),
    authenticate,
    reader: (caller) => readers?.of(caller.subject) ?? null,
    speaker: (caller) => ({
      speaksAsOthers: speakAs(caller),
      ...(auth.required
        ? { sender: { participant_id: caller.subject, participant_role: 'user' } }
        : {}),
    }),
    agent(caller, { asked, before } = {}) {
      const theirs = agentsOf(caller)
      // An only agent goes on with what one of another name left.
      const agent = chooseAgent(theirs, { asked, before: agents.size > 1 ? before : undefined })
      return caller.namespace === null ? agent : agent.scoped(caller.namespace)
    },
  })
  app.get('/api/openapi.json', (c) => pipeline(c, '/api/openapi.json', () => jsonAnswer(openApi)))
  app.get('/metrics', (c) =>
    pipeline(c, '/metrics', async () => {
      requireRole(await auth.authenticate(c), 'owner')
      return c.text(await metrics.text(), 200, { 'content-type': metrics.contentType })
    }),
  )
  if (uploads) {
    app.all('/api/uploads/*', (c) =>
      pipeline(c, '/api/uploads/*', async () => {
        const caller = await auth.authenticate(c)
        requireRole(caller, 'member')
        await limits.request(caller)
        const { body, status, headers } = await uploads.handle(c.req.raw, caller)
        return c.newResponse(body, status as StatusCode, Object.fromEntries(headers))
      }),
    )
  }
  app.all('/api/*', (c) =>
    pipeline(c, '/api/*', () => {
      throw new ByrefError('not_found', `There is no ${c.req.path}`)
    }),
  )
  app.use(asMiddleware(pipeline, '*'))
  if (options.app !== null) app.route('/', appFiles(options.app))

  const server: Server = {
    fetch: (request) => app.fetch(request),
    openApi,
    listen: (listenOptions) =>
      listen(app, listenOptions, {
        needsToken: auth.required,
        async drain() {
          isClosing = true
          hub.close()
          readers?.close()
          await Promise.all([...agents.values()].map((agent) => agent.close()))
        },
      }),
    close() {
      hub.close()
      readers?.close()
    },
  }
  return server
}

const NOBODY: Caller = { subject: 'anybody', namespace: null, role: 'reader' }

/** The name of an only agent that has none. */
const ONLY = 'agent'

/** The agents of a server by name, in the order given. */
function agentsByName(options: ServerOptions): ReadonlyMap<string, Agent> {
  return new Map(
    [...readServedAgents('createServer', options)].map(([name, agent]) => [name ?? ONLY, agent]),
  )
}

/** Lets pages of these origins use the API (CORS). */
function crossOrigin(origins: readonly string[]): MiddlewareHandler {
  const allow = cors({
    origin: [...origins],
    allowHeaders: [
      ...['authorization', 'content-type', 'last-event-id', 'idempotency-key', 'range'],
      ...['tus-resumable', 'upload-length', 'upload-offset', 'upload-metadata'],
    ],
    exposeHeaders: ['content-range', 'etag', 'x-request-id', 'location', 'upload-offset'],
    maxAge: 600,
  })
  return async (c, next) => {
    const preflight = await allow(c, next)
    const answer = preflight ?? c.res
    // It names the origin alone, instead of what was named before.
    answer.headers.set('vary', 'origin, accept-encoding')
    return preflight
  }
}

const STREAM = /^\/api\/(events|conversations\/[^/]+\/stream)$/

/**
 * Answers for a server that is about to stop, which begins nothing new; null for what it answers still. A browser gives up a
 * stream that is refused, so that one ends at once instead and is asked for again, from whoever serves then.
 */
function drainingAnswer(c: Context): Response | null {
  if (c.req.path === '/healthz') return null
  c.header('connection', 'close')
  if (STREAM.test(c.req.path)) {
    c.header('cache-control', 'no-store')
    return c.body('retry: 1000\n\n', 200, { 'content-type': 'text/event-stream' })
  }
  throw new ByrefError('shutting_down', 'This server is about to stop: ask another, or later')
}
