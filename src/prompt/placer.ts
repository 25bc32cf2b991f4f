import type { Board } from '../core/board/board.ts'
import { type PlacedItem, placeData } from '../core/board/place-data.ts'
import type { AssetCreated } from '../core/events/events.ts'
import { writerOf } from '../core/messages/data-block.ts'
import { escapeBlocks } from '../core/messages/escape-blocks.ts'
import type { Message } from '../core/messages/message.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { resultCall } from '../core/messages/results.ts'
import { isDeleted, isDeletedResult } from '../core/messages/tombstone.ts'
import { noteBareNames } from './named-media.ts'
import { type LoggedResult, resultItem } from './result-item.ts'
import { createToldOnce, type PlacedTopic } from './told-once.ts'
import {
  bytesSent,
  itemTokens,
  type MediaPart,
  mediaOfItem,
  type ReasoningPart,
  type ResultItem,
  type TextPart,
  type TranscriptItem,
} from './transcript-item.ts'
import { marker, userParts } from './user-parts.ts'

/** How messages are shown. */
export interface Placing {
  /** Whether data messages are merged into one block for each name, or shown in their places. */
  merge: 'engine' | 'model'
  /** The board with the merged data. */
  board?: Pick<Board, 'entries'>
  /** The index of the first result that is shown in full. Older results are shown by name. */
  wholeFrom: number
  /** References of the bodies that may be sent; null for all. */
  media: ReadonlySet<string> | null
}

/** Shows every message in its place, in full. */
export const IN_PLACE: Placing = { merge: 'model', wholeFrom: 0, media: null }

/** Maximum number of rows that a list on the board shows. A `†` reference reads all of them. */
export const MAX_ROWS = 3

/** Adds messages to the end of a transcript, in the order of the conversation. */
export interface Placer {
  readonly items: readonly TranscriptItem[]
  /** The system's texts at the start of the conversation. */
  readonly system: readonly string[]
  /** The estimated number of tokens. */
  readonly tokens: number
  /** The number of tokens of outdated data, which later writes have replaced. */
  readonly stale: number
  /** The number of tokens right after the last compaction. */
  base: number
  /** The number of different bodies, and the approximate number of their bytes. */
  readonly bodies: { readonly parts: number; readonly bytes: number }
  /** The bodies that the last answer fetched. They are shown in one prompt only. */
  readonly fetched: readonly MediaPart[]
  /** Adds messages. `start` is the index of the first one in the conversation. */
  place(messages: readonly Message[], first: number, how: Placing): void
  /** Adds texts as one item. */
  write(parts: readonly TextPart[]): void
  /** Counts results that are left out. */
  skip(messages: readonly Message[]): void
  /** Adds the text on a topic, unless it was added before. */
  tell(topic: PlacedTopic): TextPart[]
  /** Adds the metadata of assets that are named for the first time, if the conversation had them by then. */
  metas(names: ReadonlySet<string>, after: number): TextPart[]
}

/** An asset, and the number of messages when it was created. */
export interface KnownAsset {
  asset: AssetCreated
  after: number
}

/** Options of {@link createPlacer}: see `TranscriptOptions`. */
export interface PlacerOptions {
  guide(topic: PlacedTopic): string | null
  wholeData?: boolean
  hides?(ref: string): boolean
  describeAssets?: DescribedAssets
}

/**
 * Which assets are described to the model: those that a message names or a tool saves, or all assets of the
 * conversation.
 */
export type DescribedAssets = 'named' | 'all'

