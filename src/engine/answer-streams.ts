import type { JSONParser } from '@streamparser/json'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../core/json/json.ts'
import { answerValue } from '../models/json-answer.ts'

/** A value is yielded again when its text has grown by this part, because each yield copies the whole value. */
const GROWTH = 1 / 512

/**
 * Yields the JSON of the model's answer while it streams: the value so far, after each piece of text that changed it, and
 * less often when it is long. If the beginning was missed, or another process runs the answer, it yields the value once.
 *
 * @param schema Returns the schema of the output.
 */
export async function* partialOutput(
  events: AsyncIterable<ConversationEvent>,
  schema: () => JsonObject | undefined,
): AsyncGenerator<unknown, void> {
  // Subscribed before the import, so that nothing is missed.
  const reader = events[Symbol.asyncIterator]()
  const { JSONParser } = await import('@streamparser/json')
  let messageId = ''
  let json: PartialJson | undefined
  function* value(): Generator<unknown, void> {
    if (!json?.hasNews) return
    const answer = json.take()
    const wanted = schema() ?? { type: 'object' }
    // `{}` may be the beginning of `{ answer: value }`.
    if (wanted.type !== 'object' && isEmptyObject(answer)) return
    yield answerValue(answer, wanted)
  }
  for await (const { id, text } of pieces({ [Symbol.asyncIterator]: () => reader })) {
    if (!json || id !== messageId) {
      yield* value()
      json = new PartialJson(new JSONParser({ emitPartialTokens: true, emitPartialValues: true }))
      messageId = id
    }
    json.write(text)
    if (json.isOver || json.growth >= GROWTH) yield* value()
  }
  yield* value()
}

function isEmptyObject(value: JsonValue): boolean {
  return isPlainObject(value) && Object.keys(value).length === 0
}

/**
 * Yields the model's text, with a blank line between answers. While the answer streams, it yields each delta. If the
 * beginning was missed, or another process runs the answer, it yields the whole text when it is in the log.
 */
export async function* textStream(
  events: AsyncIterable<ConversationEvent>,
): AsyncGenerator<string, void> {
  let last: string | null = null
  for await (const { id, text } of pieces(events)) {
    yield last === null || id === last ? text : `\n\n${text}`
    last = id
  }
}

/** Yields pieces of the model's messages, with the message's id. Throws if the run fails. */
async function* pieces(
  events: AsyncIterable<ConversationEvent>,
): AsyncGenerator<{ id: string; text: string }, void> {
  /** By message id, the number of characters already yielded. Contains only messages seen from their start. */
  const yielded = new Map<string, number>()
  const steps = new Set<string>()
  for await (const event of events) {
    if (event.type === 'STEP_STARTED') steps.add(event.messageId)
    if (event.type === 'TEXT_MESSAGE_START') yielded.set(event.messageId, 0)
    if (event.type === 'TEXT_MESSAGE_CONTENT') {
      const before = yielded.get(event.messageId)
      if (before === undefined) continue
      yielded.set(event.messageId, before + event.delta.length)
      yield { id: event.messageId, text: event.delta }
    }
    if (event.type === 'RUN_ERROR')
      throw new ByrefError(event.code as ByrefErrorCode, event.message)
    if (event.type !== 'NEW_MESSAGE' || !steps.has(event.payload.id)) continue
    const { id, content } = event.payload
    const text = typeof content === 'string' ? content.slice(yielded.get(id) ?? 0) : ''
    if (text !== '') yield { id, text }
  }
}

/** Parses JSON that arrives in pieces. */
class PartialJson {
  readonly #parser: JSONParser
  #hasBegun = false
  /** Whether the JSON is complete. */
  isOver = false
  #isBroken = false
  #value: unknown
  /** The length of the text so far, and when the value was last taken. */
  #length = 0
  #taken = 0
  /** Whether the value has changed since it was last taken. */
  hasNews = false
  /** The text or number that is being written, if it is the next item of a list. */
  #item: { list: unknown[]; value: unknown } | null = null

  constructor(parser: JSONParser) {
    this.#parser = parser
    parser.onError = () => {
      this.#isBroken = true
    }
    parser.onEnd = () => {
      this.isOver = true
    }
    parser.onValue = ({ value, partial, key, parent, stack }) => {
      this.#value = stack[1]?.value ?? parent ?? value
      // The parser adds a text to its parent only when it is complete. It appends items to their list.
      const isOpen = partial === true && value !== undefined
      this.#item = isOpen && Array.isArray(parent) ? { list: parent, value } : null
      if (isOpen && parent && !this.#item) Object.assign(parent, { [key as string]: value })
    }
  }

  /** The part of the text that has arrived since the value was last taken, from 0 to 1. */
  get growth(): number {
    return (this.#length - this.#taken) / this.#length
  }

  /** Adds text. */
  write(text: string): void {
    // A model may write a code fence, or some words, before the JSON.
    const start = this.#hasBegun ? 0 : text.search(/[{[]/)
    if (start === -1 || this.isOver || this.#isBroken) return
    this.#hasBegun = true
    this.#length += text.length - start
    this.#parser.write(text.slice(start))
    if (this.isOver || !this.#isBroken) this.hasNews = true
  }

  /** Returns a copy of the value so far. */
  take(): JsonValue {
    this.hasNews = false
    this.#taken = this.#length
    const { list, value } = this.#item ?? {}
    list?.push(value)
    const copy = structuredClone(this.#value) as JsonValue
    list?.pop()
    return copy
  }
}
