import { schemaIssues } from '../boundary/validate.ts'
import type { Board } from '../core/board/board.ts'
import { createBoard } from '../core/board/board.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Labels } from '../core/labels/labels.ts'
import { isData } from '../core/messages/data-block.ts'
import type { Message } from '../core/messages/message.ts'
import { createResults, type Results } from '../core/messages/results.ts'

/** The board and the results of a conversation's messages. */
export interface SessionValues {
  readonly board: Board
  readonly results: Results
  /** Adds a message of the log. */
  add(message: Message): void
  /** Puts data on the board that is about to be appended. If any of it breaks its schema, throws and adds nothing. */
  expect(events: readonly ConversationEvent[], before: readonly ConversationEvent[]): void
  /** Removes data that `expect` added and that was not appended. */
  rewind(): void
  /** Reads all messages again, because one was deleted: its values and everything merged with them must go. */
  readAnew(): void
}

/**
 * Creates an empty board and no results. `messages` returns the messages of the log. `labels` is kept in step with the
 * board.
 */
export function createSessionValues(
  messages: () => readonly Message[],
  labels: Pick<Labels, 'expect' | 'rewind'> | null = null,
): SessionValues {
  /** Ids of the data messages that are on the board, but not in the log yet. */
  const ahead = new Set<string>()
  let board = boardOf([])
  let results = createResults()

  function rewind(): void {
    labels?.rewind()
    if (ahead.size === 0) return
    ahead.clear()
    board = boardOf(messages())
  }

  function put(events: readonly ConversationEvent[]): void {
    labels?.expect(events)
    for (const event of events) {
      if (event.type !== 'NEW_MESSAGE' || event.deliver || !isData(event.payload)) continue
      board.append(event.payload)
      ahead.add(event.payload.id)
    }
  }

  return {
    get board() {
      return board
    },
    get results() {
      return results
    },
    add(message) {
      results.add(message)
      if (isData(message) && !ahead.delete(message.id)) tryOnBoard(board, message)
    },
    expect(events, before) {
      try {
        put(events)
      } catch (error) {
        rewind()
        put(before)
        throw error
      }
    },
    rewind,
    readAnew() {
      ahead.clear()
      labels?.rewind()
      board = boardOf(messages())
      results = createResults()
      for (const message of messages()) results.add(message)
    },
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

export function tryOnBoard(board: Board, message: Message): void {
  try {
    board.append(message)
  } catch {
    // Another program may have written data that breaks its schema. It stays in the conversation, but not on the
    // board.
  }
}