/** Creates an empty transcript. */
export function createPlacer(
  known: ReadonlyMap<string, KnownAsset>,
  { guide, wholeData = false, hides = () => false, describeAssets = 'named' }: PlacerOptions,
): Placer {
  const list = createItemList()
  const { items } = list
  const system: string[] = []
  const writes = new Map<string, number>()
  let fetched: readonly MediaPart[] = []
  let results = 0
  let stale = 0
  /** The index of the current message. Assets that were created later are unknown at this place. */
  let at = 0
  /** Whether a user's message was deleted since the last item. */
  let isGap = false
  const knownHere = {
    get(ref: string): AssetCreated | undefined {
      const one = known.get(ref)
      return one && one.after <= at ? one.asset : undefined
    },
  }

  const told = createToldOnce(guide, knownHere.get)

  /** Describes the assets that are named; with `all`, also every other asset. */
  function metasOf(names: ReadonlySet<string>): TextPart[] {
    if (describeAssets === 'named') return told.metas(names)
    const all = [...known].flatMap(([ref, { after }]) => (after <= at && !hides(ref) ? ref : []))
    return told.metas(new Set([...names, ...all]))
  }

  /** Returns a line for each file that a call saved and its result does not name, and the names of all of them. */
  function unnamed(callIds: ReadonlySet<string>, names: Set<string>): TextPart[] {
    const lines: string[] = []
    for (const [ref, { asset, after }] of known) {
      // The id of an item of a mapped call is `<call>/<index>`.
      const { toolCallId: id = '' } = asset
      const isOwn = callIds.has(id) || callIds.has(id.replace(/\/\d+$/, ''))
      if (!isOwn || after > at || names.has(ref) || hides(ref)) continue
      names.add(ref)
      if (!asset.structured) lines.push(savedMarker(asset))
    }
    return lines.length > 0 ? [{ type: 'text', text: lines.join('\n') }] : []
  }

  function isSent({ ref }: MediaPart, { media }: Placing): boolean {
    return (media === null || media.has(ref)) && !hides(ref)
  }

  function push(item: TranscriptItem): void {
    isGap = false
    list.push(item)
  }

  /**
   * The results by call id. Only the first result of a call counts. A deleted result keeps its number.
   */
  function takeResults(messages: readonly Message[], first: number): Map<string, LoggedResult> {
    const found = new Map<string, LoggedResult>()
    for (const [i, message] of messages.entries()) {
      const id = resultCall(message)
      if (id !== null || isDeletedResult(message)) results++
      if (id === null) continue
      if (!found.has(id)) found.set(id, { message, number: results, index: first + i })
    }
    return found
  }

  function placeBlock({ entry, text }: Extract<PlacedItem, { type: 'data' }>): void {
    const part: TextPart = { type: 'text', text }
    push({ type: 'user', parts: [...told.topic('variables'), part] })
    const name = `${entry.kind}#${entry.instance ?? ''}`
    stale += writes.get(name) ?? 0
    writes.set(name, itemTokens({ type: 'user', parts: [part] }))
  }

  function placeMessage(
    message: Message,
    logged: ReadonlyMap<string, LoggedResult>,
    how: Placing,
  ): void {
    const { participant_role: role } = message.sender
    if (role === 'assistant') placeAnswer(message, logged, how)
    else if (role === 'system') placeSystem(message)
    else placeWords(message, how)
  }

  function placeWords(message: Message, how: Placing): void {
    const { parts, names } = userParts(message, knownHere)
    const shown = parts.filter((part) => part.type === 'text' || isSent(part, how))
    if (shown.length === 0) shown.push({ type: 'text', text: '(empty message)' })
    push({ type: 'user', parts: [...shown, ...metasOf(names)] })
  }

  function placeSystem(message: Message): void {
    const { parts } = userParts(message, knownHere)
    const text = parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
    if (text === '') return
    if (items.length === 0) system.push(text)
    else push({ type: 'system', text })
  }

  /** Replaces a deleted user message. Providers reject an answer without a user message before it. */
  function bridge(): void {
    const last = items.at(-1)?.type
    if (!isGap || (last !== undefined && last !== 'assistant')) return
    push({ type: 'user', parts: [{ type: 'text', text: '[A message was deleted here]' }] })
  }

  function placeAnswer(
    message: Message,
    logged: ReadonlyMap<string, LoggedResult>,
    how: Placing,
  ): void {
    fetched = []
    const answer = assistantItem(message)
    // Providers reject an empty answer.
    if (answer.parts.length + answer.calls.length > 0) {
      bridge()
      push(answer)
    }
    const names = new Set<string>()
    if (typeof message.content === 'string') noteBareNames(message.content, knownHere, names)
    if (answer.calls.length > 0) placeResults(answer.calls, { logged, names }, how)
    else if (names.size > 0) write(metasOf(names))
  }

  function write(parts: readonly TextPart[]): void {
    if (parts.length > 0) push({ type: 'user', parts })
  }

  function placeResults(
    calls: ReturnType<typeof assistantItem>['calls'],
    { logged, names }: { logged: ReadonlyMap<string, LoggedResult>; names: Set<string> },
    how: Placing,
  ): void {
    const shown: ResultItem[] = []
    const read: MediaPart[] = []
    let isNamed = false
    let isOffloaded = false
    for (const call of calls) {
      const result = logged.get(call.id)
      at = result?.index ?? at
      const whole = at >= how.wholeFrom
      const one = resultItem(call, result, { known: knownHere, whole })
      shown.push({ ...one.item, media: one.item.media.filter((part) => isSent(part, how)) })
      for (const name of one.names) names.add(name)
      for (const name of one.previewed) told.seen(name)
      isOffloaded ||= one.previewed.size > 0
      read.push(...one.fetched.filter(({ ref }) => !hides(ref)))
      isNamed ||= one.named
    }
    push({ type: 'results', results: shown })
    const saved = unnamed(new Set(calls.map(({ id }) => id)), names)
    write([
      ...saved,
      ...(isNamed ? told.topic('results') : []),
      ...metasOf(names),
      ...(isOffloaded ? told.topic('reading') : []),
    ])
    fetched = read
  }

  return {
    items,
    system,
    bodies: list.bodies,
    base: 0,
    get tokens() {
      return list.tokens
    },
    get stale() {
      return stale
    },
    get fetched() {
      return fetched
    },
    place(messages, first, how) {
      const logged = takeResults(messages, first)
      const places = new Map(messages.map((message, i) => [message, first + i]))
      const called = new Set(messages.flatMap((one) => readMetadata(one).calls.map(({ id }) => id)))
      const isShown = (id: string | null): boolean =>
        id !== null && logged.has(id) && called.has(id)
      // The result of a call shows what it wrote, until the data is merged.
      const isOwn = (message: Message): boolean =>
        !isDeleted(message) && (how.merge === 'engine' || !isShown(writerOf(message)))
      let passed = 0
      const pass = (to: number): void => {
        isGap ||= messages.slice(passed, to).some(isDeleted)
        passed = to
      }
      const { merge, board } = how
      const size = wholeData ? { maxChars: Infinity } : { maxRows: MAX_ROWS }
      for (const item of placeData(messages.filter(isOwn), { merge, board, ...size })) {
        if (item.type === 'data') {
          placeBlock(item)
          continue
        }
        const { message } = item
        if (message.message_type === 'log' || resultCall(message) !== null) continue
        at = places.get(message) ?? at
        pass(at - first)
        placeMessage(message, logged, how)
      }
      pass(messages.length)
    },
    write,
    skip(messages) {
      isGap ||= messages.some(isDeleted)
      takeResults(messages, 0)
    },
    tell: told.topic,
    metas(names, after) {
      at = after
      return metasOf(names)
    },
  }
}

