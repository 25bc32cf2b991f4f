import { type Board, createBoard, type Message } from 'byref/client'
import { errorText } from '../ui/error-text.ts'

let last: { messages: readonly Message[]; board: Board } | null = null

/** The board of these messages. A conversation that only grew appends to the board that is there. */
export function boardOf(messages: readonly Message[]): Board {
  if (last?.messages === messages) return last.board
  const known = last?.messages ?? []
  const grew = known.length > 0 && known.every((message, i) => messages[i] === message)
  const board = grew && last ? last.board : createBoard()
  for (const message of grew ? messages.slice(known.length) : messages) {
    try {
      board.append(message)
    } catch {
      // A write that cannot be done changed nothing when it was made either.
    }
  }
  last = { messages, board }
  return board
}

/** The value of a variable reference, now or after the message `at`, or why there is none. */
export function readVariable(
  messages: readonly Message[],
  reference: string,
  at?: string,
): { value: unknown } | { problem: string } {
  try {
    return { value: boardOf(messages).read(reference, { at }) }
  } catch (error) {
    return { problem: errorText(error).message }
  }
}
