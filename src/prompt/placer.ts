import type { Board } from '../core/board/board.ts'
import { type PlacedItem, placeData } from '../core/board/place-data.ts'
import type { AssetCreated } from '../core/events/events.ts'
import { writerOf } from '../core/messages/data-block.ts'
import { isDeleted, isDeletedResult, type Message } from '../core/messages/message.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { resultCall } from '../core/messages/results.ts'
import { callIdOf } from '../core/refs/item-call.ts'
import { FirstMentions, noteBareNames, type PlacedTopic } from './mentions.ts'
import { type LoggedResult, resultItem } from './result-item.ts'
import {
  type AssistantItem,
  assistantItem,
  bytesSent,
  contentOf,
  isBody,
  itemTokens,
  type MediaPart,
  mediaOfItem,
  type ResultItem,
  type TextPart,
  type TranscriptItem,
} from './transcript-item.ts'
import { filesOfAnswer, marker, userParts } from './user-parts.ts'

/** How messages are shown. */
export interface Placing {
  /** Whether data messages are merged into one block for each name, or shown in their places. */
  merge: 'engine' | 'model'
  /** The board with the merged data. */
  board?: Pick<Board, 'entries'>
  /** The index of the first result that is shown in full. Older results are shown by name. */
  wholeFrom: number
  /** References of the bodies that may be sent, besides text; null for all. */
  media: ReadonlySet<string> | null
}

/** Maximum number of files that are named from messages that are left out. */
const MAX_MARKERS = 20

/** Shows every message in its place, in full. */
export const IN_PLACE: Placing = { merge: 'model', wholeFrom: 0, media: null }

/** Maximum number of rows that a list on the board shows. A `†` reference reads all of them. */
export const MAX_ROWS = 3

/** An asset, and the number of messages when it was created. */
export interface KnownAsset {
  asset: AssetCreated
  after: number
}

/** Options of {@link Placer}. */
export interface PlacerOptions {
  /** Returns the text on a topic; null if there is none. */
  guide(topic: PlacedTopic): string | null
  /** Whether large data is shown in full, because the model has no tools to read more. Default: false. */
  wholeData?: boolean
  /** Whether a file must be left out without a note. Default: never. */
  hides?(ref: string): boolean
  /** Default: `named`. */
  describeAssets?: DescribedAssets
  /** Whether the model accepts the type of a file. Other files do not count as bodies. Default: always. */
  accepts?(part: MediaPart): boolean
}

/**
 * Which assets are described to the model: those that a message names or a tool saves, or all assets of the
 * conversation.
 */
export type DescribedAssets = 'named' | 'all'

/** Builds a transcript: adds messages to its end, in the order of the conversation. */
export class Placer {
  readonly #items: TranscriptItem[] = []
  readonly #bodies = { parts: 0, bytes: 0 }
  readonly #system: string[] = []
  /** The items so far. The list only grows at its end. */
  readonly items: readonly TranscriptItem[] = this.#items
  /** The number of different bodies that the model accepts, and their approximate size in bytes. */
  readonly bodies: Readonly<{ parts: number; bytes: number }> = this.#bodies
  /** The system's texts at the start of the conversation. */
  readonly system: readonly string[] = this.#system
  /** The number of tokens right after the last compaction. */
  base = 0
  readonly #known: ReadonlyMap<string, KnownAsset>
  readonly #knownHere: { get(ref: string): AssetCreated | undefined }
  readonly #mentions: FirstMentions
  readonly #hides: (ref: string) => boolean
  readonly #accepts: (part: MediaPart) => boolean
  readonly #describesAll: boolean
  /** How much of large data is shown. */
  readonly #size: { maxChars: number } | { maxRows: number }
  /** The tokens of the last block of each name. */
  readonly #writes = new Map<string, number>()
  #fetched: readonly MediaPart[] = []
  /** The references of the bodies that are counted. */
  readonly #counted = new Set<string>()
  #tokens = 0
  #results = 0
  #stale = 0
  /** The index of the current message. Assets that were created after it are unknown here. */
  #index = 0
  /** Whether a user's message was deleted since the last item. */
  #isGap = false