/** Returns `[Saved image: asset_id="…"]`, with type and name. */
function savedMarker({ kind, ref, mime, name }: AssetCreated): string {
  const line = marker({ kind, ref, fileName: name }).replace('[Attached', '[Saved')
  return `${line.slice(0, -1)} type=${JSON.stringify(mime)}]`
}

type AssistantItem = Extract<TranscriptItem, { type: 'assistant' }>

/** Converts an answer of the model: its reasoning, text, files and calls. */
function assistantItem(message: Message): AssistantItem {
  const { reasoning, attachments, calls } = readMetadata(message)
  const made = attachments.map(({ kind, assetRef, fileName }) =>
    marker({ kind, ref: assetRef, fileName }),
  )
  const said = [textOf(message), ...made].filter(Boolean).join('\n')
  const thoughts = reasoning.map((thought): ReasoningPart => ({ type: 'reasoning', ...thought }))
  const text: TextPart[] = said ? [{ type: 'text', text: said }] : []
  return { type: 'assistant', parts: [...thoughts, ...text], calls }
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return escapeBlocks(content)
  return content === null || content === undefined ? '' : escapeBlocks(JSON.stringify(content))
}

/** The items of a transcript, which only grows at its end, with their sizes. */
interface ItemList {
  readonly items: readonly TranscriptItem[]
  /** The estimated number of tokens. */
  readonly tokens: number
  /** The number of different bodies, and the approximate number of their bytes. */
  readonly bodies: { readonly parts: number; readonly bytes: number }
  push(item: TranscriptItem): void
}

/** Creates an empty list of items. */
function createItemList(): ItemList {
  const items: TranscriptItem[] = []
  const bodies = { parts: 0, bytes: 0 }
  const seen = new Set<string>()
  let tokens = 0
  return {
    items,
    bodies,
    get tokens() {
      return tokens
    },
    push(item) {
      items.push(item)
      tokens += itemTokens(item)
      for (const part of mediaOfItem(item)) {
        if (seen.has(part.ref)) continue
        seen.add(part.ref)
        bodies.parts++
        bodies.bytes += bytesSent(part)
      }
    },
  }
}
