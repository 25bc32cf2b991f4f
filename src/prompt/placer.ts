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

/** How messages are placed. */
export interface Placing {
  /** Data messages merged into one block an identity, or each in its place. */
  merge: 'engine' | 'model'
  /** The data to be merged. */
  board?: Pick<Board, 'entries'>
  /** The index from which on results are shown as they are, older ones by their names. */
  wholeFrom: number
  /** The bodies that may be sent; null for all. */
  media: ReadonlySet<string> | null
}

/** Everything in its place, as it is. */
export const IN_PLACE: Placing = { merge: 'model', wholeFrom: 0, media: null }

/** Of a list of rows among the data the model sees as many as of a table's; by † it has all of them. */
export const MAX_ROWS = 3

/** Puts messages at the end of a transcript, in the order of the conversation. */
export interface Placer {
  readonly items: readonly TranscriptItem[]
  /** What the system said before anybody else. */
  readonly system: readonly string[]
  /** About how many tokens there are, by `estimateTokens`. */
  readonly tokens: number
  /** Tokens of data that later writes have replaced. */
  readonly stale: number
  /** What of its tokens a compaction has left: what stands behind it is new. */
  base: number
  /** How many different bodies there are, and about how many bytes of them are sent. */
  readonly bodies: { readonly parts: number; readonly bytes: number }
  /** The bodies that the last answer asked for, which are shown once. */
  readonly fetched: readonly MediaPart[]
  /** Places messages, the first of which has this index in the conversation. */
  place(messages: readonly Message[], first: number, how: Placing): void
  /** Places texts, in one item. */
  write(parts: readonly TextPart[]): void
  /** Counts results that are not placed. */
  skip(messages: readonly Message[]): void
  /** What is to be said of a topic that was not met before. */
  tell(topic: PlacedTopic): TextPart[]
  /** The metas of assets that are named for the first time, as far as they were known after so many messages. */
  metas(names: ReadonlySet<string>, after: number): TextPart[]
}

/** An asset, and how many messages there were when it came. */
export interface KnownAsset {
  asset: AssetCreated
  after: number
}

/** What a placer is made with: see `TranscriptOptions`. */
export interface PlacerOptions {
  guide(topic: PlacedTopic): string | null
  wholeData?: boolean
  hides?(ref: string): boolean
  describeAssets?: DescribedAssets
}

/** Which assets are described to the model: those that somebody names or a tool saves, or all of a conversation. */
export type DescribedAssets = 'named' | 'all'

/** Begins a transcript. */
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
  /** The index of the message that is being placed: what came later is not known there, however it is looked at. */
  let at = 0
  /** Somebody's words were deleted since the last item. */
  let isGap = false
  const knownHere = {
    get(ref: string): AssetCreated | undefined {
      const one = known.get(ref)
      return one && one.after <= at ? one.asset : undefined
    },
  }

  const told = createToldOnce(guide, knownHere.get)

  /** The descriptions of the assets that are named, and of all others where all are to be described. */
  function metasOf(names: ReadonlySet<string>): TextPart[] {
    if (describeAssets === 'named') return told.metas(names)
    const all = [...known].flatMap(([ref, { after }]) => (after <= at && !hides(ref) ? ref : []))
    return told.metas(new Set([...names, ...all]))
  }

  /** The assets that calls saved and that their results do not name: a line for each file, and the names of all. */
  function unnamed(callIds: ReadonlySet<string>, names: Set<string>): TextPart[] {
    const lines: string[] = []
    for (const [ref, { asset, after }] of known) {
      // An item of a mapped call is `<call>/<index>`.
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
   * Results by the id of their call, the first of each; a second one is the app's to show. One that was deleted keeps its
   * number.
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

  /** Where what an answer answered is deleted: providers begin with the user, and take no answer behind an answer. */
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
    // An answer of nothing is nothing that a provider takes.
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
      // What a call wrote stands in its result, until it is merged.
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

/** `[Saved image: asset_id="…"]`, with its type and name. */
function savedMarker({ kind, ref, mime, name }: AssetCreated): string {
  const line = marker({ kind, ref, fileName: name }).replace('[Attached', '[Saved')
  return `${line.slice(0, -1)} type=${JSON.stringify(mime)}]`
}

type AssistantItem = Extract<TranscriptItem, { type: 'assistant' }>

/** An answer of the model: what it thought, said, made and called. */
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

/** The items of a transcript, which only grows at its end, and what they come to. */
interface ItemList {
  readonly items: readonly TranscriptItem[]
  /** About how many tokens there are, by `estimateTokens`. */
  readonly tokens: number
  /** How many different bodies there are, and about how many bytes of them are sent. */
  readonly bodies: { readonly parts: number; readonly bytes: number }
  push(item: TranscriptItem): void
}

/** Begins with no items. */
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
