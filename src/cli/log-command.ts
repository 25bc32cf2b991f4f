import { createWriteStream, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { deleteConversation } from '../agent/delete-conversation.ts'
import { defined } from '../core/defined.ts'
import { ByrefError, type Damage, DamagedError, UnavailableError } from '../core/errors.ts'
import {
  type ConversationLog,
  type LogUpkeep,
  listAll,
  notFoundError,
} from '../log/conversation-log.ts'
import { asCopy, type OpenWorkReason, withOpenWorkEnded } from '../log/end-open-work.ts'
import { exportLines } from '../log/export-lines.ts'
import { END_LINE } from '../log/read-lines.ts'
import {
  removedRecords,
  repairConversation,
  verifyConversation,
} from '../log/repair-conversation.ts'
import { cannotRead } from './import-from-disk.ts'
import { openStorage, STORAGE, STORAGE_HELP } from './storage.ts'
import {
  checkTaskOptions,
  chooseTask,
  counted,
  countOf,
  note,
  noteError,
  ProgressLine,
  parseOptions,
  print,
  shown,
  UsageError,
} from './terminal.ts'

/** What `byref log --help` prints. */
export const HELP = `byref log: lists, copies, checks, repairs and deletes stored conversations

  byref log ls                   list the conversations, the last changed first
  byref log verify [id …]        read every record, and check its checksum, its event and the summary
  byref log repair [id …]        remove everything after the last intact record of damaged
                                 conversations
  byref log export <id> [file]   write the intact part of a conversation as JSON Lines; without a
                                 file, to stdout
  byref log import <file>        create a conversation from an export, with --id or its own id;
                                 "-" reads stdin. Assets are not part of it. An open run ends with
                                 an error, because the original may continue it
  byref log rm <id …>            delete conversations, and those of their sub-agents. Their assets
                                 stay until byref assets gc

${STORAGE_HELP}
  --namespace      only conversations of this namespace; without it, ls, verify and repair take all
                   of them
  --id             import: the id of the new conversation
  --resume         import: leave an open run open. Use it to move a conversation that nothing else
                   continues
  --all            rm: delete all conversations of --namespace
  --copies         repair: folder for copies of the removed records, default "damaged" in the folder
                   of --data
  --dry-run        repair: print what would be removed, and change nothing
  --json           JSON Lines instead of text

verify sets damaged conversations aside: servers and workers skip them, and lists show the damage. It
restores conversations that are intact again. repair first copies what it removes to a file for each
conversation. An open run then ends with an error, and queued messages are not answered, because it
is unknown what was already done. Send them again. If the file of the log is damaged, repair first
rebuilds its indexes, and removes nothing if that fails.

All work while servers use the data. A server that works on a deleted conversation ends the run at
its next record. Results go to stdout, progress to stderr. Status 1 means that verify found damage,
that repair left some, that export stopped at a damaged record, or that rm did not find a
conversation.
`

const OPTIONS = {
  ...STORAGE,
  namespace: { type: 'string' },
  id: { type: 'string' },
  resume: { type: 'boolean' },
  all: { type: 'boolean' },
  copies: { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean', default: false },
} as const

/** Options of one task. */
const TASK_OF = { id: 'import', resume: 'import', all: 'rm', copies: 'repair', 'dry-run': 'repair' }

interface Task {
  log: ConversationLog
  args: readonly string[]
  namespace: string | undefined
  id: string | undefined
  resume: boolean
  all: boolean
  copies: string
  dryRun: boolean
  json: boolean
}

const TASKS: Record<string, (task: Task) => Promise<number>> = {
  ls,
  verify,
  repair,
  export: exportSound,
  import: importFrom,
  rm: remove,
}

/** `byref log`: lists, copies, checks, repairs and deletes the conversations of a data folder or a database. */
export async function command(argv: string[]): Promise<number> {
  const { values, positionals } = parseOptions('log', argv, { options: OPTIONS })
  const [name, ...args] = positionals
  const task = chooseTask('log', HELP, TASKS, name)
  if (!task) return 2
  checkTaskOptions('log', name, { values, taskOf: TASK_OF })
  const isNew = task === importFrom
  const storage = await openStorage(values, isNew)
  try {
    if (!storage.hasLog && !isNew)
      throw new UsageError(
        `There is no conversation log in ${storage.folder}: no file conversations.sqlite. Name its folder with --data`,
      )
    const { namespace, id, json, copies = join(storage.folder, 'damaged') } = values
    return await task({
      log: storage.log().scoped(namespace ?? null),
      args,
      namespace,
      id,
      copies,
      json,
      resume: values.resume ?? false,
      all: values.all ?? false,
      dryRun: values['dry-run'] ?? false,
    })
  } finally {
    await storage.close()
  }
}

async function ls({ log, args, namespace, json }: Task): Promise<number> {
  if (args.length > 0) throw new UsageError('Usage: byref log ls (byref log --help)')
  for await (const summary of listAll(log, { allNamespaces: namespace === undefined })) {
    const { id, status, updatedAt, messages, title } = summary
    const where = summary.namespace === null ? [] : [`in ${shown(summary.namespace)}`]
    const columns = [
      shown(id),
      status,
      updatedAt,
      counted(messages, 'message'),
      shown(title ?? ''),
      ...where,
    ]
    print(json, summary, columns.join('\t'))
  }
  return 0
}

async function importFrom({ log, args, id, resume, json }: Task): Promise<number> {
  const [file, ...more] = args
  if (file === undefined || more.length > 0) {
    throw new UsageError('Usage: byref log import <file> (byref log --help)')
  }
  const input = file === '-' ? process.stdin : (await opened(file)).createReadStream()
  const lines = exportLines(input)
  const created = await log.import(resume ? lines : asCopy(lines), defined({ id }))
  print(json, { id: created, namespace: log.namespace }, shown(created))
  return 0
}

function opened(file: string): Promise<FileHandle> {
  return open(file).catch((cause: unknown) => {
    throw cannotRead(file, cause)
  })
}

async function remove({ log, args, all, namespace, json }: Task): Promise<number> {
  if (all ? args.length > 0 || namespace === undefined : args.length === 0) {
    const usage = 'Usage: byref log rm <id …>, or byref log rm --all --namespace <name>'
    throw new UsageError(`${usage} (byref log --help)`)
  }
  const ids = all ? (await Array.fromAsync(listAll(log))).map(({ id }) => id) : args
  let missing = 0
  for (const id of ids) {
    // A process that works on the conversation notices at its next append that it is deleted.
    if (await deleteConversation(id, { log, cancel: async () => {} })) {
      print(json, { id, namespace: log.namespace }, shown(id))
    } else {
      missing++
      noteError(notFoundError(shown(id)).message)
    }
  }
  note(`${counted(ids.length - missing, 'conversation')} deleted`)
  return missing > 0 ? 1 : 0
}

async function verify(task: Task): Promise<number> {
  let damaged = await checkFile(task)
  const checked = await check(task, async ({ log, id, namespace, before, damage }) => {
    if (damage) damaged++
    if (damage || before) await upkeepOf(log).setAside(id, damage)
    if (damage) print(task.json, { id, namespace, damage }, lineOf(id, namespace, damage))
    else if (before) print(task.json, { id, namespace, damage }, `sound again\t${shown(id)}`)
  })
  note(`${counted(checked, 'conversation')}, ${counted(damaged, 'problem')}`)
  return damaged > 0 ? 1 : 0
}

/** Prints what is wrong with the file of the log. Returns the number of problems. */
async function checkFile({ log, json }: Task): Promise<number> {
  const problems = (await upkeepOf(log).check?.()) ?? []
  for (const problem of problems) print(json, { file: problem }, `file\t${problem}`)
  return problems.length
}

/** Rebuilds the indexes of a damaged file. Without them, a repair would miss records and remove them. */
async function mendIndexes({ log, dryRun }: Task): Promise<void> {
  if (dryRun) return note('The file is damaged. Without --dry-run, its indexes are rebuilt first')
  const { check, rebuildIndexes } = upkeepOf(log)
  try {
    await rebuildIndexes?.()
  } catch (error) {
    const isDamage = !(error instanceof UnavailableError || isFull(error))
    throw isDamage ? notRebuilt(error) : error
  }
  if (((await check?.()) ?? []).length > 0) throw notRebuilt()
  note('The file was damaged, and its indexes were rebuilt')
}

function isFull(error: unknown): boolean {
  return error instanceof ByrefError && error.code === 'storage_full'
}

function notRebuilt(cause?: unknown): ByrefError {
  const message =
    'The file is damaged, and its indexes cannot be rebuilt, so nothing was removed. Export the conversations that are intact, or restore a backup'
  return new ByrefError('log_failed', message, { cause })
}

async function repair(task: Task): Promise<number> {
  const problems = await checkFile(task)
  if (problems > 0) await mendIndexes(task)
  let left = 0
  let repaired = 0
  await check(task, async ({ log, id, namespace, before, damage }) => {
    const upkeep = upkeepOf(log)
    if (!damage) {
      if (before && !task.dryRun) await upkeep.setAside(id, null)
      return
    }
    try {
      const copy = task.dryRun ? null : await keepCopy(task, upkeep, { id, namespace, damage })
      const removed = task.dryRun
        ? await countOf(removedRecords(upkeep, id, damage))
        : await repairConversation(log, upkeep, { conversation: id, damage })
      repaired++
      const verb = task.dryRun ? 'would remove' : 'removed'
      const text = `${lineOf(id, namespace, damage)}\t${verb} ${counted(removed, 'record')}${copy ? `, kept in ${copy}` : ''}`
      print(task.json, { id, namespace, damage, removed, copy }, text)
    } catch (error) {
      if (!(error instanceof ByrefError)) throw error
      left++
      noteError(`${shown(id)} was not repaired: ${error.message}`)
    }
  })
  note(
    `${counted(repaired, 'conversation')} ${task.dryRun ? 'would be ' : ''}repaired, ${left} not repaired`,
  )
  return left > 0 || (task.dryRun && repaired + problems > 0) ? 1 : 0
}

async function exportSound({ log, args }: Task): Promise<number> {
  const [id, file, ...more] = args
  if (id === undefined || more.length > 0) {
    throw new UsageError('Usage: byref log export <id> [file] (byref log --help)')
  }
  // Before the file is created.
  if (!(await log.find(id))) throw notFoundError(id)
  let damage: Damage | null = null
  async function* lines(): AsyncGenerator<string> {
    try {
      yield* log.export(id as string)
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error
      damage = error.damage
      // The intact part of the export can be imported.
      yield `${END_LINE}\n`
    }
  }
  const sound = (): AsyncGenerator<string> =>
    withOpenWorkEnded(lines(), () => damage && damagedReason(damage))
  if (file === undefined) await pipeline(sound, process.stdout, { end: false })
  else await writeNew(sound, file)
  if (damage) note(lineOf(id, log.namespace, damage))
  return damage ? 1 : 0
}

/** Why a run that is open before the damage ends: nobody knows what the damaged records contained. */
function damagedReason({ position, reason }: Damage): OpenWorkReason {
  const message = `Records from position ${position} on were damaged (${reason}) and are not in this export`
  return { code: 'conversation_damaged', message, owner: 'byref log export' }
}

/** Writes a file under a temporary name first, because a part of an export could be imported as if it were complete. */
async function writeNew(lines: () => AsyncGenerator<string>, file: string): Promise<void> {
  if (existsSync(file)) {
    throw new ByrefError('bad_request', `${file} exists: export to another file`)
  }
  const part = `${file}.${process.pid}.part`
  try {
    await pipeline(lines, createWriteStream(part, { flags: 'wx' }))
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

interface Checked {
  /** The log of the conversation's namespace. */
  log: ConversationLog
  id: string
  namespace: string | null
  /** Why it was set aside before, if it was. */
  before: Damage | null
  damage: Damage | null
}

/** Verifies the named conversations, or all. Returns the number of verified ones. */
async function check(
  { log, args, namespace }: Task,
  found: (one: Checked) => Promise<void>,
): Promise<number> {
  const chosen = new Set(args)
  const all: Pick<Checked, 'id' | 'namespace' | 'before'>[] = []
  for await (const summary of listAll(log, { allNamespaces: namespace === undefined })) {
    const { id, damage: before } = summary
    if (chosen.size === 0 || chosen.has(id)) all.push({ id, namespace: summary.namespace, before })
  }
  const missing = args.find((id) => all.every((one) => one.id !== id))
  if (missing !== undefined) {
    throw new ByrefError('conversation_not_found', `There is no conversation "${shown(missing)}"`)
  }
  const progress = new ProgressLine()
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

/** Copies the records that a repair removes to a file, and syncs it. Returns its path. */
async function keepCopy(
  { copies }: Task,
  upkeep: LogUpkeep,
  { id, namespace, damage }: { id: string; namespace: string | null; damage: Damage },
): Promise<string> {
  await mkdir(copies, { recursive: true })
  const time = new Date().toISOString().replaceAll(':', '-')
  const parts = namespace === null ? [id] : [namespace, id]
  const name = parts.map(encodeURIComponent).join('~')
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

/** Returns the upkeep of a log. Every log of the command line has it. */
function upkeepOf({ upkeep }: ConversationLog): LogUpkeep {
  if (upkeep) return upkeep
  throw new ByrefError('config_invalid', 'This log cannot be checked or repaired')
}

function lineOf(id: string, namespace: string | null, { position, reason }: Damage): string {
  const where = namespace === null ? [] : [`in ${shown(namespace)}`]
  return ['damaged', shown(id), `at position ${position}`, reason, ...where].join('\t')
}
