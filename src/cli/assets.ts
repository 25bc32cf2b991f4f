import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { type AssetInfo, type Assets, createAssets } from '../assets/assets.ts'
import { namedAssets } from '../assets/named-assets.ts'
import { flatten } from '../content/flatten.ts'
import { readAll } from '../log/conversation-log.ts'
import { createSqliteLog } from '../log/sqlite.ts'
import { DEFAULT_DATA, openFolder } from './open-agent.ts'
import { parseOptions } from './parse-options.ts'
import { progressLine } from './progress-line.ts'
import { UsageError } from './usage-error.ts'

const HELP = `byref assets: list, read, add and check stored assets

  byref assets ls                     newest first: id, size, type, name
  byref assets info <ref>             what is known of it, and its meta
  byref assets get <ref> [file]       its body, or the field that the reference names; to stdout without a file
  byref assets put <file> …           saves files; tables get a structured asset too
  byref assets rm <ref> …             removes assets
  byref assets gc                     removes what no conversation names, what has expired, and leftovers of crashes
  byref assets verify                 reads every body again and compares it with its digest

  --data       folder of the conversations and assets, default ${DEFAULT_DATA}
  --namespace  work in this namespace
  --json       lines of JSON instead of text
  --limit      ls: how many, default 50; 0 is all
  --type       put: the MIME type, where neither bytes nor name tell it
  --dry-run    gc: say what would go, and remove nothing
  --grace      gc: hours that assets stay after they were saved, default 24

Results go to stdout, progress to stderr. verify ends with status 1 when something is wrong.
`

const OPTIONS = {
  data: { type: 'string', default: DEFAULT_DATA },
  namespace: { type: 'string' },
  json: { type: 'boolean', default: false },
  limit: { type: 'string', default: '50' },
  type: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  grace: { type: 'string', default: '24' },
  help: { type: 'boolean', short: 'h' },
} as const

interface Task {
  assets: Assets
  folder: string
  args: string[]
  json: boolean
  limit: number
  type: string | null
  dryRun: boolean
  graceMs: number
}

const TASKS: Record<string, (task: Task) => Promise<number>> = {
  ls,
  info,
  get,
  put,
  rm,
  gc,
  verify,
}

/** `byref assets`: works on the assets of a data folder, also while a server uses it. */
export async function assetsCommand(argv: string[]): Promise<number> {
  const { values, positionals } = parseOptions('assets', argv, OPTIONS)
  const [name, ...args] = positionals
  if (values.help || name === undefined) {
    process.stdout.write(HELP)
    return values.help ? 0 : 2
  }
  const run = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined
  if (!run) {
    throw new UsageError(
      `There is no byref assets ${name}; byref assets --help lists what there is`,
    )
  }
  // `byref assets ls | head` closes the pipe when it has seen enough.
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  const folder = openFolder(values.data)
  return run({
    assets: openAssets(folder, values.namespace),
    folder,
    args,
    json: values.json,
    limit: wholeNumber('limit', values.limit),
    type: values.type ?? null,
    dryRun: values['dry-run'],
    graceMs: wholeNumber('grace', values.grace) * 3_600_000,
  })
}

async function ls({ assets, json, limit }: Task): Promise<number> {
  let left = limit === 0 ? Infinity : limit
  let cursor: string | null = null
  do {
    const page = await assets.list({ limit: Math.min(left, 1000), cursor })
    for (const info of page.assets) print(json, info, describe(info))
    left -= page.assets.length
    cursor = page.next
  } while (cursor !== null && left > 0)
  return 0
}

async function info({ assets, args, json }: Task): Promise<number> {
  const ref = only(args, 'info <ref>')
  const found = await assets.info(ref)
  const meta = await assets.meta(ref)
  const lines = [...Object.entries(found), ...Object.entries(flatten(meta))]
  const text = lines.map(([key, value]) => `${key}: ${value}`).join('\n')
  print(json, { ...found, meta }, text)
  return 0
}

async function get({ assets, args }: Task): Promise<number> {
  const [ref, file, extra] = args
  if (ref === undefined || extra !== undefined) throw usage('get <ref> [file]')
  const opened = await assets.open(ref)
  if (file === undefined) {
    for await (const chunk of opened.stream) {
      if (!process.stdout.write(chunk)) await new Promise((go) => process.stdout.once('drain', go))
    }
    return 0
  }
  const progress = progressLine(`writing ${basename(file)}`, opened.size)
  const target = Writable.toWeb(createWriteStream(file)) as WritableStream<Uint8Array>
  await opened.stream.pipeThrough(progress.count).pipeTo(target).finally(progress.clear)
  note(`${file}: ${opened.size.toLocaleString('en')} bytes, ${opened.mime}`)
  return 0
}

