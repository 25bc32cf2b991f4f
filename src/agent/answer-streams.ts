import type { JSONParser } from '@streamparser/json'
import type { ConversationEvent } from '../core/events/events.ts'

/**
 * Yields the JSON of the model's answer while it streams: the value so far, after each delta that changed it. Yields
 * nothing for an answer whose beginning was missed, or that another process runs.
 */
export async function* partialOutput(
  events: AsyncIterable<ConversationEvent>,
): AsyncGenerator<unknown, void> {
  // Subscribed before the import, so that nothing is missed.
  const reader = events[Symbol.asyncIterator]()
  const { JSONParser } = await import('@streamparser/json')
  let answer: { id: string; json: PartialJson } | null = null
  for await (const event of { [Symbol.asyncIterator]: () => reader }) {
    if (event.type === 'TEXT_MESSAGE_START') {
      const parser = new JSONParser({ emitPartialTokens: true, emitPartialValues: true })
      answer = { id: event.messageId, json: new PartialJson(parser) }
    }
    if (event.type !== 'TEXT_MESSAGE_CONTENT' || answer?.id !== event.messageId) continue
    const value = answer.json.write(event.delta)
    if (value !== undefined) yield value
  }
}

/**
 * Yields the model's text. While the answer streams, it yields each delta. If the beginning was missed, or
 * another process runs the answer, it yields the whole text when it is in the log.
 */
export async function* textStream(
  events: AsyncIterable<ConversationEvent>,
): AsyncGenerator<string, void> {
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
      yield event.delta
    }
    if (event.type !== 'NEW_MESSAGE' || !steps.has(event.payload.id)) continue
    const { id, content } = event.payload
    const rest = typeof content === 'string' ? content.slice(yielded.get(id) ?? 0) : ''
    if (rest !== '') yield rest
  }
}

/** Parses JSON that arrives in pieces. */
class PartialJson {
  readonly #parser: JSONParser
  #hasBegun = false
  #isOver = false
  #isBroken = false
  #value: unknown

  constructor(parser: JSONParser) {
    this.#parser = parser
    parser.onError = () => {
      this.#isBroken = true
    }
    parser.onEnd = () => {
      this.#isOver = true
    }
    parser.onValue = ({ value, partial, key, parent, stack }) => {
      this.#value = stack[1]?.value ?? parent ?? value
      // The parser adds a text to its parent only when it is complete.
      if (partial && value !== undefined && parent)
        Object.assign(parent, { [key as string]: value })
    }
  }

  /** Returns a copy of the value so far; undefined if the text added nothing. */
  write(text: string): unknown {
    // A model may write a code fence, or some words, before the JSON.
    const start = this.#hasBegun ? 0 : text.search(/[{[]/)
    if (start === -1 || this.#isOver || this.#isBroken) return undefined
    this.#hasBegun = true
    this.#parser.write(text.slice(start))
    return this.#isBroken && !this.#isOver ? undefined : structuredClone(this.#value)
  }
}
