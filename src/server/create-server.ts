import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
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
import { inBackground } from '../core/in-background.ts'
import type { JsonValue } from '../core/json/json.ts'
import { newId } from '../core/new-id.ts'
import { appFiles } from './app-files.ts'
import { AUTH_OPTIONS, Auth, type AuthOptions } from './auth/auth.ts'
import { readGrant } from './auth/tokens.ts'
import { type Caller, createRateLimit, hasRole, requireRole } from './caller.ts'
import { EventHub } from './events/event-hub.ts'
import { createGuard } from './guard.ts'
import { IdempotencyKeys } from './idempotency.ts'
import { type Listening, type ListenOptions, listen } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { openApiDocument } from './openapi.ts'
import {
  asMiddleware,
  createPipeline,
  errorsOnly,
  jsonAnswer,
  type Pipeline,
  type ServerLogger,
} from './pipeline.ts'
import { createReaders, type Readers } from './readers/readers.ts'
import { ResumableUploads } from './resumable-uploads.ts'
import { mountRoutes, type Route } from './route.ts'
import { assetRoutes, signRoute } from './routes/asset-routes.ts'
import { conversationListRoute, conversationRoutes } from './routes/conversation-routes.ts'
import { dataRoutes } from './routes/data-routes.ts'
import { eventRoutes } from './routes/event-routes.ts'
import { infoRoutes } from './routes/info-routes.ts'
import { lineageRoutes } from './routes/lineage-routes.ts'
import { messageRoutes } from './routes/message-routes.ts'
import { runRoutes } from './routes/run-routes.ts'
import { toolRoutes } from './routes/tool-routes.ts'
import { uploadRoutes } from './routes/upload-routes.ts'

/** Limits of a server. */
export interface ServerLimits {
  /**
   * Maximum number of requests of one caller per minute. A caller is the subject of a token in its namespace. Default: 1,200; no
   * limit if no token is needed.
   */
  requestsPerMinute?: number
  /**
   * Maximum size of a file that is uploaded in pieces, in bytes. Default: 5 GiB. For other uploads, the limit is
   * `limits.bodyBytes` of the assets.
   */
  uploadBytes?: number
}

/** Options of {@link createServer}. */
export interface ServerOptions extends ServedAgents {
  /**
   * The names of the agents that a caller may talk to, the default first. Use it to give a namespace or a role its own
   * agents. A conversation of another agent can be read, but not continued. Default: all agents.
   */
  agentsOf?: (caller: Caller) => readonly string[]
  /**
   * The `context` of the runs that a caller starts, as JSON, such as `{ user: caller.subject }`. It takes precedence
   * over the `context` that a request sends, which needs `speakAs`. Default: what the request sends, or else that of
   * the agent.
   */
  contextOf?: (caller: Caller) => JsonValue
  /**
   * Whether a caller may send messages as the system, as the assistant and as other people, with timestamps of their
   * own, and may set the `context` of a run. Default: owners may. Without `auth` everybody is an owner.
   */
  speakAs?: (caller: Caller) => boolean
  /** Who may use the server. Without it, no token is needed, and the server listens on loopback only. */
  auth?: AuthOptions
  /** Limits of requests and uploads. */
  limits?: ServerLimits
  /**
   * Hosts that requests may name in addition to localhost and IP addresses, such as `box.local`. `*` allows any host: use it
   * behind a proxy that checks hosts.
   */
  allowedHosts?: readonly string[]
  /** Origins of other sites whose pages may use the server (CORS), such as `https://app.example`. Default: none. */
  allowedOrigins?: readonly string[]
  /** The folder of a web app, which has an `index.html`; null for none. Default: the workbench in the package. */
  app?: string | null
  /** A folder for unfinished uploads (tus). Without it, files cannot be uploaded in pieces. */
  uploads?: string
  /** A logger such as `pino()`. It receives a line for each request and each failure. Default: failures go to stderr. */
  log?: ServerLogger
}

