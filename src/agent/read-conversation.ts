import type { Assets } from '../assets/assets-contract.ts'
import { inParallel } from '../assets/in-parallel.ts'
import { loadValidator } from '../boundary/validate.ts'
import { ConversationSource } from '../boundary/value-source.ts'
import type { Board } from '../core/board/board.ts'
import { DamagedError } from '../core/errors.ts'
import type {
  ApprovalState,
  CallState,
  ConversationState,
} from '../core/events/conversation-state.ts'
import type { AssetCreated } from '../core/events/events.ts'
import { createFold } from '../core/events/fold.ts'
import type { Lineage } from '../core/labels/lineage.ts'
import { isDeleted, type Message } from '../core/messages/message.ts'
import { createResults } from '../core/messages/results.ts'
import { subConversationIds } from '../engine/cancel.ts'
import { boardOf } from '../engine/session-values.ts'
import { type ConversationLog, notFoundError, readAll } from '../log/conversation-log.ts'

/** The content of a conversation at one moment. */
export interface ConversationContent {
  /** The messages, oldest first, without deleted ones. */
  messages: readonly Message[]
  /** The assets that were saved in the conversation, oldest first. `name` is the name of the file, if it has one. */
  assets: readonly AssetCreated[]
  /** The data. `board.read('†state.total')` returns a value, and `board.snapshot()` all of them. */
  board: Board
  /** The calls of the open run and of its sub-agents' runs that wait for a person, for `agent.approve`. */
  waiting: readonly WaitingCall[]
  /**
   * Returns the value of a reference that a model may have written: data, such as `†state.total`, or a result, such as
   * `†result#1.image`. A field in a value that became an asset is read from that asset.
   *
   * @throws VariableError if there is no such value
   */
  read(reference: string): Promise<unknown>
}

/** A call that waits for a person, with its approval request. */
export interface WaitingCall extends Omit<ApprovalState, 'answer'> {
  /** The conversation of the call: this one, or that of a sub-agent. */
  conversation: string
  toolCallId: string
  toolName: string
}

/** Reads a conversation from the log. Null if it does not exist. */
export async function readConversation(
  log: ConversationLog,
  conversation: string,
  store: Assets,
): Promise<ConversationContent | null> {
  if (!(await log.find(conversation))) return null
  await loadValidator()
  const state = await readState(log, conversation)
  const { messages, assets } = state
  const board = boardOf(messages, { points: true })
  const results = createResults(messages)
  const values = new ConversationSource({ board, results, assets: store }, { id: '' })
  return {
    messages: messages.filter((message) => !isDeleted(message)),
    assets,
    board,
    waiting: await waitingCalls(log, conversation, state),
    read: async (reference) => (await values.read(reference)).value,
  }
}

/** Returns the calls that wait for a person, also those of sub-agents at any depth. */
async function waitingCalls(
  log: ConversationLog,
  conversation: string,
  state: Pick<ConversationState, 'calls'>,
): Promise<WaitingCall[]> {
  const calls = Object.values(state.calls)
  const found = calls.flatMap(({ id: toolCallId, name: toolName, status, approval }) =>
    status === 'waiting' && approval ? [{ conversation, toolCallId, toolName, ...approval }] : [],
  )
  const running = calls.filter(({ status }) => status === 'running')
  for (const sub of await subConversations(log, conversation, running)) {
    found.push(...(await waitingCalls(log, sub.id, sub.state)))
  }
  return found
}

/** Maximum number of conversations that are looked up at the same time. */
const LOOKUPS_AT_ONCE = 8

/** A conversation's id and state. */
interface StateOf {
  id: string
  state: ConversationState
}

/**
 * Returns the conversations in which sub-agents answer these calls, with their states. Damaged ones, and those in other
 * logs, are left out.
 */
export async function subConversations(
  log: ConversationLog,
  conversation: string,
  calls: readonly Pick<CallState, 'id' | 'items'>[],
): Promise<StateOf[]> {
  const found: StateOf[] = []
  const ids = calls.flatMap((call) => subConversationIds(conversation, call))
  await inParallel(ids, { limit: LOOKUPS_AT_ONCE }, async (id) => {
    const sub = await findState(log, id)
    // Another conversation may have the same id.
    const isSub = sub?.state.runs.some(
      ({ toolCallId }) => toolCallId && id.endsWith(`/${toolCallId}`),
    )
    if (sub && isSub) found.push(sub)
  })
  return found
}

/** Returns a conversation's state; null if it is damaged, or not in this log. */
export async function findState(log: ConversationLog, id: string): Promise<StateOf | null> {
  const state = (await log.find(id)) ? await unlessDamaged(readState(log, id)) : null
  return state && { id, state }
}

/** Returns the value, or null if the conversation is damaged. */
export async function unlessDamaged<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof DamagedError) return null
    throw error
  }
}

/** Returns the state of a conversation, folded from its log. */
export async function readState(log: ConversationLog, id: string): Promise<ConversationState> {
  const folding = createFold()
  for await (const record of readAll(log, id)) folding.apply(record)
  return folding.state
}

/**
 * Returns where the value of a reference came from, read from the log alone; null if the reference names nothing.
 *
 * @throws ByrefError `conversation_not_found`
 */
export async function readLineage(
  log: ConversationLog,
  conversation: string,
  ref: string,
): Promise<Lineage | null> {
  const { createLineage } = await import('../core/labels/lineage.ts')
  const graph = createLineage()
  let exists = false
  for await (const record of readAll(log, conversation)) {
    exists = true
    graph.apply(record)
  }
  if (!exists) throw notFoundError(conversation)
  return graph.lineage(ref)
}
