import { formatLabel } from '../refs/variable-ref.ts'
import { type Board, type BoardOptions, createBoard } from './board.ts'
import { kindOf, methodOf } from './data-block.ts'
import { copyJson } from './json.ts'
import type { DataBlock, Message } from './message.ts'
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
  /** A board that has exactly these messages, where there is one: saves building it. */
  board?: Board
  /** As given to `createBoard`. */
  identity?: BoardOptions['identity']
}

/** A piece of a prompt: a message that is no data, or the text of a data block. */
export type PlacedItem =
  | { type: 'message'; message: Message }
  | { type: 'data'; entry: DataEntry; text: string }

/**
 * The messages with data blocks in their places (spec D5). `engine`: one block per identity, merged, where it was last
 * written. `model`: each message in its own place, which keeps a prompt's prefix stable. Never between a message with
 * calls and the results of these: what falls there follows the last result.
 */
export function placeData(
  messages: readonly Message[],
  { merge = 'engine', maxChars, board, identity = labelOf }: PlaceDataOptions = {},
): PlacedItem[] {
  const placed: PlacedItem[] = []
  const waiting: PlacedItem[] = []
  const calls = callSpans(messages)
  const merged = merge === 'engine' ? mergedItems() : null
  for (const [index, message] of messages.entries()) {
    const entry = isData(message) ? shown(message, index) : null
    if (entry) waiting.push({ type: 'data', entry, text: renderData(entry, { maxChars }) })
    else if (!isData(message)) placed.push({ type: 'message', message })
    if (!calls.has(index)) placed.push(...waiting.splice(0))
  }
  return [...placed, ...waiting]

  function shown(message: Message, index: number): DataEntry | null {
    return merged ? (merged.get(index) ?? null) : asWritten(message.content as DataBlock)
  }

  /** The merged entries by the place of their last message. */
  function mergedItems(): Map<number, DataEntry> {
    const last = new Map<string, number>()
    for (const [index, message] of messages.entries()) {
      if (isData(message)) last.set(identity(message.content as DataBlock), index)
    }
    const indices = new Map([...last.values()].map((index) => [messages[index]?.id, index]))
    const entries = (board ?? createBoard(messages, { identity })).entries()
    return new Map(entries.map((entry) => [indices.get(entry.messageId) ?? -1, entry]))
  }
}

function labelOf(block: DataBlock): string {
  return formatLabel(kindOf(block), block._instance)
}

function isData(message: Message): boolean {
  return message.content_type === 'data'
}

/** One message as it is, with where and how it writes if that is not simply the whole. */
function asWritten(block: DataBlock): DataEntry {
  const { data, schema, description, _instance, _path, _outputMethod } = block
  const entry: DataEntry = { kind: kindOf(block) }
  if (_instance !== undefined) entry.instance = _instance
  if (data !== undefined) entry.data = copyJson(data)
  if (schema !== undefined) entry.schema = schema
  if (description !== undefined) entry.description = description
  if (_path?.length) entry.path = _path
  if (_outputMethod && _outputMethod !== methodOf({ ...block, _outputMethod: undefined })) {
    entry.method = _outputMethod
  }
  return entry
}

/** The indices of messages from one with calls up to the last of its results, this one left out. */
function callSpans(messages: readonly Message[]): Set<number> {
  const callers = new Map<string, number>()
  const spans = new Set<number>()
  for (const [index, { metadata }] of messages.entries()) {
    if (metadata.tool_result) {
      const caller = callers.get(metadata.tool_result.tool_call_id) ?? index
      for (let i = index - 1; i >= caller && !spans.has(i); i--) spans.add(i)
    } else if (Array.isArray(metadata.tool_calls)) {
      for (const call of metadata.tool_calls) if (call?.id) callers.set(call.id, index)
    }
  }
  return spans
}
