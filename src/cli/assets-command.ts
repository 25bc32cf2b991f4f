import { createWriteStream } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Writable } from 'node:stream'
import { referencedInLog } from '../agent/referenced-in-log.ts'
import type { AssetInfo } from '../assets/asset-store.ts'
import type { Assets, OpenedAsset } from '../assets/assets-contract.ts'
import { createAssets } from '../assets/create-assets.ts'
import { fsParts } from '../assets/stores/fs.ts'
import { rebuildRecords } from '../assets/stores/rebuild-records.ts'
import { TableError } from '../assets/tables/table-error.ts'
import { ByrefError } from '../core/errors.ts'
import { flatten } from '../core/messages/flatten.ts'
import { importFromDisk } from './import-from-disk.ts'
import { openStorage, STORAGE, STORAGE_HELP, type Storage } from './storage.ts'
import {
  checkTaskOptions,
  chooseTask,
  note,
  noteError,
  ProgressLine,
  parseOptions,
  print,
  shown,
  UsageError,
  wholeNumber,
} from './terminal.ts'

/** What `byref assets --help` prints. */
export const HELP = `byref assets: list, read, add and check stored assets

  byref assets ls                  newest first: id, time, size, type, name
  byref assets info <ref>          metadata of an asset
  byref assets get <ref> [file]    the body, or the field that the reference names; without a file,
                                   to stdout
  byref assets put <file> …        save files (- is stdin); tables also become structured assets
  byref assets rm <ref> …          delete assets
  byref assets gc                  delete what no conversation refers to, what has expired, and what
                                   crashes left behind
  byref assets verify              read every body and compare it with its digest
  byref assets rebuild             rebuild a lost index, from a store with recordFiles. Nothing else
                                   may use the store at the same time

${STORAGE_HELP}
  --namespace      use this namespace; without it, verify checks all of them
  --json           JSON Lines instead of text
  --limit          ls: how many, default 50; 0 for all
  --type           put: the MIME type, if neither the bytes nor the name show it
  --name           put: another name for a file, or a name for stdin
  --dry-run        gc: print what would be deleted, and delete nothing
  --grace          gc: keep assets that are younger than this number of hours, default 24
  --keep-versions  gc: how many older versions of a kept asset to keep, or "all"; default 0.
                   report.md=5 sets it for one name; may be repeated

Results go to stdout, progress to stderr. verify exits with status 1 if it finds a problem.
`

const OPTIONS = {
  ...STORAGE,
  namespace: { type: 'string' },
  json: { type: 'boolean', default: false },
  limit: { type: 'string' },
  type: { type: 'string' },
  name: { type: 'string' },
  'dry-run': { type: 'boolean' },
  grace: { type: 'string' },
  'keep-versions': { type: 'string', multiple: true },
} as const

/** Options of one task. */
const TASK_OF = {
  limit: 'ls',
  type: 'put',
  name: 'put',
  'dry-run': 'gc',
  grace: 'gc',
  'keep-versions': 'gc',
}

interface Task {
  assets: Assets
  /** The storage, with the store of all namespaces. */
  storage: Storage
  args: string[]
  namespace?: string
  json: boolean
  limit: number
  type?: string
  name?: string
  dryRun: boolean
  graceMs: number
  keepVersions: Record<string, number>
}

interface TaskSpec {
  run(task: Task): Promise<number>
  /** The arguments as text, for messages. */
  takes?: string
  least?: number
  most?: number
}

const TASKS: Record<string, TaskSpec> = {
  ls: { run: ls },
  info: { run: info, takes: ' <ref>', least: 1, most: 1 },
  get: { run: get, takes: ' <ref> [file]', least: 1, most: 2 },
  put: { run: put, takes: ' <file> …', least: 1, most: Infinity },
  rm: { run: rm, takes: ' <ref> …', least: 1, most: Infinity },
  gc: { run: gc },
  verify: { run: verify },
  rebuild: { run: rebuild },
}

