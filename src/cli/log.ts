import { createWriteStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ByrefError } from '../core/errors.ts'
import { type Damage, DamagedError } from '../core/events/damaged-error.ts'
import { type ConversationLog, type LogUpkeep, listAll } from '../log/conversation-log.ts'
import { removedRecords, repairConversation } from '../log/repair-conversation.ts'
import { verifyConversation } from '../log/verify-conversation.ts'
import { note, print } from './output.ts'
import { parseOptions } from './parse-options.ts'
import { progressLine } from './progress-line.ts'
import { shown } from './shown.ts'
import { openStorage, STORAGE, STORAGE_HELP } from './storage.ts'
import { UsageError } from './usage-error.ts'

/** What `byref log --help` prints. */
export const HELP = `byref log: checks and repairs stored conversations

  byref log verify [id …]        reads every record again and checks its checksum, its event and what they add up to
  byref log repair [id …]        cuts damaged conversations back to their last sound record
  byref log export <id> [file]   writes what is sound of a conversation, as lines of JSON; to stdout without a file

${STORAGE_HELP}
  --namespace  only conversations of this namespace; without it verify and repair look at all of them
  --copies     repair: folder for the records that it removes, default damaged in the folder of --data
  --dry-run    repair: say what would be removed, and change nothing
  --json       lines of JSON instead of text

verify sets damaged conversations aside, so that servers and workers leave them alone and lists say why, and takes back those
that are sound again. repair first writes what it removes to a file of its own for each conversation. A run that is open after
that ends with an error and messages that wait are not answered, since nobody knows what had been done: say them again.

Both work while servers use the data. Results go to stdout, progress to stderr. Status 1: verify found damage, repair left
some, or export ended before the conversation did.
`

