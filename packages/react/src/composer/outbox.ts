import type { errorText } from '../ui/error-text.ts'
import { Listeners } from '../ui/listeners.ts'

/** What happens with the unsent message at a place ({@link useDraftPlace}). */
export interface Outgoing {
  /** `held`: it is sent when its files are uploaded. Null: a person is still writing it. */
  status: 'held' | 'sending' | null
  /** Why it was not sent. `isUnsure`: it may have arrived. Sending it again makes no duplicate. */
  problem: (ReturnType<typeof errorText> & { isUnsure: boolean }) | null
  /** The last attempt to send it: its content and its id. */
  attempt: { said: string; id: string } | null
  /** The conversation that it has created. */
  conversation: string | null
}

const WRITING: Outgoing = { status: null, problem: null, attempt: null, conversation: null }

/** What happens with unsent messages, also while another conversation is shown. */
export class Outbox {
  readonly #places = new Map<string, Outgoing>()
  readonly #listeners = new Listeners()
  readonly subscribe = this.#listeners.subscribe

  get(place: string): Outgoing {
    return this.#places.get(place) ?? WRITING
  }

  /** Changes what happens with a message, and returns it. */
  change(place: string, part: Partial<Outgoing>): Outgoing {
    const next = { ...this.get(place), ...part }
    this.#places.set(place, next)
    this.#listeners.tell()
    return next
  }

  /** Forgets a message that was sent. */
  forget(place: string): void {
    this.#places.delete(place)
    this.#listeners.tell()
  }

  /** Forgets all messages. Those that wait for files are not sent. */
  clear(): void {
    this.#places.clear()
    this.#listeners.tell()
  }
}
