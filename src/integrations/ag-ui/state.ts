import type { JsonPatchOperation, RunAgentInput } from '@ag-ui/core'
import type { Board } from '../../core/board/board.ts'
import { ByrefError } from '../../core/errors.ts'
import type { ConversationState } from '../../core/events/conversation-state.ts'
import { isPlainObject, type JsonValue } from '../../core/json/json.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'
import { parseVariableRef } from '../../core/refs/variable-ref.ts'
import { nodeBuiltin } from '../../node-builtin.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

/** The kind of the data that holds AG-UI's `context`, which describes the app. */
const CONTEXT = 'app_context'

/** Returns the board as AG-UI's state: values by kind, or kind#instance. */
export function stateOf(board: Board): Record<string, JsonValue> {
  const entries = Object.entries(board.snapshot())
  return Object.fromEntries(
    entries.flatMap(([key, { data }]) => (data === undefined ? [] : [[key, data]])),
  )
}

/** Returns the context of the app as a data message, if it changed. */
export function contextOf({ context }: RunAgentInput, board: Board): MessageInput[] {
  if (context.length === 0) return []
  const data = Object.fromEntries(context.map(({ description, value }) => [description, value]))
  if (isDeepStrictEqual(stateOf(board)[CONTEXT], data)) return []
  return [{ type: 'data', kind: CONTEXT, data }]
}

/**
 * Returns the client's edits of the state. They are outdated, and ignored, unless the client has the conversation's
 * last message.
 */
export function editsOf(
  { state: given, messages }: RunAgentInput,
  { messages: all }: ConversationState,
  board: Board,
): MessageInput[] {
  const last = all.findLast(({ content_type: type, sender }) => {
    return type !== 'data' && sender.participant_role !== 'user'
  })
  const isCurrent = !last || messages.some(({ id }) => id === last.id)
  if (!isCurrent || !isPlainObject(given)) return []
  const now = stateOf(board)
  return Object.entries(given).flatMap(([key, data]): MessageInput[] => {
    if (key === CONTEXT || isDeepStrictEqual(now[key], data)) return []
    const place = parseVariableRef(`†${key}`)
    if (place?.type !== 'variable' || place.path.length > 0) {
      throw new ByrefError(
        'bad_request',
        `state: the key ${JSON.stringify(key)} must be a kind, or kind#instance`,
      )
    }
    const { kind, instance } = place
    return [{ type: 'data', kind, _instance: instance, data, _outputMethod: 'set' }]
  })
}

/**
 * Updates the state to what the board has now, and returns the difference.
 *
 * @param names The keys that may have changed. All the others are not read.
 */
export function updateState(
  state: Record<string, JsonValue>,
  board: Board,
  names: readonly string[],
): JsonPatchOperation[] {
  return names.flatMap((name) => {
    const before = Object.hasOwn(state, name) ? { [name]: state[name] as JsonValue } : {}
    const after = board.has(`†${name}`) ? { [name]: board.read(`†${name}`) as JsonValue } : {}
    delete state[name]
    Object.assign(state, after)
    return jsonPatch(before, after)
  })
}

/** Returns a JSON Patch (RFC 6902) from one value to another: objects by their keys, everything else as a whole. */
export function jsonPatch(before: unknown, after: unknown, path = ''): JsonPatchOperation[] {
  if (before === after || JSON.stringify(before) === JSON.stringify(after)) return []
  if (!isPlainObject(before) || !isPlainObject(after))
    return [{ op: 'replace', path, value: after }]
  const at = (key: string): string => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  return [
    ...removed.map((key): JsonPatchOperation => ({ op: 'remove', path: at(key) })),
    ...Object.entries(after).flatMap(([key, value]): JsonPatchOperation[] =>
      Object.hasOwn(before, key)
        ? jsonPatch(before[key], value, at(key))
        : [{ op: 'add', path: at(key), value }],
    ),
  ]
}