async function put({ assets, args, json, type }: Task): Promise<number> {
  if (args.length === 0) throw usage('put <file> …')
  for (const file of args) {
    const { size } = await stat(file)
    const progress = progressLine(`saving ${basename(file)}`, size)
    const body = Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>
    const saved = await assets
      .importFile(body.pipeThrough(progress.count), {
        name: basename(file),
        mime: type,
        by: 'user',
      })
      .finally(progress.clear)
    const table = saved.table ? `\n${saved.table.ref}\ttable of ${saved.asset.ref}` : ''
    print(json, saved, `${saved.asset.ref}\t${describe(saved.asset)}${table}`)
  }
  return 0
}

async function rm({ assets, args }: Task): Promise<number> {
  if (args.length === 0) throw usage('rm <ref> …')
  let missing = 0
  for (const ref of args) {
    if (await assets.delete(ref)) continue
    missing++
    note(`There is no asset ${ref}`)
  }
  return missing > 0 ? 1 : 0
}

async function gc({ assets, folder, json, dryRun, graceMs }: Task): Promise<number> {
  const log = join(folder, 'conversations.sqlite')
  if (!existsSync(log)) note(`There is no log in ${folder}: only expired assets and leftovers go.`)
  const result = await assets.sweep({
    referenced: existsSync(log) ? namedInLog(log) : undefined,
    graceMs,
    dryRun,
    onProgress: progressOf('sweeping'),
  })
  clearLine()
  const { deleted, expired, kept, leftovers } = result
  const verb = dryRun ? 'would remove' : 'removed'
  const text = `${verb} ${deleted.length} unused and ${expired} expired assets and ${leftovers} leftovers; ${kept} stay`
  print(json, result, [...deleted.map((id) => `- ${id}`), text].join('\n'))
  return 0
}

async function verify({ assets, json }: Task): Promise<number> {
  const { assets: total } = await assets.usage()
  const progress = progressOf('verifying')
  let bodies = 0
  let problems = 0
  const seen = new Set<string>()
  for await (const found of assets.verify()) {
    bodies++
    if (found.assetId !== null) progress(seen.add(found.assetId).size, total)
    if (found.problem === null) continue
    problems++
    clearLine()
    const subject = found.assetId ?? found.digest ?? 'a record'
    print(json, found, `${found.problem}\t${subject}\t${found.digest ?? ''}`)
  }
  clearLine()
  note(`${seen.size} assets, ${bodies} bodies, ${problems} problems`)
  return problems > 0 ? 1 : 0
}

/** Every asset that a message or a call in the log names. */
async function* namedInLog(path: string): AsyncGenerator<string> {
  const log = createSqliteLog(path)
  try {
    for (const { id } of await log.list()) {
      for await (const { event } of readAll(log, id)) {
        if (event.type !== 'ASSET_CREATED') yield* namedAssets(event)
      }
    }
  } finally {
    await log.close()
  }
}

function openAssets(folder: string, namespace: string | undefined): Assets {
  return createAssets({
    namespace,
    config: {
      backend: 'fs',
      fs: { rootDir: join(folder, 'assets') },
      namespacing: { mode: namespace === undefined ? 'none' : 'context' },
    },
  })
}

function describe({ assetId, size, mime, name, createdAt }: AssetInfo): string {
  const bytes = size.toLocaleString('en').padStart(14)
  return [assetId, createdAt, bytes, mime, name ?? ''].join('\t')
}

function print(json: boolean, value: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text}\n`)
}

function progressOf(label: string): (done: number, total: number) => void {
  return (done, total) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${label} ${done} of ${total}`)
  }
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
}

function note(line: string): void {
  process.stderr.write(`${line}\n`)
}

function only(args: string[], how: string): string {
  const [first, extra] = args
  if (first === undefined || extra !== undefined) throw usage(how)
  return first
}

function usage(how: string): UsageError {
  return new UsageError(`Write it as: byref assets ${how} (byref assets --help)`)
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0) return value
  throw new UsageError(`--${name} takes a whole number, not "${text}" (byref assets --help)`)
}