/** `byref assets`: works on the assets of a data folder, also while a server uses it. */
export async function command(argv: string[]): Promise<number> {
  const { values, positionals } = parseOptions('assets', argv, { options: OPTIONS })
  const [task, ...args] = positionals
  const chosen = chooseTask('assets', HELP, TASKS, task)
  if (!chosen) return 2
  const { run, takes = '', least = 0, most = 0 } = chosen
  if (args.length < least || args.length > most) {
    throw new UsageError(`Usage: byref assets ${task}${takes} (byref assets --help)`)
  }
  checkTaskOptions('assets', task, { values, taskOf: TASK_OF })
  const { namespace, limit = '50', grace = '24' } = values
  if (values.name !== undefined && args.length !== 1) {
    throw new UsageError('--name needs exactly one file (byref assets --help)')
  }
  const settings = {
    ...values,
    args,
    limit: wholeNumber('--limit of byref assets', limit),
    dryRun: values['dry-run'] ?? false,
    graceMs: wholeNumber('--grace of byref assets', grace) * 3_600_000,
    keepVersions: versionCounts(values['keep-versions']),
  }
  const storage = await openStorage(values, task === 'put')
  const { store } = storage
  const mode = namespace === undefined ? 'none' : 'context'
  const assets = createAssets({ store, namespace, config: { namespacing: { mode } } })
  try {
    return await run({ ...settings, assets, storage })
  } finally {
    await storage.close()
  }
}

async function ls({ assets, storage, namespace, json, limit }: Task): Promise<number> {
  for await (const info of newest(assets, limit === 0 ? Infinity : limit)) {
    print(json, info, describe(info))
  }
  const others = (await storage.store.namespaces()).filter((name) => name !== (namespace ?? null))
  const names = others.map((name) => (name === null ? 'no namespace' : nameOf(name)))
  if (names.length > 0) note(`Other namespaces also have assets (--namespace): ${names.join(', ')}`)
  return 0
}

/** Lists the newest assets, page by page. */
async function* newest(assets: Assets, most = Infinity): AsyncGenerator<AssetInfo> {
  let left = most
  let cursor: string | null = null
  do {
    const page = await assets.list({ limit: Math.min(left, 1000), cursor })
    yield* page.assets
    left -= page.assets.length
    cursor = page.next
  } while (cursor !== null && left > 0)
}

async function info({ assets, args, json }: Task): Promise<number> {
  const [ref = ''] = args
  const found = await assets.info(ref)
  const meta = await assets.meta(ref)
  const fields = flatten(found, { keepContainerType: false })
  const lines = [...Object.entries(fields), ...Object.entries(flatten(meta))]
  const text = lines.map(([key, value]) => nameOf(`${key}: ${value}`)).join('\n')
  print(json, { ...found, meta }, text)
  return 0
}

async function get({ assets, args }: Task): Promise<number> {
  const [ref = '', file] = args
  const opened = await assets.open(ref)
  if (file === undefined) {
    for await (const chunk of opened.stream) {
      if (!process.stdout.write(chunk)) await new Promise((go) => process.stdout.once('drain', go))
    }
    return 0
  }
  await writeWhole(opened, file)
  note(`${file}: ${opened.size.toLocaleString('en')} bytes, ${opened.mime}`)
  return 0
}

async function put({ assets, args, json, type, name }: Task): Promise<number> {
  let failed = 0
  for (const file of args) {
    try {
      const saved = await importFromDisk(assets, file, { name, mime: type })
      const made = saved.workbook ?? saved.table
      const kind = saved.workbook ? 'workbook' : 'table'
      const table = made ? `\n${made.ref}\t${kind} of ${saved.asset.ref}` : ''
      print(json, saved, `${saved.asset.ref}\t${describe(saved.asset)}${table}`)
    } catch (error) {
      if (!(error instanceof ByrefError)) throw error
      failed++
      const { asset } = error instanceof TableError ? error : { asset: null }
      if (asset)
        print(json, { asset, table: null, workbook: null }, `${asset.ref}\t${describe(asset)}`)
      noteError(asset ? `No table: ${error.message}` : error.message)
    }
  }
  return failed > 0 ? 1 : 0
}

/** Writes to a temporary file and renames it, so that an interruption leaves no partial file. */
async function writeWhole({ stream, size }: OpenedAsset, file: string): Promise<void> {
  const part = `${file}.${process.pid}.part`
  const progress = new ProgressLine()
  try {
    const target = Writable.toWeb(createWriteStream(part, { flags: 'wx' }))
    await stream.pipeThrough(progress.counting(`writing ${basename(file)}`, size)).pipeTo(target)
    await rename(part, file)
  } catch (error) {
    await unlink(part).catch(() => {})
    throw error
  } finally {
    progress.clear()
  }
}

