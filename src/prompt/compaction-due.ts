import type { CompactionReason } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import type { PromptBudget } from './plan-compaction.ts'
import { attachedTo, lastStep, promptTokens, type SizedState } from './prompt-size.ts'
import type { Transcript } from './transcript.ts'

/** The input of {@link compactionDue}. */
export interface CompactionQuestion {
  budget: PromptBudget
  /** The time, in milliseconds since 1970. */
  now: number
  /** Messages after those of the state. */
  pending?: readonly Message[]
}

/** Time after the last answer when the provider's cache has expired, in milliseconds. */
const COLD_MS = 5 * 60_000

/** How far the prompt must grow after a compaction before its size causes another, as a share of the budget. */
const GROWTH = 0.1

/** Minimum number of tokens of replaced data for a compaction while the provider's cache is cold. */
const STALE_TOKENS = 200

/** Why the next prompt must be compacted before it is sent, or null. */
export function compactionDue(
  transcript: Transcript,
  state: SizedState,
  { budget, now, pending = [] }: CompactionQuestion,
): CompactionReason | null {
  const last = pending.at(-1) ?? state.messages.at(-1)
  if (!last || last.id === state.compaction?.through) return null
  const { stale, bodies, tokens, base } = transcript.shown
  const isGrown = base === 0 || tokens - base > budget.tokens * GROWTH
  if (isGrown && promptTokens(transcript, state, pending) > budget.tokens) return 'size'
  const parts = bodies.parts + pending.reduce((sum, one) => sum + attachedTo(one), 0)
  if (parts > budget.mediaParts || bodies.bytes > budget.mediaBytes) return 'media'
  const asked = lastStep(state.runs)?.finishedAt
  const isCold = asked !== undefined && now - Date.parse(asked) > COLD_MS
  return isCold && stale > STALE_TOKENS ? 'cold' : null
}