  constructor(
    known: ReadonlyMap<string, KnownAsset>,
    {
      guide,
      wholeData = false,
      hides = () => false,
      describeAssets = 'named',
      accepts = () => true,
    }: PlacerOptions,
  ) {
    this.#known = known
    this.#knownHere = {
      get: (ref) => {
        const created = known.get(ref)
        return created && created.after <= this.#index ? created.asset : undefined
      },
    }
    this.#mentions = new FirstMentions(guide, this.#knownHere.get)
    this.#hides = hides
    this.#accepts = accepts
    this.#describesAll = describeAssets === 'all'
    this.#size = wholeData ? { maxChars: Infinity } : { maxRows: MAX_ROWS }
  }

  /** The estimated number of tokens. */
  get tokens(): number {
    return this.#tokens
  }

  /** The number of tokens of outdated data, which later writes have replaced. */
  get stale(): number {
    return this.#stale
  }

  /** The bodies that calls of the last answer fetched. They are shown in one prompt only. */
  get fetched(): readonly MediaPart[] {
    return this.#fetched
  }

  /** Adds messages. `first` is the index of the first one in the conversation. */
  place(messages: readonly Message[], first: number, placing: Placing): void {
    const logged = this.#numberResults(messages, first)
    const places = new Map(messages.map((message, i) => [message, first + i]))
    const { merge, board } = placing
    let passed = 0
    for (const item of placeData(placedMessages(messages, logged, merge), {
      merge,
      board,
      ...this.#size,
    })) {
      if (item.type === 'data') {
        this.#placeBlock(item)
        continue
      }
      const { message } = item
      if (message.message_type === 'log' || resultCall(message) !== null) continue
      this.#index = places.get(message) ?? this.#index
      const end = this.#index - first
      this.#isGap ||= messages.slice(passed, end).some(isDeleted)
      passed = end
      this.#placeMessage(message, logged, placing)
    }
    this.#isGap ||= messages.slice(passed).some(isDeleted)
  }

  /** Adds texts as one item. */
  write(parts: readonly TextPart[]): void {
    if (parts.length > 0) this.#push({ type: 'user', parts })
  }

  /** Leaves messages out, but counts their results. */
  skip(messages: readonly Message[]): void {
    this.#isGap ||= messages.some(isDeleted)
    this.#numberResults(messages, 0)
  }

  /** Returns the text on a topic; empty if it was added before. */
  topicOnce(topic: PlacedTopic): TextPart[] {
    return this.#mentions.topic(topic)
  }

  /** Returns the metadata of assets that are named for the first time, if they existed after `after` messages. */
  metas(names: ReadonlySet<string>, after: number): TextPart[] {
    this.#index = after
    return this.#metasOf(names)
  }

  /** Returns a line for each of the newest files among the assets. */
  markers(names: readonly string[]): TextPart[] {
    const lines = names.flatMap((ref) => {
      const { asset } = this.#known.get(ref) ?? {}
      return asset && !asset.structured && !this.#hides(ref) ? savedMarker(asset) : []
    })
    return lines.slice(-MAX_MARKERS).map((text): TextPart => ({ type: 'text', text }))
  }

  /** Returns the metadata of named assets. With `describeAssets: 'all'`, also of every other asset. */
  #metasOf(names: ReadonlySet<string>): TextPart[] {
    if (!this.#describesAll) return this.#mentions.metas(names)
    const existing = [...this.#known].flatMap(([ref, { after }]) =>
      after <= this.#index && !this.#hides(ref) ? ref : [],
    )
    return this.#mentions.metas(new Set([...names, ...existing]))
  }

  /** Returns a line for each file that a call saved, but did not name in its result. Adds their names to `names`. */
  #unnamed(callIds: ReadonlySet<string>, names: Set<string>): TextPart[] {
    const lines: string[] = []
    for (const [ref, { asset, after }] of this.#known) {
      const { toolCallId: id = '' } = asset
      const isOwn = callIds.has(id) || callIds.has(callIdOf(id))
      if (!isOwn || after > this.#index || names.has(ref) || this.#hides(ref)) continue
      names.add(ref)
      if (!asset.structured) lines.push(savedMarker(asset))
    }
    return lines.length > 0 ? [{ type: 'text', text: lines.join('\n') }] : []
  }

  #isSent(part: MediaPart, { media }: Placing): boolean {
    return (!isBody(part) || media === null || media.has(part.ref)) && !this.#hides(part.ref)
  }

  /** Returns the parts that are sent, with a note in place of an attached file that is left out. */
  #sentParts(parts: readonly (TextPart | MediaPart)[], placing: Placing): (TextPart | MediaPart)[] {
    return parts.flatMap((part) => {
      if (part.type === 'text' || this.#isSent(part, placing)) return part
      return part.fallback === 'note' && !this.#hides(part.ref) ? notSent(part) : []
    })
  }

  #push(item: TranscriptItem): void {
    this.#isGap = false
    this.#items.push(item)
    this.#tokens += itemTokens(item)
    for (const part of mediaOfItem(item)) {
      if (this.#counted.has(part.ref) || !isBody(part) || !this.#accepts(part)) continue
      this.#counted.add(part.ref)
      this.#bodies.parts++
      this.#bodies.bytes += bytesSent(part)
    }
  }

  /**
   * Numbers the results, and returns them by call id. Only the first result of a call is returned. A deleted result
   * keeps its number.
   */
  #numberResults(messages: readonly Message[], first: number): LoggedResults {
    const found = new Map<string, LoggedResult>()
    for (const [i, message] of messages.entries()) {
      const id = resultCall(message)
      if (id !== null || isDeletedResult(message)) this.#results++
      if (id === null) continue
      if (!found.has(id)) found.set(id, { message, number: this.#results, index: first + i })
    }
    return found
  }

  #placeBlock({ entry, text }: Extract<PlacedItem, { type: 'data' }>): void {
    const part: TextPart = { type: 'text', text }
    this.#push({ type: 'user', parts: [...this.#mentions.topic('variables'), part] })
    const name = `${entry.kind}#${entry.instance ?? ''}`
    this.#stale += this.#writes.get(name) ?? 0
    this.#writes.set(name, itemTokens({ type: 'user', parts: [part] }))
  }

  #placeMessage(message: Message, logged: LoggedResults, placing: Placing): void {
    const { participant_role: role } = message.sender
    if (role === 'assistant') this.#placeAnswer(message, logged, placing)
    else if (role === 'system') this.#placeSystem(message)
    else this.#placeUser(message, placing)
  }

  #placeUser(message: Message, placing: Placing): void {
    const { parts, names } = userParts(message, this.#knownHere)
    const shown = this.#sentParts(parts, placing)
    if (shown.length === 0) shown.push({ type: 'text', text: '(empty message)' })
    this.#push({ type: 'user', parts: [...shown, ...this.#metasOf(names)] })
  }

  #placeSystem(message: Message): void {
    const { parts } = userParts(message, this.#knownHere)
    const text = parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
    if (text === '') return
    if (this.items.length === 0) this.#system.push(text)
    else this.#push({ type: 'system', text })
  }

  /**
   * Adds a user message in place of one that was deleted, or that is missing at the start, because providers reject an
   * answer without a user message before it.
   */
  #bridge(): void {
    const last = this.items.at(-1)?.type
    if (last !== undefined && !(this.#isGap && last === 'assistant')) return
    const text = this.#isGap ? '[A message was deleted here]' : '[The conversation starts here]'
    this.#push({ type: 'user', parts: [{ type: 'text', text }] })
  }

  #placeAnswer(message: Message, logged: LoggedResults, placing: Placing): void {
    this.#fetched = []
    const names = new Set<string>()
    const known = this.#knownHere
    const options = { known, names, how: 'From your answer,' }
    const files = mayHaveFiles(message) ? filesOfAnswer(message, options) : []
    const answer = assistantItem(message, files.length > 0)
    // Providers reject an empty answer.
    if (answer.parts.length + answer.calls.length > 0) {
      this.#bridge()
      this.#push(answer)
    }
    noteBareNames(contentOf(message), this.#knownHere, names)
    const hasCalls = answer.calls.length > 0
    if (hasCalls) this.#placeResults(answer.calls, { logged, names }, placing)
    // Few models accept files as parts of their own answers.
    if (files.length > 0) {
      this.#push({ type: 'user', parts: this.#sentParts(files, placing) })
    }
    if (!hasCalls && names.size > 0) this.write(this.#metasOf(names))
  }

  #placeResults(
    calls: AssistantItem['calls'],
    { logged, names }: { logged: LoggedResults; names: Set<string> },
    placing: Placing,
  ): void {
    const results: ResultItem[] = []
    const fetched: MediaPart[] = []
    let isNamed = false
    let isOffloaded = false
    for (const call of calls) {
      const result = logged.get(call.id)
      this.#index = result?.index ?? this.#index
      const whole = this.#index >= placing.wholeFrom
      const shown = resultItem(call, result, { known: this.#knownHere, whole })
      const media = shown.item.media.filter((part) => this.#isSent(part, placing))
      results.push({ ...shown.item, media })
      for (const name of shown.names) names.add(name)
      for (const name of shown.previewed) this.#mentions.seen(name)
      isOffloaded ||= shown.previewed.size > 0
      fetched.push(...shown.fetched.filter(({ ref }) => !this.#hides(ref)))
      isNamed ||= shown.named
    }
    this.#push({ type: 'results', results })
    const saved = this.#unnamed(new Set(calls.map(({ id }) => id)), names)
    this.write([
      ...saved,
      ...(isNamed ? this.#mentions.topic('results') : []),
      ...this.#metasOf(names),
      ...(isOffloaded ? this.#mentions.topic('reading') : []),
    ])
    this.#fetched = fetched
  }
}

/** The results of calls, by the id of the call. */
type LoggedResults = ReadonlyMap<string, LoggedResult>

/**
 * Returns the messages that are shown. Data that a call wrote is left out until data is merged, because the result of
 * the call shows it.
 */
function placedMessages(
  messages: readonly Message[],
  logged: LoggedResults,
  merge: Placing['merge'],
): Message[] {
  const called = new Set(messages.flatMap((one) => readMetadata(one).calls.map(({ id }) => id)))
  const isShown = (id: string | null): boolean => id !== null && logged.has(id) && called.has(id)
  return messages.filter(
    (message) => !isDeleted(message) && (merge === 'engine' || !isShown(writerOf(message))),
  )
}

/** Whether an answer may have files. Most have none. */
function mayHaveFiles(message: Message): boolean {
  return message.content_type === 'multipart/mixed' || readMetadata(message).attachments.length > 0
}

/** Returns the text for a file that is left out, or that was deleted. Its marker is before it. */
function notSent({ kind }: MediaPart): TextPart {
  return { type: 'text', text: `[${kind} not shown]` }
}

/** Returns `[Saved image: asset_id="…"]`, with type and name. */
function savedMarker({ kind, ref, mime, name }: AssetCreated): string {
  const line = marker({ kind, ref, fileName: name }, 'Saved')
  return `${line.slice(0, -1)} type=${JSON.stringify(mime)}]`
}
