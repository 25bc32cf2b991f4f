import { schemaIssues } from '../boundary/validate.ts'
import { type Board, createBoard } from '../core/board/board.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Labels } from '../core/labels/labels.ts'
import { isData } from '../core/messages/data-block.ts'
import type { Message } from '../core/messages/message.ts'
import { createResults, type Results } from '../core/messages/results.ts'

/** The board and the results of a conversation's messages. */
export class SessionValues {
  board: Board = boardOf([])
  results: Results = createResults()
  readonly #messages: () => readonly Message[]
  readonly #labels: Pick<Labels, 'putAhead' | 'rewind'> | null
  /** Ids of the data messages that are on the board, but not in the log yet. */
  readonly #ahead = new Set<string>()

  /**
   * @param messages Returns the messages of the log.
   * @param labels Labels to keep in step with the board.
   */
  constructor(
    messages: () => readonly Message[],
    labels: Pick<Labels, 'putAhead' | 'rewind'> | null = null,
  ) {
    this.#messages = messages
    this.#labels = labels
  }

  /** Adds a message of the log. */
  add(message: Message): void {
    this.results.add(message)
    if (isData(message) && !this.#ahead.delete(message.id)) tryOnBoard(this.board, message)
  }

  /** Puts data on the board before it is appended. If any of it breaks its schema, throws and adds none of it. */
  putAhead(events: readonly ConversationEvent[], before: readonly ConversationEvent[]): void {
    try {
      this.#put(events)
    } catch (error) {
      this.rewind()
      this.#put(before)
      throw error
    }
  }

  /** Removes data that `expect` added and that was not appended. */
  rewind(): void {
    this.#labels?.rewind()
    if (this.#ahead.size === 0) return
    this.#ahead.clear()
    this.board = boardOf(this.#messages())
  }

  /** Reads all messages again after one was deleted, because its values may be merged with others. */
  readAgain(): void {
    this.#ahead.clear()
    this.#labels?.rewind()
    this.board = boardOf(this.#messages())
    this.results = createResults(this.#messages())
  }

  #put(events: readonly ConversationEvent[]): void {
    this.#labels?.putAhead(events)
    for (const event of events) {
      if (event.type !== 'NEW_MESSAGE' || event.deliver || !isData(event.payload)) continue
      this.board.append(event.payload)
      this.#ahead.add(event.payload.id)
    }
  }
}

/**
 * Builds a board from the data messages. With `points`, the board can be read as of any message. Data that breaks its
 * schema, which another program may have written, is left out. Call `loadValidator` first.
 */
export function boardOf(messages: readonly Message[], { points = false } = {}): Board {
  const board = createBoard([], { validate: schemaIssues })
  for (const message of messages) if (points || isData(message)) tryOnBoard(board, message)
  return board
}

/**
 * Adds a message to the board. Returns whether it worked. Another program may have written data that breaks its schema:
 * it stays in the conversation, but not on the board.
 */
export function tryOnBoard(board: Board, message: Message): boolean {
  try {
    board.append(message)
    return true
  } catch {
    return false
  }
}
