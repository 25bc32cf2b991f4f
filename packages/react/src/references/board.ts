import {
  type Board,
  createBoard,
  formatAssetRef,
  formatVariableRef,
  type Message,
  parseAssetRef,
  parseVariableRef,
  type VariableExpression,
  type VariableRef,
} from 'byref/client'
import { errorText } from '../ui/error-text.ts'
import { isAsset } from './kinds.ts'

let last: { messages: readonly Message[]; board: Board } | null = null

/** Returns the board of these messages. If messages were only added, it appends to the existing board. */
export function boardOf(messages: readonly Message[]): Board {
  if (last?.messages === messages) return last.board
  const known = last?.messages ?? []
  const grew = known.length > 0 && known.every((message, i) => messages[i] === message)
  const board = grew && last ? last.board : createBoard()
  for (const message of grew ? messages.slice(known.length) : messages) {
    try {
      board.append(message)
    } catch {
      // A write that fails here failed when it was made, too.
    }
  }
  last = { messages, board }
  return board
}

/** Returns the value of a variable reference, now or after the message `at`, or why there is none. */
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

/**
 * Returns where a variable's value is stored, if that is an asset: the asset, and the reference of the value in it.
 * Null for a value on the board.
 */
export function storedIn(
  messages: readonly Message[],
  reference: string,
): { asset: string; value: string; size: number | null } | null {
  const variable = parseVariableRef(reference)
  if (variable?.type !== 'variable') return null
  for (let length = 0; length <= variable.path.length; length++) {
    const path = variable.path.slice(0, length)
    const rest = variable.path.slice(length)
    const found = readVariable(messages, formatVariableRef({ ...variable, path }))
    if ('problem' in found) return null
    const { assetRef, offloaded, size } = Object(found.value) as Record<string, unknown>
    const parts = isAsset(assetRef) ? parseAssetRef(assetRef) : null
    if (!parts) continue
    const isWhole = offloaded === true && rest.length === 0
    // A file is its reference. Only what is in it is elsewhere.
    if (offloaded !== true && rest.length === 0) return null
    const fieldPath = offloaded === true ? ['content', ...rest] : rest
    return {
      asset: formatAssetRef({ ...parts, fieldPath: undefined }),
      value: formatAssetRef({ ...parts, fieldPath }),
      size: isWhole && typeof size === 'number' ? size : null,
    }
  }
  return null
}

/** Kinds that have a value only while a call runs. */
const ELSEWHERE: ReadonlySet<string> = new Set(['item', 'index', 'result'])

/**
 * Returns whether a variable reference has no value, neither now nor for any instance. A path into an asset cannot be
 * checked here, and counts as existing.
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
