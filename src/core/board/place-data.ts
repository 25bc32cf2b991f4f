import { copyJson } from '../json/copy-json.ts'
import { blockOf, kindOf, methodOf } from '../messages/data-block.ts'
import type { DataBlock, Message } from '../messages/message.ts'
import { resultCall } from '../messages/results.ts'
import { type Board, type BoardOptions, createBoard } from './board.ts'
import { type DataEntry, type RenderDataOptions, renderData } from './render-data.ts'

/**
 * How the model sees the data messages of one identity. `engine`: merged into one block. `model`: each message
 * in its place, and the model merges them.
 */
export type MergeStrategy = 'engine' | 'model'

/** Options of {@link placeData}. */
export interface PlaceDataOptions extends RenderDataOptions {
  /** Default `engine`. */
  merge?: MergeStrategy
  /** An existing board with exactly these messages. Default: one is built. */
  board?: Pick<Board, 'entries'>
  /** The same function as for `createBoard`. */
  identity?: BoardOptions['identity']
}

/** A piece of a prompt: a message without data, or the text of a data block. */
export type PlacedItem =
  | { type: 'message'; message: Message }
  | { type: 'data'; entry: DataEntry; text: string }

/**
 * Returns the messages with data blocks in their places. `engine`: one merged block per identity, where it was
 * last written. `model`: each message in its place, which keeps a prompt's prefix stable. A block is never
 * placed between calls and their results; it then follows the last result.
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

/** Returns the merged entries by the id of their last message. */
function mergedEntries(board: Pick<Board, 'entries'>): Map<string, DataEntry> {
  return new Map(board.entries().map((entry) => [entry.messageId, entry]))
}

/** Returns one message as written, with its path, and with its method if that is not the default. */
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

/** Returns the indices of messages from one with calls to the last of its results, excluding the last. */
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