const OPTIONS: OptionTable<ServerOptions> = {
  ...SERVED_AGENTS,
  agentsOf: is.callback(),
  contextOf: is.callback(),
  speakAs: is.callback(),
  auth: is.group(AUTH_OPTIONS),
  limits: is.group({ requestsPerMinute: is.count, uploadBytes: is.positive }),
  allowedHosts: is.listOf(is.string),
  allowedOrigins: is.listOf(is.string),
  app: is.nullable(is.string),
  uploads: is.string,
  log: is.having<ServerLogger>('a logger, such as pino()', 'info', 'error'),
}

/** A server of agents. It has the API of docs/reference/http-api.md, and the workbench. */
export interface Server {
  /**
   * Handles one request. Use it in tests, in a server of your own, and in any runtime that has web requests. Responses
   * are not compressed, because the server around it does that.
   */
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** Listens on Node. @throws ByrefError `config_invalid` for an address that is taken, not allowed, or open to everyone */
  listen(options?: ListenOptions): Promise<Listening>
  /** The OpenAPI 3.1 document of the routes, which `GET /api/openapi.json` returns. */
  readonly openApi: Readonly<Record<string, unknown>>
  /** Rejects new requests with `shutting_down`, and ends the streams. The agents stay open. */
  close(): void
}

/**
 * Creates a server.
 *
 * @throws ByrefError `config_invalid` without an agent, for `auth` without a way to check tokens, for an `app` without a
 *   page, and for an origin that no browser sends
 */
export function createServer(options: ServerOptions): Server {
  return new AgentServer(checkOptions('createServer', options, OPTIONS))
}

/** Default of {@link ServerLimits.uploadBytes}. */
const MAX_UPLOAD = 5 * 1024 * 1024 * 1024

/** How long a server that is asked whether it is ready waits for other writers, in milliseconds. */
const WRITE_MS = 1000

/** The caller of a route that needs no token. */
const ANONYMOUS: Caller = { subject: 'anybody', namespace: null, role: 'reader' }

/** The name of a single agent without a name. */
const SINGLE = 'agent'

class AgentServer implements Server {
  readonly openApi: Readonly<Record<string, unknown>>
  readonly #options: ServerOptions
  /** By name, in the order given. */
  readonly #agents: ReadonlyMap<string, Agent>
  readonly #first: Agent
  readonly #auth: Auth
  readonly #limit: (caller: Caller) => Promise<void>
  readonly #hub: EventHub
  readonly #readers: Readers
  readonly #uploads: ResumableUploads | null
  readonly #app = new Hono()
  #isDraining = false

