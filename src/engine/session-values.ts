import { schemaIssues } from '../boundary/validate.ts'
import type { Board } from '../core/board/board.ts'
import { createBoard } from '../core/board/board.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Labels } from '../core/labels/labels.ts'
import { isData } from '../core/messages/data-block.ts'
import type { Message } from '../core/messages/message.ts'
import { createResults, type Results } from '../core/messages/results.ts'

/** The data and the results of a conversation's messages, as values. */
export interface SessionValues {
  readonly board: Board
  readonly results: Results
  /** Takes a message of the log. */
  add(message: Message): void
  /** Puts data that is to be appended on the board, all of it or none; throws where it breaks its schema. */
  expect(events: readonly ConversationEvent[], before: readonly ConversationEvent[]): void
  /** Takes back what was expected and did not come. */
  rewind(): void
  /** Reads all messages again: what was read from one that is deleted is not there any more, nor what later ones made of it. */
  readAnew(): void
}

/**
 * Begins with no messages; `messages` gives those that there are. What is put on the board ahead of the log has its labels
 * there too.
 */
export function createSessionValues(
  messages: () => readonly Message[],
  labels: Pick<Labels, 'expect' | 'rewind'> | null = null,
): SessionValues {
  /** Data messages that are on the board and not yet in the log. */
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
 * The data among messages; with `points`, each message is a point that it can be read at. What another program wrote may
 * break its schema: it is not there. Needs `loadValidator`.
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
    // What another program wrote may break its schema: it is in the conversation and not on the board.
  }
}
