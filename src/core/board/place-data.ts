import { copyJson } from '../json/copy-json.ts'
import { kindOf, methodOf } from '../messages/data-block.ts'
import type { DataBlock, Message } from '../messages/message.ts'
import { resultCall } from '../messages/results.ts'
import { type Board, type BoardOptions, createBoard } from './board.ts'
import { type DataEntry, renderData } from './render-data.ts'

/**
 * How the data messages of one identity reach the model (data-messages.md, "Merging and Identity"): merged by the
 * engine into one block, or each in its place, to be joined by the model.
 */
export type MergeStrategy = 'engine' | 'model'

/** Options of {@link placeData}. */
export interface PlaceDataOptions {
  /** Default `engine`. */
  merge?: MergeStrategy
  /** Characters of JSON from which on a value is shown in outline. Default 2,000. */
  maxChars?: number
  /** Rows of one list beyond which a value is shown in outline. Default: any number. */
  maxRows?: number
  /** A board that has exactly these messages, where there is one: saves building it. */
  board?: Pick<Board, 'entries'>
  /** As given to `createBoard`. */
  identity?: BoardOptions['identity']
}

/** A piece of a prompt: a message that is no data, or the text of a data block. */
export type PlacedItem =
  | { type: 'message'; message: Message }
  | { type: 'data'; entry: DataEntry; text: string }

/**
 * The messages with data blocks in their places. `engine`: one block per identity, merged, where it was last
 * written. `model`: each message in its own place, which keeps a prompt's prefix stable. Never between a message with
 * calls and the results of these: what falls there follows the last result.
 */
export function placeData(
  messages: readonly Message[],
  { merge = 'engine', maxChars, maxRows, board, identity }: PlaceDataOptions = {},
): PlacedItem[] {
  if (!messages.some(blockOf)) return messages.map((message) => ({ type: 'message', message }))
  const entries =
    merge === 'engine' ? mergedEntries(board ?? createBoard(messages, { identity })) : null
  const calls = callSpans(messages)
  const placed: PlacedItem[] = []
  const waiting: PlacedItem[] = []
  for (const [index, message] of messages.entries()) {
    const block = blockOf(message)
    const entry = block && (entries ? entries.get(message.id) : asWritten(block))
    if (entry) waiting.push({ type: 'data', entry, text: renderData(entry, { maxChars, maxRows }) })
    if (!block) placed.push({ type: 'message', message })
    if (!calls.has(index)) placed.push(...waiting.splice(0))
  }
  return placed
}

/** The merged entries by the id of their last message. */
function mergedEntries(board: Pick<Board, 'entries'>): Map<string, DataEntry> {
  return new Map(board.entries().map((entry) => [entry.messageId, entry]))
}

function blockOf({ content_type, content }: Message): DataBlock | null {
  return content_type === 'data' ? (content as DataBlock) : null
}

/** One message as it is, with where and how it writes if that is not simply the whole. */
function asWritten(block: DataBlock): DataEntry {
  const { data, schema, description, _instance: instance, _path: path, _outputMethod } = block
  const isDefault = _outputMethod === methodOf({ ...block, _outputMethod: undefined })
  return {
    kind: kindOf(block),
    instance,
    data: data === undefined ? undefined : copyJson(data),
    schema,
    description,
    path,
    method: isDefault ? undefined : _outputMethod,
  }
}

/** The indices of messages from one with calls up to the last of its results, this one left out. */
function callSpans(messages: readonly Message[]): Set<number> {
  const callers = new Map<string, number>()
  const spans = new Set<number>()
  for (const [index, message] of messages.entries()) {
    const answered = resultCall(message)
    const caller = answered === null ? index : (callers.get(answered) ?? index)
    for (let i = index - 1; i >= caller && !spans.has(i); i--) spans.add(i)
    const calls: unknown = message.metadata?.tool_calls
    if (answered !== null || !Array.isArray(calls)) continue
    for (const call of calls) callers.set(call?.id, index)
  }
  return spans
}