  constructor(options: ServerOptions) {
    this.#options = options
    const byName = readServedAgents('createServer', options)
    this.#agents = new Map([...byName].map(([name, agent]) => [name ?? SINGLE, agent]))
    const agents = [...this.#agents.values()]
    this.#first = agents[0] as Agent
    this.#auth = new Auth(options.auth)
    const { requestsPerMinute = this.#auth.required ? 1200 : null, uploadBytes = MAX_UPLOAD } =
      options.limits ?? {}
    this.#limit = createRateLimit(requestsPerMinute)
    const { allowedHosts: hosts = [], allowedOrigins: origins = [] } = options
    const guard = createGuard({ hosts, origins })
    if (options.app) checkApp(options.app)
    this.#hub = new EventHub(agents, this.#first.log)
    this.#readers = createReaders(agents, this.#first.log)
    this.#uploads = options.uploads ? new ResumableUploads(options.uploads, uploadBytes) : null
    const routes = this.#routes()
    this.openApi = openApiDocument(routes)
    this.#mount(routes, guard)
  }

  /** A field, because apps pass it to a server or mount it. */
  readonly fetch = (request: Request): Response | Promise<Response> => this.#app.fetch(request)

  listen(options?: ListenOptions): Promise<Listening> {
    if (this.#uploads) inBackground('Deleting expired uploads', this.#uploads.sweep())
    return listen(this.#app, options, {
      needsToken: this.#auth.required,
      drain: async () => {
        this.close()
        await Promise.all([...this.#agents.values()].map((agent) => agent.close()))
      },
    })
  }

  close(): void {
    this.#isDraining = true
    this.#hub.close()
    this.#readers?.close()
  }

  #routes(): Route[] {
    const agentsOf = (caller: Caller) => this.#agentsOf(caller)
    return [
      ...infoRoutes(agentsOf, { auth: this.#auth, checkLog: () => this.#checkLog() }),
      ...toolRoutes(agentsOf),
      conversationListRoute(this.#hub),
      ...conversationRoutes,
      ...messageRoutes,
      ...runRoutes,
      ...dataRoutes,
      ...lineageRoutes,
      ...eventRoutes(this.#hub),
      ...assetRoutes,
      signRoute(this.#auth),
      ...uploadRoutes,
      ...(this.#uploads ? [this.#uploads.route()] : []),
    ]
  }

  #mount(routes: readonly Route[], guard: ReturnType<typeof createGuard>): void {
    const { allowedOrigins: origins = [], log = errorsOnly, app: workbench } = this.#options
    const app = this.#app
    const metrics = createMetrics(this.#hub)
    const pipeline = createPipeline({
      guard,
      draining: (c) => (this.#isDraining ? drainingAnswer(c) : null),
      log,
      metrics,
    })
    if (origins.length > 0) app.use('/api/*', crossOrigin(origins))
    this.#mountRoutes(routes, pipeline)
    app.get('/api/openapi.json', (c) =>
      pipeline(c, '/api/openapi.json', () => jsonAnswer(this.openApi)),
    )
    app.get('/metrics', (c) =>
      pipeline(c, '/metrics', async () => {
        requireRole(await this.#callerOf(c), 'owner')
        return c.text(await metrics.text(), 200, { 'content-type': metrics.contentType })
      }),
    )
    if (this.#uploads) this.#mountUploads(this.#uploads, pipeline)
    app.all('/api/*', (c) =>
      pipeline(c, '/api/*', () => {
        throw new ByrefError('not_found', `Unknown path: ${c.req.path}`)
      }),
    )
    app.use(asMiddleware(pipeline, '*'))
    if (workbench !== null) app.route('/', appFiles(workbench))
  }

  #mountRoutes(routes: readonly Route[], pipeline: Pipeline): void {
    const { speakAs = (caller) => hasRole(caller, 'owner') } = this.#options
    mountRoutes(this.#app, routes, {
      pipeline,
      idempotencyKeys: new IdempotencyKeys(),
      authenticate: (c, route) => this.#authenticate(c, route),
      reader: (caller) => this.#readers?.of(caller.subject) ?? null,
      speaker: (caller) => {
        const speaksAsOthers = speakAs(caller)
        if (!this.#auth.required) return { speaksAsOthers }
        const sender = { participant_id: caller.subject, participant_role: 'user' }
        return { speaksAsOthers, sender }
      },
      agent: (caller, { asked, before, orAny = false } = {}) => {
        const allowed = this.#agentsOf(caller)
        const isServed = before !== undefined && this.#agents.has(before)
        const mayUseAll = allowed.size === this.#agents.size
        // A single agent continues the conversations of agents with other names.
        const isAny = this.#agents.size === 1 || (orAny && !isServed && mayUseAll)
        const agent = chooseAgent(allowed, { asked, before: isAny ? undefined : before })
        const context = this.#options.contextOf?.(caller)
        return agent.scoped(caller.namespace ?? agent.log.namespace, { context })
      },
    })
  }

  #mountUploads(uploads: ResumableUploads, pipeline: Pipeline): void {
    this.#app.all('/api/uploads/*', (c) =>
      pipeline(c, '/api/uploads/*', async () => {
        const caller = await this.#callerOf(c)
        requireRole(caller, 'member')
        await this.#limit(caller)
        const { body, status, headers } = await uploads.handle(c.req.raw, caller)
        return c.newResponse(body, status as StatusCode, Object.fromEntries(headers))
      }),
    )
  }

  #agentsOf(caller: Caller): ReadonlyMap<string, Agent> {
    const names = this.#options.agentsOf?.(caller)
    if (!names) return this.#agents
    const allowed = new Map<string, Agent>()
    for (const name of names) {
      const agent = this.#agents.get(name)
      if (agent) allowed.set(name, agent)
    }
    if (allowed.size > 0) return allowed
    throw new ByrefError('forbidden', `"${caller.subject}" may not use any agent of this server`)
  }

  async #checkLog(): Promise<void> {
    try {
      const { log } = this.#first
      await log.list({ limit: 1 })
      // This writes nothing, but is rejected as a write would be. It may have to wait for another writer.
      const writing = log.renew(newId(), { owner: 'readyz', ms: 1 })
      writing.catch(() => {})
      await Promise.race([writing, sleep(WRITE_MS, null, { ref: false })])
    } catch (cause) {
      throw new ByrefError('log_failed', 'The conversation log is not available', { cause })
    }
  }

  /** Returns the caller of a request that needs a token, and notes them for the log. */
  async #callerOf(c: Context): Promise<Caller> {
    const caller = await this.#auth.authenticate(c)
    c.set('caller', caller)
    return caller
  }

  async #authenticate(c: Context, { role, takesSignature }: Route): Promise<Caller> {
    const isSigned = takesSignature === true && c.req.query('signature') !== undefined
    const known = isSigned ? this.#signedCaller(c) : role && this.#auth.authenticate(c)
    const caller = (await known) ?? ANONYMOUS
    c.set('caller', caller)
    if (role !== null) {
      await this.#limit(caller)
      if (!isSigned) requireRole(caller, role)
    }
    return caller
  }

  /** Returns the caller of a signed URL, who may read one asset. */
  async #signedCaller(c: Context): Promise<Caller> {
    const { signature = '', path = null } = c.req.query()
    const { key } = this.#auth
    const grant = key && (await readGrant(key, signature))
    if (!grant || grant.assetId !== c.req.param('id') || grant.path !== path) {
      const message = 'The signature of this URL has expired, or is for another URL'
      throw new ByrefError('unauthorized', message)
    }
    return { subject: `asset:${grant.assetId}`, namespace: grant.namespace, role: 'reader' }
  }
}

/** Lets pages of these origins use the API (CORS). */
function crossOrigin(origins: readonly string[]): MiddlewareHandler {
  const allow = cors({
    origin: [...origins],
    allowHeaders: [
      'authorization',
      'content-type',
      'last-event-id',
      'idempotency-key',
      'range',
      'tus-resumable',
      'upload-length',
      'upload-offset',
      'upload-metadata',
    ],
    exposeHeaders: [
      'byref-withheld',
      'content-disposition',
      'content-range',
      'etag',
      'location',
      'retry-after',
      'tus-resumable',
      'upload-expires',
      'upload-length',
      'upload-offset',
      'x-request-id',
    ],
    maxAge: 600,
  })
  return async (c, next) => {
    const preflight = await allow(c, next)
    const answer = preflight ?? c.res
    // Hono's middleware replaces the header by "origin" alone.
    answer.headers.set('vary', 'origin, accept-encoding')
    return preflight
  }
}

const STREAM = /^\/api\/(events|conversations\/[^/]+\/stream)$/

/**
 * Returns the answer of a server that is stopping, or null for what it still answers. Browsers give up a stream that is
 * refused, so a stream ends at once instead. Browsers then connect again, to the server that runs by then.
 */
function drainingAnswer(c: Context): Response | null {
  if (c.req.path === '/healthz') return null
  c.header('connection', 'close')
  if (STREAM.test(c.req.path)) {
    c.header('cache-control', 'no-store')
    return c.body('retry: 1000\n\n', 200, { 'content-type': 'text/event-stream' })
  }
  throw new ByrefError('shutting_down', 'This server is stopping: try again in a moment')
}

function checkApp(folder: string): void {
  if (existsSync(`${folder}/index.html`)) return
  throw new ByrefError(
    'config_invalid',
    `createServer: app is the folder of a web app, and there is no ${folder}/index.html`,
  )
}
