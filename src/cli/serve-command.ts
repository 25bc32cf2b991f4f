import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { destination, pino } from 'pino'
import { createWorker } from '../hosts/worker.ts'
import { listAll } from '../log/conversation-log.ts'
import type { AuthOptions } from '../server/auth/auth.ts'
import { createServer } from '../server/create-server.ts'
import { isLoopback, type Listening, openToEveryone } from '../server/listen.ts'
import { openFolder, signingSecret } from './data-folder.ts'
import { describeModel, openAgent } from './open-agent.ts'
import { stopSignal } from './stop-signal.ts'
import { STORAGE, STORAGE_HELP } from './storage.ts'
import { countOf, oneOf, parseOptions, UsageError, wholeNumber } from './terminal.ts'
import { CONCURRENCY, MAX_CONCURRENCY } from './work-command.ts'

/** What `byref serve --help` prints. */
export const HELP = `byref serve: the workbench and its API

  byref serve [--data ${STORAGE.data.default}] [--port 4114] [--host 127.0.0.1] [--auth] …

  --port           port to listen on; 0 takes any free port
  --host           address to listen on. Any address except loopback needs --auth or --jwks
  --auth           require tokens, which byref token makes
  --jwks URL --issuer NAME --audience NAME
                   accept JWTs of an identity provider, checked with its public keys
  --allow-host     a host name that requests may use besides localhost and IP addresses; * for any;
                   may be repeated
  --allow-origin   an origin whose pages may use the API; may be repeated
  --log            what to log as JSON on stderr: info (every request), error or silent; default error
${STORAGE_HELP}
  --concurrency    with --database: conversations that this process runs at once; 0 leaves all of
                   them to byref work. Default 50

The first of these variables that is set chooses the model:
  OPENAI_BASE_URL with BYREF_MODEL   any compatible server (Ollama, vLLM, llama.cpp …)
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY
                                     that provider; BYREF_MODEL picks the model
  none                               the demo model, which needs no key and follows a few rules
BYREF_MODEL_TAKES lists what the model accepts besides text, as MIME types: image/png,application/pdf

Unfinished runs stay in the log, also after a crash, and the next start resumes them. After a crash
of another machine, the start waits for that machine's lease: up to ten seconds.
`

/** `byref serve`: listens until it is stopped. */
export async function command(args: string[]): Promise<number> {
  const { values } = parseOptions('serve', args, {
    most: 0,
    options: {
      ...STORAGE,
      concurrency: { type: 'string' },
      port: { type: 'string', default: '4114' },
      host: { type: 'string', default: '127.0.0.1' },
      'allow-host': { type: 'string', multiple: true, default: [] },
      'allow-origin': { type: 'string', multiple: true, default: [] },
      auth: { type: 'boolean', default: false },
      jwks: { type: 'string' },
      issuer: { type: 'string' },
      audience: { type: 'string' },
      log: { type: 'string', default: 'error' },
    },
  })
  const port = wholeNumber('--port', values.port, { most: 65535 })
  if (values.concurrency !== undefined && !values.database) {
    throw new UsageError('--concurrency needs --database: without a database there are no workers')
  }
  const given = values.concurrency ?? CONCURRENCY
  const concurrency = wholeNumber('--concurrency', given, { most: MAX_CONCURRENCY })
  if (!values.auth && values.jwks === undefined && !isLoopback(values.host)) {
    throw new UsageError(openToEveryone(values.host))
  }
  const level = oneOf('--log', values.log, ['info', 'error', 'silent'])
  const stop = stopSignal()
  const folder = openFolder(values.data)
  const { agent, queue, close } = await openAgent(values)
  const worker = queue && concurrency > 0 ? createWorker({ agent, queue, concurrency }) : null
  let listening: Listening | null = null
  try {
    const server = createServer({
      agent,
      auth: authOf(values, folder),
      allowedHosts: [values.host, ...values['allow-host']],
      allowedOrigins: values['allow-origin'],
      uploads: join(folder, 'uploads'),
      log: pino({ level }, logDestination()),
    })
    listening = await server.listen({ port, hostname: values.host })
    const resumed = await agent.resumeAll()
    await worker?.start()
    print('byref', listening.url)
    print('data', queue ? 'PostgreSQL' : folder)
    // A server that leaves all work to workers needs no model.
    if (queue && worker === null) print('work', 'left to byref work')
    else print('model', describeModel(agent.model))
    if (resumed > 0) print('note', `${resumed} conversation(s) were running and are resumed`)
    await stop
    // The worker stops first, so that it takes no jobs for closed agents.
    const stopped = worker?.stop()
    const closed = listening.close()
    listening = null
    await Promise.race([closed, sleep(5000, undefined, { ref: false })])
    await stopped
    const left = queue ? 0 : await countOf(listAll(agent.log, { due: true, allNamespaces: true }))
    if (left > 0) print('note', `${left} conversation(s) are running and resume at the next start`)
  } finally {
    await listening?.close()
    await close()
  }
  return 0
}

function print(what: string, text: string): void {
  process.stdout.write(`${what.padEnd(8)}${text}\n`)
}

/** Standard error. Lines that cannot be written (a full disk, a closed pipe) are dropped, so that no request fails. */
function logDestination(): ReturnType<typeof destination> {
  return destination({ dest: 2, sync: true, maxLength: 1_000_000 }).on('error', () => {})
}

interface AuthFlags {
  auth: boolean
  jwks?: string
  issuer?: string
  audience?: string
}

/** Returns the `auth` option of the server; undefined if no token is needed. */
function authOf(
  { auth, jwks: url, issuer, audience }: AuthFlags,
  folder: string,
): AuthOptions | undefined {
  if (url === undefined && (issuer ?? audience) !== undefined) {
    throw new UsageError('--issuer and --audience go with --jwks (byref serve --help)')
  }
  if (!auth && url === undefined) return undefined
  if (url === undefined) return { secret: signingSecret(folder) }
  if (!URL.canParse(url)) throw new UsageError(`--jwks takes a URL, not "${url}"`)
  if (!issuer || !audience) throw new UsageError('--jwks needs --issuer and --audience')
  return { secret: signingSecret(folder), jwks: { url, issuer, audience } }
}
