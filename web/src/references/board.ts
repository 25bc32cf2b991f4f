import {
  type Board,
  createBoard,
  type Message,
  parseVariableRef,
  type VariableExpression,
  type VariableRef,
} from 'byref/client'
import { errorText } from '../ui/error-text.ts'
import { isAsset } from './kinds.ts'

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

/** Kinds that stand for something only where a call runs. */
const ELSEWHERE: ReadonlySet<string> = new Set(['item', 'index', 'result'])

/**
 * Whether a variable reference names nothing at all: neither now nor for any instance. What lies within an asset cannot be
 * known here, and counts as there.
 */
export function namesNothing(messages: readonly Message[], reference: string): boolean {
  const board = boardOf(messages)
  const expression = parseVariableRef(reference)
  return expression !== null && !board.has(reference) && !mayBeThere(board, expression)
}

function mayBeThere(board: Board, expression: VariableExpression): boolean {
  if (expression.type === 'any') return expression.of.some((one) => mayBeThere(board, one))
  if (expression.type === 'all') return expression.of.every((one) => mayBeThere(board, one))
  return ELSEWHERE.has(expression.kind) || isWithin(board, expression)
}

function isWithin(board: Board, { kind, instance, path }: VariableRef): boolean {
  return board.entries().some((entry) => {
    if (entry.kind !== kind || (instance !== undefined && entry.instance !== instance)) return false
    let value: unknown = entry.data
    for (const key of path) {
      if (isAsset(value) || isAsset(Object(value).assetRef)) return true
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
      value = (value as Record<string | number, unknown>)[key]
    }
    return value !== undefined
  })
}