const OPTIONS = {
  ...STORAGE,
  namespace: { type: 'string' },
  copies: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

interface Task {
  log: ConversationLog
  args: readonly string[]
  namespace: string | undefined
  copies: string
  dryRun: boolean
  json: boolean
}

const TASKS: Record<string, (task: Task) => Promise<number>> = {
  verify,
  repair,
  export: exportSound,
}

/** `byref log`: looks after the conversations of a data folder or a database. */
export async function command(argv: string[]): Promise<number> {
  const { values, positionals } = parseOptions('log', argv, OPTIONS)
  const [name, ...args] = positionals
  if (name === undefined) {
    process.stdout.write(HELP)
    return 2
  }
  const task = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined
  if (!task)
    throw new UsageError(`There is no byref log ${name}; byref log --help lists what there is`)
  const storage = await openStorage(values, false)
  try {
    if (!storage.hasLog) throw new UsageError(`There is no conversation log in ${storage.folder}`)
    const { namespace, json, copies = join(storage.folder, 'damaged') } = values
    return await task({
      log: storage.log().scoped(namespace ?? null),
      ...{ args, namespace, copies, json, dryRun: values['dry-run'] },
    })
  } finally {
    await storage.close()
  }
}

async function verify(task: Task): Promise<number> {
  let damaged = 0
  for (const problem of (await upkeepOf(task.log).check?.()) ?? []) {
    damaged++
    print(task.json, { file: problem }, `file\t${problem}`)
  }
  const checked = await check(task, async ({ log, id, namespace, before, damage }) => {
    if (damage) damaged++
    if (damage || before) await upkeepOf(log).setAside(id, damage)
    if (damage) print(task.json, { id, namespace, damage }, lineOf(id, namespace, damage))
    else if (before) print(task.json, { id, namespace, damage }, `sound again\t${shown(id)}`)
  })
  note(`${checked} conversations, ${damaged} problems`)
  return damaged > 0 ? 1 : 0
}

async function repair(task: Task): Promise<number> {
  let left = 0
  let repaired = 0
  await check(task, async ({ log, id, namespace, before, damage }) => {
    const upkeep = upkeepOf(log)
    if (!damage) {
      if (before && !task.dryRun) await upkeep.setAside(id, null)
      return
    }
    try {
      const copy = task.dryRun ? null : await keepCopy(task, { upkeep, id, namespace, damage })
      const removed = task.dryRun
        ? await countOf(removedRecords(upkeep, id, damage))
        : await repairConversation(log, upkeep, { conversation: id, damage })
      repaired++
      const verb = task.dryRun ? 'would remove' : 'removed'
      const text = `${lineOf(id, namespace, damage)}\t${verb} ${removed} records${copy ? `, kept in ${copy}` : ''}`
      print(task.json, { id, namespace, damage, removed, copy }, text)
    } catch (error) {
      if (!(error instanceof ByrefError)) throw error
      left++
      note(`${shown(id)} was not repaired: ${error.message}`)
    }
  })
  note(
    `${repaired} conversations ${task.dryRun ? 'would be ' : ''}repaired, ${left} left as they are`,
  )
  return left > 0 || (task.dryRun && repaired > 0) ? 1 : 0
}

async function exportSound({ log, args }: Task): Promise<number> {
  const [id, file, ...more] = args
  if (id === undefined || more.length > 0) {
    throw new UsageError('Write it as: byref log export <id> [file] (byref log --help)')
  }
  let damage: Damage | null = null
  async function* lines(): AsyncGenerator<string> {
    try {
      yield* log.export(id as string)
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error
      damage = error.damage
    }
  }
  const target = file === undefined ? process.stdout : createWriteStream(file, { flags: 'wx' })
  await pipeline(lines, target, { end: file !== undefined })
  if (damage) note(lineOf(id, log.namespace, damage))
  return damage ? 1 : 0
}

interface Checked {
  /** That of its namespace. */
  log: ConversationLog
  id: string
  namespace: string | null
  /** As it was set aside for. */
  before: Damage | null
  damage: Damage | null
}

/** Verifies the conversations that are named, or all; gives how many. */
async function check(
  { log, args, namespace }: Task,
  found: (one: Checked) => Promise<void>,
): Promise<number> {
  const wanted = new Set(args)
  const all: Pick<Checked, 'id' | 'namespace' | 'before'>[] = []
  for await (const summary of listAll(log, { allNamespaces: namespace === undefined })) {
    const { id, damage: before } = summary
    if (wanted.size === 0 || wanted.has(id)) all.push({ id, namespace: summary.namespace, before })
  }
  const missing = args.find((id) => all.every((one) => one.id !== id))
  if (missing !== undefined) {
    throw new ByrefError('conversation_not_found', `There is no conversation "${shown(missing)}"`)
  }
  const progress = progressLine()
  try {
    for (const [n, one] of all.entries()) {
      progress.show('verifying', n, all.length)
      const own = log.scoped(one.namespace)
      const damage = await verifyConversation(own, one.id)
      if (damage || one.before) progress.clear()
      await found({ ...one, log: own, damage })
    }
  } finally {
    progress.clear()
  }
  return all.length
}

/** Writes what is removed to a file, which is on disk when this resolves; gives its path. */
async function keepCopy(
  { copies }: Task,
  {
    upkeep,
    id,
    namespace,
    damage,
  }: Omit<Checked, 'log' | 'before' | 'damage'> & { upkeep: LogUpkeep; damage: Damage },
): Promise<string> {
  await mkdir(copies, { recursive: true })
  const time = new Date().toISOString().replaceAll(':', '-')
  const name = [namespace, id]
    .flatMap((part) => (part === null ? [] : encodeURIComponent(part)))
    .join('~')
  const path = join(copies, `${name.slice(0, 150)}-${time}.jsonl`)
  const file = await open(path, 'wx')
  try {
    const head = { byref: 'removed records', conversation: id, namespace, damage }
    await file.write(`${JSON.stringify(head)}\n`)
    for await (const record of removedRecords(upkeep, id, damage)) {
      await file.write(`${JSON.stringify(record)}\n`)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return path
}

async function countOf(records: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of records) count++
  return count
}

/** Every log of the command line has it. */
function upkeepOf({ upkeep }: ConversationLog): LogUpkeep {
  if (upkeep) return upkeep
  throw new ByrefError('config_invalid', 'This log cannot be checked or repaired')
}

function lineOf(id: string, namespace: string | null, { position, reason }: Damage): string {
  const where = namespace === null ? [] : [`in ${shown(namespace)}`]
  return ['damaged', shown(id), `at position ${position}`, reason, ...where].join('\t')
}
