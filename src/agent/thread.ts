import { type Board, createBoard } from '../content/board.ts'
import type { ConversationEvent, LogRecord } from '../content/events.ts'
import {
  type ConversationState,
  emptyConversation,
  type Foldable,
  fold,
  foldAll,
} from '../content/fold.ts'
import type { Message } from '../content/message.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { readAll } from '../log/conversation-log.ts'
import { schemaIssues } from './validate.ts'

/** A conversation as a run works on it: the fold of its log, kept up to date by what the run appends. */
export interface Thread {
  readonly id: string
  readonly state: ConversationState
  /** The data messages among them, as values. */
  readonly board: Board
  /**
   * Logs the events, folds them and tells of them. Data messages go to the board first: one that breaks its schema
   * throws, and nothing is logged.
   */
  append(events: readonly ConversationEvent[], debug?: Record<string, unknown>): Promise<void>
  /** Tells of an event that is not durable. */
  stream(event: ConversationEvent): Promise<void>
}

/** Reads a conversation from its log; `tell` hears of everything that is added to it from then on. */
export async function openThread(
  log: ConversationLog,
  id: string,
  tell: (event: Foldable) => Promise<void>,
): Promise<Thread> {
  const records: LogRecord[] = []
  for await (const record of readAll(log, id)) records.push(record)
  let state = foldAll(emptyConversation, records)
  let board = boardOf(state)
  return {
    id,
    get state() {
      return state
    },
    get board() {
      return board
    },
    async append(events, debug) {
      try {
        for (const event of events) {
          if (event.type === 'NEW_MESSAGE' && isData(event.payload)) board.append(event.payload)
        }
      } catch (error) {
        // Some may be on the board already, and none of them will be in the log.
        board = boardOf(state)
        throw error
      }
      const records = await log.append(id, events, { debug })
      state = foldAll(state, records)
      for (const [i, { position, timestamp }] of records.entries()) {
        // The event as it came: an ASSET_CREATED gives its bytes on demand, which the log's copy does not.
        await tell({ position, timestamp, event: events[i] as ConversationEvent })
      }
    },
    async stream(event) {
      state = fold(state, { event })
      await tell({ event })
    },
  }
}

function boardOf(state: ConversationState): Board {
  return createBoard(state.messages.filter(isData), { validate: schemaIssues })
}

function isData(message: Message): boolean {
  return message.content_type === 'data'
}
