import type { Compaction, CompactionReason } from '../content/events.ts'
import type { Message } from '../content/message.ts'
import { isAsked } from './place-compact.ts'
import { createTranscript, type PromptConversation, type TranscriptOptions } from './transcript.ts'
import { mediaOfItem, type TranscriptItem } from './transcript-item.ts'

/** What a prompt may hold. */
export interface PromptBudget {
  /** Tokens, above which it is compacted to a half. */
  tokens: number
  /** Bodies sent in one call. */
  mediaParts: number
  /** Bytes of these bodies together. */
  mediaBytes: number
}

/** What a summary is made of. */
export interface SummaryInput {
  /** The messages that are left out from now on, oldest first. */
  messages: readonly Message[]
  /** What was said of those that were left out before; null for none. */
  previous: string | null
}

/** What a compaction is planned with. */
export interface CompactionPlan {
  reason: CompactionReason
  budget: PromptBudget
  transcript: TranscriptOptions
  /** Bodies that are not there any more, by reference. */
  gone: ReadonlySet<string>
  /** Says in short what messages said that are left out. Default: only their number is told. */
  summarize?(input: SummaryInput): string | Promise<string>
}

/**
 * Decides how what there is by now is shown from now on (spec L9): data merged, media within their budget, and where that
 * is not enough for half of the tokens, older results by their names, then the oldest messages left out. The messages of
 * the last step are always shown as they are.
 */
export async function planCompaction(
  conversation: PromptConversation,
  { reason, budget, transcript, gone, summarize }: CompactionPlan,
): Promise<Compaction | null> {
  const { messages, compaction: before } = conversation.state
  const last = messages.at(-1)
  if (!last) return null
  const plan: Compaction = {
    reason,
    through: last.id,
    from: before?.from ?? null,
    wholeFrom: before?.wholeFrom ?? null,
    ...(before?.summary === undefined ? {} : { summary: before.summary }),
    media: before?.media ?? null,
  }
  const tokensOf = (trial: Compaction): number => trialOf(conversation, transcript, trial).tokens
  const target = budget.tokens / 2
  const starts = messages.flatMap((message, i) => (isStart(message) ? [i] : []))
  const shrink = (key: 'wholeFrom' | 'from'): void => {
    const first = messages.findIndex(({ id }) => id === plan[key])
    const candidates = starts.filter((i) => i > first)
    const fits = (i: number): boolean => tokensOf({ ...plan, [key]: idAt(messages, i) }) <= target
    const start = firstWhere(candidates, fits) ?? candidates.at(-1)
    if (start !== undefined) plan[key] = idAt(messages, start)
  }
  if (tokensOf(plan) > target) shrink('wholeFrom')
  if (tokensOf(plan) > target) shrink('from')
  if (summarize && plan.from !== (before?.from ?? null)) {
    plan.summary = await summarize({
      messages: newlyLeft(messages, before?.from ?? null, plan.from),
      previous: before?.summary ?? null,
    })
  }
  return { ...plan, media: mediaWithin(conversation, plan, { budget, transcript, gone }) }
}

/** What would be shown. */
function trialOf(
  { state, board }: PromptConversation,
  options: TranscriptOptions,
  plan: Compaction | null,
): { tokens: number; items: readonly TranscriptItem[] } {
  const trial = createTranscript(options)
  trial.update({ state: { ...state, compaction: plan && { ...plan, afterStep: null } }, board })
  return trial.shown
}

/**
 * The bodies that are still sent: the newest that fit into half of the budget, so that there is room for more, and into
 * all of it those that came with the last question or since. Null where that is all of them.
 */
function mediaWithin(
  conversation: PromptConversation,
  plan: Compaction,
  { budget, transcript, gone }: Pick<CompactionPlan, 'budget' | 'transcript' | 'gone'>,
): readonly string[] | null {
  const { state, board } = conversation
  const all = trialOf(conversation, transcript, { ...plan, media: null }).items.flatMap(mediaOfItem)
  const asked = Math.max(0, state.messages.findLastIndex(isAsked))
  const current = { ...state, messages: state.messages.slice(asked), assetsAfter: [] }
  const own = trialOf({ state: current, board }, transcript, null).items.flatMap(mediaOfItem).length
  const kept = new Set<string>()
  let bytes = 0
  for (const [i, { ref, size = 0 }] of all.toReversed().entries()) {
    const share = i < own ? 1 : 0.5
    if (gone.has(ref) || kept.has(ref)) continue
    if (kept.size + 1 > budget.mediaParts * share) break
    if (bytes + size > budget.mediaBytes * share) break
    kept.add(ref)
    bytes += size
  }
  return all.every(({ ref }) => kept.has(ref)) ? null : [...kept]
}

/** The first candidate that fits, where all behind one that fits do too; undefined for none. */
function firstWhere(
  candidates: readonly number[],
  fits: (candidate: number) => boolean,
): number | undefined {
  let [low, high] = [0, candidates.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(candidates[middle] as number)) high = middle
    else low = middle + 1
  }
  return candidates[low]
}

/** Where what is shown may begin: at an answer, with its results behind it, or at somebody's words. */
function isStart(message: Message): boolean {
  return message.sender.participant_role === 'assistant' || isAsked(message)
}

function idAt(messages: readonly Message[], index: number): string {
  return (messages[index] as Message).id
}

function newlyLeft(
  messages: readonly Message[],
  before: string | null,
  from: string | null,
): readonly Message[] {
  const start = messages.findIndex(({ id }) => id === before)
  return messages.slice(
    Math.max(0, start),
    messages.findIndex(({ id }) => id === from),
  )
}
