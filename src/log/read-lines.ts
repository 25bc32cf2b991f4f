import { ByrefError, errorMessage } from '../core/errors.ts'
import { eventProblem } from '../core/events/event-schema.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { isoTime } from '../core/iso-time.ts'
import { isPlainObject } from '../core/json/json.ts'
import { checkId, checkTitle } from './check-arguments.ts'
import { MAX_DEPTH, splitDebug } from './log-entry.ts'
import { CHUNK } from './pause.ts'
import { redact } from './redact.ts'
import type { StoredRun } from './runs.ts'
import {
  type DeletedMessages,
  deletedBy,
  NEW_CONVERSATION,
  type SummaryState,
  stateAfter,
  withoutMessages,
} from './summary.ts'

/** A line of an import. */
export type ImportedLine =
  | { type: 'header'; header: ExportHeader }
  | { type: 'record'; position: number; at: number; event: ConversationEvent; json: string }
  | { type: 'debug'; message: string; json: string }

/**
 * Reads and checks the lines of an export: a header, records with dense positions, debug data, one line per message,
 * and the end line.
 *
 * @throws ByrefError `bad_request` with the number of the line and the problem
 */
export async function* readLines(
  texts: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<ImportedLine> {
  const parser = lineParser()
  let number = 0
  for await (const text of typeof texts === 'string' ? [texts] : texts) {
    // A text may contain several whole lines, and the last line end may be missing.
    for (const line of String(text).replace(/\n$/, '').split('\n')) {
      number++
      try {
        yield* parser.parse(line)
      } catch (error) {
        throw new ByrefError('bad_request', `Line ${number}: ${errorMessage(error)}`)
      }
    }
  }
  if (number === 0) throw new ByrefError('bad_request', 'Line 1: the header is missing')
  if (parser.isEnded()) return
  throw new ByrefError(
    'bad_request',
    `Line ${number + 1}: the last line, ${END_LINE}, is missing: the export was cut off. Export the conversation again.`,
  )
}

/** The data of an import, after its last line was accepted. */
export interface Staged {
  key: number
  header: ExportHeader
  position: number
  state: SummaryState
  runs: readonly StoredRun[]
}

/** Where lines are staged, under a key that is not a conversation. */
export interface Staging<T> {
  key: number
  /** Stores some lines; the last call may have none. */
  store(piece: readonly ImportedLine[]): Promise<void>
  /** Removes deleted messages that are stored. */
  deleteMessages(ids: readonly string[]): Promise<DeletedMessages>
  /** Creates the conversation from the staged lines. */
  publish(staged: Staged): Promise<T>
  /** Removes the staged lines. */
  discard(): Promise<void>
}

/** Lines of an export. */
export type Lines = AsyncIterable<string> | Iterable<string>

/** Stores lines in pieces, folds them, and publishes them at the end. A failure leaves nothing behind. */
export async function importStaged<T>(lines: Lines, staging: Staging<T>): Promise<T> {
  try {
    return await staging.publish(await stage(lines, staging))
  } catch (error) {
    // If the lines cannot be removed now, they are removed later as leftovers.
    await staging.discard().catch(() => {})
    throw error
  }
}

async function stage(
  lines: Lines,
  { key, store, deleteMessages }: Pick<Staging<unknown>, 'key' | 'store' | 'deleteMessages'>,
): Promise<Staged> {
  const header: ExportHeader = { id: '', title: null, created: 0, updated: 0 }
  const staged: Staged = { key, header, position: 0, state: NEW_CONVERSATION, runs: [] }
  const runs = new Map<string, StoredRun>()
  const deleted: string[] = []
  let piece: ImportedLine[] = []
  for await (const line of readLines(lines)) {
    if (line.type === 'header') {
      staged.header = line.header
      continue
    }
    if (line.type === 'record') {
      const { at, position } = line
      const events = [line.event]
      const after = stateAfter(staged.state, events, at)
      for (const run of after.runs) runs.set(run.run, run)
      Object.assign(staged, { position, state: after.state })
      deleted.push(...deletedBy(events))
    }
    if (piece.push(line) < CHUNK) continue
    await store(piece)
    piece = []
  }
  await store(piece)
  if (deleted.length > 0)
    staged.state = withoutMessages(staged.state, await deleteMessages(deleted))
  return { ...staged, runs: [...runs.values()] }
}

function lineParser(): { parse(line: string): ImportedLine[]; isEnded(): boolean } {
  const messages = new Set<string>()
  let position: number | null = null
  let isEnded = false
  function parse(line: string): ImportedLine[] {
    // A text that ends with a line end, split into lines, has an empty one at the end.
    if (isEnded && line === '') return []
    if (isEnded) throw new Error(`nothing may follow the last line, ${END_LINE}`)
    const value: unknown = JSON.parse(line)
    if (!isPlainObject(value)) throw new Error('it must be a JSON object')
    if (position === null) {
      position = 0
      return [parseHeader(value)]
    }
    if ('debug' in value) return [parseDebug(value, messages)]
    if (value.byref === 'end') {
      isEnded = true
      return []
    }
    if (messages.size > 0) throw new Error('records must come before debug data')
    return parseRecord(value, ++position)
  }
  return { parse, isEnded: () => isEnded }
}

function parseHeader(value: Record<string, unknown>): ImportedLine {
  if (value.byref !== 'conversation') {
    throw new Error('the first line must be a header with "byref": "conversation"')
  }
  if (value.version !== LINES_VERSION) {
    throw new Error(
      `version ${JSON.stringify(value.version)} is not supported, only ${LINES_VERSION}: update byref to read it`,
    )
  }
  const header = {
    id: checkId(value.id),
    title: checkTitle(value.title ?? null),
    created: time(value, 'createdAt'),
    updated: time(value, 'updatedAt'),
  }
  return { type: 'header', header }
}

/** Returns the record, and the debug data in the metadata of its message. */
function parseRecord(value: Record<string, unknown>, position: number): ImportedLine[] {
  if (value.v !== 1) throw new Error('a record must have "v": 1')
  if (value.position !== position) {
    throw new Error(`position must be ${position}, not ${JSON.stringify(value.position)}`)
  }
  const at = time(value, 'timestamp')
  if (isDeeper(value.event, MAX_DEPTH)) {
    throw new Error(`event is nested more than ${MAX_DEPTH} levels deep`)
  }
  const problem = eventProblem(value.event)
  if (problem !== null) throw new Error(`Invalid event ${Object(value.event).type}: ${problem}`)
  const { event, debug } = splitDebug(value.event as ConversationEvent)
  const record = { type: 'record', position, at, event, json: JSON.stringify(event) } as const
  if (!debug) return [record]
  const [message, redacted] = debug
  return [record, { type: 'debug', message, json: JSON.stringify(redacted) }]
}

function parseDebug(
  { debug: message, value }: Record<string, unknown>,
  messages: Set<string>,
): ImportedLine {
  if (typeof message !== 'string') throw new Error('debug must be the id of a message')
  if (value === undefined) throw new Error('debug data must have a value')
  if (messages.has(message)) throw new Error(`debug data of ${message} occurs twice`)
  messages.add(message)
  return { type: 'debug', message, json: JSON.stringify(redact(value)) }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((field) => isDeeper(field, levels - 1))
}

function time(value: Record<string, unknown>, key: string): number {
  const text = String(value[key])
  const at = /(Z|[+-]\d\d:\d\d)$/.test(text) ? isoTime(text) : Number.NaN
  if (Number.isInteger(at)) return at
  throw new Error(
    `${key} must be a time in ISO 8601 such as 2026-01-31T12:00:00.000Z, not ${JSON.stringify(value[key])}`,
  )
}

/** The version of the export format, which docs/reference/conversation-log.md describes. */
export const LINES_VERSION = 1

/** The first line of an export. Times are milliseconds since 1970. */
export interface ExportHeader {
  id: string
  /** The title that the conversation was given, or null. */
  title: string | null
  created: number
  updated: number
}

/** Returns the first line. */
export function headerLine({ id, title, created, updated }: ExportHeader): string {
  return JSON.stringify({
    byref: 'conversation',
    version: LINES_VERSION,
    id,
    title,
    createdAt: new Date(created).toISOString(),
    updatedAt: new Date(updated).toISOString(),
  })
}

/** Returns the line of a record: a LogRecord as JSON. `event` is JSON. */
export function recordLine(position: number, at: number, event: string): string {
  return `{"v":1,"position":${position},"timestamp":"${new Date(at).toISOString()}","event":${event}}`
}

/** The last line. An export without it was cut off. */
export const END_LINE = '{"byref":"end"}'

/** Returns the line of the debug data of a message. `value` is JSON. */
export function debugLine(message: string, value: string): string {
  return `{"debug":${JSON.stringify(message)},"value":${value}}`
}
