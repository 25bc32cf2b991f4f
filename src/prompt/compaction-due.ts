import type { CompactionReason } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import type { PromptBudget } from './plan-compaction.ts'
import { attachedTo, lastStep, promptTokens, type SizedState } from './prompt-size.ts'
import type { Transcript } from './transcript.ts'

/** What says whether a compaction is due. */
export interface CompactionQuestion {
  budget: PromptBudget
  /** The time, in milliseconds since 1970. */
  now: number
  /** Messages that come behind those of the state. */
  pending?: readonly Message[]
}

/** So long after the last answer a provider has forgotten what it was sent, in milliseconds. */
const COLD_MS = 5 * 60_000

/** The share of the budget by which what stands behind a compaction has grown before there is another for its size. */
const GROWTH = 0.1

/** Tokens of data that later writes have replaced, which are worth a compaction that costs nothing. */
const STALE_TOKENS = 200

/** Why the next prompt is to be compacted before it is sent (spec L9); null where it is not. */
export function compactionDue(
  transcript: Transcript,
  state: SizedState,
  { budget, now, pending = [] }: CompactionQuestion,
): CompactionReason | null {
  const last = [...state.messages.slice(-1), ...pending].at(-1)
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
