import type { ConversationState, StepState } from '../core/events/conversation-state.ts'
import type { CompactionReason } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import { estimateTokens } from '../core/messages/metas-block.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import type { PromptBudget } from './plan-compaction.ts'
import type { Transcript } from './transcript.ts'
import { isBody, jsonTokens, MEDIA_TOKENS } from './transcript-item.ts'

/** The parts of a conversation's state that determine the length of its prompt. */
export type SizedState = Pick<ConversationState, 'messages' | 'runs' | 'compaction'> &
  Partial<Pick<ConversationState, 'deletion'>>

/**
 * Estimates the number of tokens of the next prompt: the last count of the provider, plus an estimate of everything
 * since.
 */
export function promptTokens(
  transcript: Pick<Transcript, 'shown' | 'messages'>,
  { messages, runs, compaction, deletion }: SizedState,
  pending: readonly Message[] = [],
): number {
  const queued = tokensOf(pending)
  const estimated = transcript.shown.tokens + tokensOf(messages.slice(transcript.messages)) + queued
  const step = lastStep(runs)
  const { inputTokens, outputTokens } = step?.usage ?? {}
  // A count from before a compaction or a deletion is outdated. That of several requests is no size.
  const isOutdated = [compaction, deletion].some((one) => one && one.afterStep === step?.messageId)
  if (!step || !inputTokens || isOutdated || step.requests !== undefined) return estimated
  const since = tokensOf(sinceStep(messages, step)) + queued
  // Use at least half of the estimate, in case the provider's count leaves something out.
  return Math.max(inputTokens + (outputTokens ?? 0) + since, estimated / 2)
}

/** Returns the last step that has finished; null if there is none. */
export function lastStep(runs: ConversationState['runs']): StepState | null {
  for (const { steps } of runs.slice(-2).reverse()) {
    const step = steps.findLast(({ finishedAt }) => finishedAt !== undefined)
    if (step) return step
  }
  return null
}

function sinceStep(messages: readonly Message[], { messageId }: StepState): readonly Message[] {
  let start = messages.length
  while (start > 0 && messages[start - 1]?.id !== messageId) start--
  return start === 0 ? [] : messages.slice(start)
}

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, one) => sum + messageTokens(one), 0)
}

function messageTokens(message: Message): number {
  const { content, message_type: type } = message
  if (type === 'log' || content === null || content === undefined) return 0
  const isText = typeof content === 'string'
  const tokens = isText ? estimateTokens(content) : jsonTokens(content)
  return tokens + attachedTo(message) * MEDIA_TOKENS.image
}

/** Returns the number of attachments of a message. */
function attachedTo({ metadata }: Message): number {
  const attached: unknown = metadata?.attachments
  return Array.isArray(attached) ? attached.length : 0
}

/** The input of {@link compactionDue}. */
export interface CompactionQuestion {
  budget: PromptBudget
  /** The time, in milliseconds since 1970. */
  now: number
  /** Messages that come after those of the state. */
  pending?: readonly Message[]
}

/** Time after which the provider's cache of the last prompt has expired, in milliseconds. */
const COLD_MS = 5 * 60_000

/** How much the prompt must grow after a compaction before its size causes another, as a share of the budget. */
const GROWTH = 0.1

/** Minimum number of tokens of outdated data for a compaction when the provider's cache has expired. */
const STALE_TOKENS = 200

/** Returns why the next prompt must be compacted before it is sent, or null. */
export function compactionDue(
  transcript: Transcript,
  state: SizedState,
  { budget, now, pending = [] }: CompactionQuestion,
): CompactionReason | null {
  const last = pending.at(-1) ?? state.messages.at(-1)
  if (!last || last.id === state.compaction?.through) return null
  const { stale, bodies, tokens, base } = transcript.shown
  const isGrown = base === 0 || tokens + tokensOf(pending) - base > budget.tokens * GROWTH
  if (isGrown && promptTokens(transcript, state, pending) > budget.tokens) return 'size'
  const queued = pending.flatMap((one) => readMetadata(one).attachments.filter(isBody))
  const parts = bodies.parts + queued.length
  if (parts > budget.mediaParts || bodies.bytes > budget.mediaBytes) return 'media'
  const lastAnswer = lastStep(state.runs)?.finishedAt
  const isCold = lastAnswer !== undefined && now - Date.parse(lastAnswer) > COLD_MS
  return isCold && stale > STALE_TOKENS ? 'cold' : null
}
