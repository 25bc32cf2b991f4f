import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { destination, pino } from 'pino'
import { createWorker } from '../hosts/worker.ts'
import { type ConversationLog, listAll } from '../log/conversation-log.ts'
import type { AuthOptions } from '../server/auth/auth.ts'
import { createServer } from '../server/create-server.ts'
import type { Listening } from '../server/listen.ts'
import { openFolder } from './data-folder.ts'
import { describeModel } from './describe-model.ts'
import { openAgent } from './open-agent.ts'
import { parseOptions } from './parse-options.ts'
import { signingSecret } from './secret.ts'
import { stopSignal } from './stop-signal.ts'
import { STORAGE, STORAGE_HELP } from './storage.ts'
import { UsageError } from './usage-error.ts'
import { CONCURRENCY, readConcurrency } from './work.ts'

/** What `byref serve --help` prints. */
export const HELP = `byref serve: the workbench and its API

  byref serve [--data ${STORAGE.data.default}] [--port 4114] [--host 127.0.0.1] [--auth] …

  --data   folder of the conversations and assets; made if it is not there
  --port   port to listen on; 0 takes any that is free
  --host   address to listen on; anything but loopback needs --auth or --jwks
  --auth   ask for tokens, which byref token makes
  --jwks URL --issuer NAME --audience NAME   take JWTs of an identity provider, checked by its public keys
  --allow-host     a name that requests may use beside localhost and addresses; * for any; may be repeated
  --allow-origin   an origin whose pages may use the API; may be repeated
  --log    what is logged as JSON on stderr: info (every request), error or silent; default error
${STORAGE_HELP}
  --concurrency    with --database: conversations that this process advances at once; 0 leaves all to byref work. Default 50

The model that answers is chosen by the environment, the first of these that is set:
  OPENAI_BASE_URL with BYREF_MODEL   any compatible server (Ollama, vLLM, llama.cpp …)
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY   that provider; BYREF_MODEL picks the model
  none                               the demo model, which needs no key and follows a few small rules
BYREF_MODEL_TAKES says what a model takes beside text, as MIME types: image/png,application/pdf or image/*

Ctrl-C or SIGTERM leaves runs as they are, and the next start goes on with them. So it does after a crash, with those
that nobody has taken over after ten seconds.
`

/** `byref serve`: listens until it is told to stop. */
export async function command(args: string[]): Promise<number> {
  const { values, positionals } = parseOptions('serve', args, {
    ...STORAGE,
    concurrency: { type: 'string', default: CONCURRENCY },
    port: { type: 'string', default: '4114' },
    host: { type: 'string', default: '127.0.0.1' },
    'allow-host': { type: 'string', multiple: true, default: [] },
    'allow-origin': { type: 'string', multiple: true, default: [] },
    auth: { type: 'boolean', default: false },
    jwks: { type: 'string' },
    issuer: { type: 'string' },
    audience: { type: 'string' },
    log: { type: 'string', default: 'error' },
  })
  if (positionals.length > 0) throw new UsageError(`byref serve takes no "${positionals[0]}"`)
  const port = Number(values.port)
  if (!/^\d+$/.test(values.port) || port > 65535) {
    throw new UsageError(`--port takes a number from 0 to 65535, not "${values.port}"`)
  }
  const level = values.log
  if (!['info', 'error', 'silent'].includes(level)) {
    throw new UsageError(`--log is info, error or silent, not "${level}"`)
  }
  const concurrency = readConcurrency(values.concurrency)
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
    const place = queue ? 'PostgreSQL' : folder
    process.stdout.write(
      `byref   ${listening.url}\ndata    ${place}\nmodel   ${describeModel(agent.model)}\n`,
    )
    if (resumed > 0) {
      process.stdout.write(`note    ${resumed} conversation(s) were under way and go on\n`)
    }
    await stop
    const closed = listening.close()
    listening = null
    await Promise.race([closed, sleep(5000, undefined, { ref: false })])
    await worker?.stop()
    const left = queue ? 0 : await countDue(agent.log)
    if (left > 0) {
      process.stdout.write(
        `note    ${left} conversation(s) are under way and go on at the next start\n`,
      )
    }
  } finally {
    await listening?.close()
    await close()
  }
  return 0
}

/** Standard error. What cannot be written there (a full disk, a reader that is gone) is dropped: no request fails for it. */
function logDestination(): ReturnType<typeof destination> {
  return destination({ dest: 2, sync: true, maxLength: 1_000_000 }).on('error', () => {})
}

interface AuthFlags {
  auth: boolean
  jwks?: string
  issuer?: string
  audience?: string
}

/** Who may use the server; undefined for everybody on this machine. */
function authOf({ auth, jwks: url, issuer, audience }: AuthFlags, folder: string) {
  if (!auth && url === undefined) return undefined
  const options: AuthOptions = { secret: signingSecret(folder) }
  if (url === undefined) return options
  if (!URL.canParse(url)) throw new UsageError(`--jwks takes a URL, not "${url}"`)
  if (!issuer || !audience) throw new UsageError('--jwks needs --issuer and --audience')
  return { ...options, jwks: { url, issuer, audience } }
}

/** How many conversations have something to go on with. */
async function countDue(log: ConversationLog): Promise<number> {
  let count = 0
  for await (const _ of listAll(log, { due: true, allNamespaces: true })) count++
  return count
}