async function rm({ assets, args }: Task): Promise<number> {
  let missing = 0
  for (const ref of args) {
    if (await assets.delete(ref)) continue
    missing++
    noteError(`There is no asset ${nameOf(ref)}`)
  }
  return missing > 0 ? 1 : 0
}

async function gc({ assets, storage, json, dryRun, graceMs, keepVersions }: Task): Promise<number> {
  const log = storage.hasLog ? storage.log() : null
  if (!log)
    note(`There is no log in ${storage.folder}: only expired assets and leftovers are deleted.`)
  const progress = new ProgressLine()
  try {
    const { deleted, expired, kept, leftovers, elsewhere } = await assets.sweep({
      referenced: log ? referencedInLog(log, { ownIds: await idsOf(assets) }) : undefined,
      graceMs,
      keepVersions,
      dryRun,
      onProgress: (done, total) => progress.show('sweeping', done, total),
    })
    progress.clear()
    if (elsewhere) {
      note('Another process is sweeping these assets: nothing was deleted here.')
      return 1
    }
    const verb = dryRun ? 'would remove' : 'removed'
    const text = `${verb} ${deleted.length} unused and ${expired} expired assets and ${leftovers} leftovers; ${kept} are kept`
    const result = { deleted, expired, kept, leftovers }
    print(json, result, [...deleted.map((id) => `- ${id}`), text].join('\n'))
    return 0
  } finally {
    progress.clear()
  }
}

/** Reads `--keep-versions`: a number for all names, or `name=number`. If a name occurs twice, the last one counts. */
function versionCounts(given: readonly string[] = []): Record<string, number> {
  const counts = given.map((text): [string, number] => {
    const [, name = '*', count = ''] = /^(?:(.+)=)?(.*)$/s.exec(text) ?? []
    if (count === 'all') return [name, Infinity]
    if (/^\d+$/.test(count)) return [name, Number(count)]
    throw new UsageError(
      `--keep-versions of byref assets takes a whole number, all, or name=number, not "${text}"`,
    )
  })
  return Object.fromEntries(counts)
}

async function idsOf(assets: Assets): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const { assetId } of newest(assets)) ids.add(assetId)
  return ids
}

/** Verifies all namespaces, unless one is named. */
async function verify({ storage: { store }, namespace, json }: Task): Promise<number> {
  const namespaces = namespace === undefined ? await store.namespaces() : [namespace]
  const progress = new ProgressLine()
  const counts = { assets: 0, bodies: 0, problems: 0 }
  for (const name of namespaces) {
    const { assets: total } = await store.usage({ namespace: name })
    const seen = new Set<string>()
    const findings = store.verify({ namespace: name })
    for await (const { assetId, digest, problem, ...rest } of findings) {
      counts.bodies++
      if (assetId !== null) progress.show('verifying', seen.add(assetId).size, total)
      if (problem === null) continue
      counts.problems++
      progress.clear()
      const subject = assetId ?? digest ?? rest.path ?? 'a record'
      const line = [problem, subject, digest ?? '', name === null ? '' : `in ${nameOf(name)}`]
      print(json, { assetId, digest, problem, ...rest }, line.join('\t').trimEnd())
    }
    counts.assets += seen.size
  }
  progress.clear()
  note(`${counts.assets} assets, ${counts.bodies} bodies, ${counts.problems} problems`)
  return counts.problems > 0 ? 1 : 0
}

async function rebuild({ storage, json }: Task): Promise<number> {
  const { folder, queue } = storage
  if (queue)
    throw new UsageError('rebuild works on a folder: restore an index in PostgreSQL from a backup')
  const parts = fsParts(join(folder, 'assets'))
  try {
    const { assets, lost } = await rebuildRecords(parts)
    const lines = [...lost.map((key) => `lost\t${key}`), `${assets} assets were restored`]
    print(json, { assets, lost }, lines.join('\n'))
    return lost.length > 0 ? 1 : 0
  } finally {
    await parts.records.close()
  }
}

function describe({ assetId, size, mime, name, createdAt }: AssetInfo): string {
  const bytes = size.toLocaleString('en').padStart(14)
  return [assetId, createdAt, bytes, mime, nameOf(name ?? '')].join('\t')
}

/** Returns a name on one line, with control characters escaped. */
function nameOf(name: string): string {
  return shown(name).replace(/[\r\n\t]+/g, ' ')
}
