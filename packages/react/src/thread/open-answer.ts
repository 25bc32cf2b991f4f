import {
  type CallState,
  type ConversationState,
  type Message,
  openRun,
  readMetadata,
} from 'byref/client'
import { readBlock } from '../references/data-block.ts'
import { callsOf } from './run-phase.ts'

/** An answer that is streaming and not yet a message. */
export interface OpenAnswer {
  /** The id of the message that it will become. */
  id: string
  text: string
  calls: CallState[]
  /** The results of its first calls. In the conversation they will follow the answer. */
  results: Message[]
}

/** Returns the answer that is streaming now, or null. */
export function openAnswer(
  state: Pick<ConversationState, 'messages' | 'runs' | 'calls' | 'streaming'>,
): OpenAnswer | null {
  const step = openRun(state)?.steps.at(-1)
  if (!step || step.finishedAt !== undefined) return null
  const { messageId } = step
  return {
    id: messageId,
    text: state.streaming[messageId] ?? '',
    calls: callsOf(state, step),
    results: earlyResults(state),
  }
}

/** Returns the results, and the data written with them, of an answer that is still streaming. */
export function earlyResults(state: Pick<ConversationState, 'messages' | 'runs'>): Message[] {
  const run = openRun(state)
  const step = run?.steps.at(-1)
  if (!run || !step || step.finishedAt !== undefined || step.callIds.length === 0) return []
  const own = new Set<unknown>(step.callIds)
  const before = run.steps.at(-2)?.messageId ?? run.messageIds.at(-1)
  const start = state.messages.findLastIndex(({ id }) => id === before) + 1
  return state.messages.slice(start).filter((message) => own.has(callBehind(message)))
}

/** Returns the id of the call whose result this is, or that wrote it. */
export function callBehind(message: Message): string | undefined {
  const { result } = readMetadata(message)
  return result?.callId ?? (message.content_type === 'data' ? readBlock(message)._call : undefined)
}
