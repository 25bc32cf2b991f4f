import { inBackground } from '../../core/in-background.ts'
import { newId } from '../../core/new-id.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import { publicSummary } from '../public-info.ts'
import { Channel, jsonFrame, namedFrame, type ReaderOptions } from './channel.ts'

/** Time for which changes of one conversation are collected into one event, in milliseconds. */
const COLLECT_MS = 100

/**
 * The changes of a namespace's list of conversations: `{ conversation }` with the summary of one that changed, and
 * `{ deleted }` with the id of one that was deleted.
 */
export class NamespaceFeed {
  readonly #log: ConversationLog
  /** Ids of another process, or of a feed that was closed in between, have another prefix. */
  readonly #prefix = newId()
  readonly #channel = new Channel({ after: 0, keepBytes: 256 * 1024 })
  readonly #pending = new Map<string, NodeJS.Timeout>()
  #number = 0
  /** The number of conversations that were deleted. */
  #deletions = 0

  constructor(log: ConversationLog) {
    this.#log = log
  }

  get readers(): number {
    return this.#channel.readers
  }

  changed(conversation: string, deleted: boolean): void {
    if (deleted) {
      clearTimeout(this.#pending.get(conversation))
      this.#pending.delete(conversation)
      this.#deletions++
      this.#push({ deleted: conversation })
    } else if (!this.#pending.has(conversation)) {
      const send = () => inBackground('Sending a summary', this.#sendSummary(conversation))
      this.#pending.set(conversation, setTimeout(send, COLLECT_MS))
    }
  }

  /**
   * Returns a stream of the changes after the event with the id `last`. Where these are no longer known, an event
   * `reset` says that the list must be read again.
   */
  listen(
    last: string | null,
    end: Pick<ReaderOptions, 'until' | 'onEnd'>,
  ): ReadableStream<Uint8Array> {
    const [prefix, after] = (last ?? '').split('-')
    const isOurs = prefix === this.#prefix && Number.isInteger(Number(after))
    const known = isOurs ? this.#channel.since(Number(after)) : null
    const isReset = last !== null && known === null
    const from = known === null ? this.#number : Number(after)
    const reset = { id: null, bytes: namedFrame('reset', {}) }
    const now = () => {
      const changes = this.#channel.since(from)
      return isReset || !changes ? [reset, ...(changes ?? [])] : changes
    }
    return this.#channel.listen({ ...end, now })
  }

  beat(): void {
    this.#channel.beat()
  }

  close(): void {
    for (const timer of this.#pending.values()) clearTimeout(timer)
    this.#channel.end()
  }

  #push(value: unknown): void {
    const number = ++this.#number
    this.#channel.push(jsonFrame(value, { number, text: `${this.#prefix}-${number}` }))
  }

  async #sendSummary(conversation: string): Promise<void> {
    this.#pending.delete(conversation)
    // After a failure of the log, the next change sends the summary.
    const deletions = this.#deletions
    const summary = await this.#log.find(conversation).catch(() => null)
    if (!summary) return
    // This conversation may have been deleted in the meantime.
    if (deletions !== this.#deletions) return this.#sendSummary(conversation)
    this.#push({ conversation: publicSummary(summary, this.#log) })
  }
}
