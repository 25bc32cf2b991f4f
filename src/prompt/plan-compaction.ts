import type { Compaction, CompactionReason } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import { isDeleted } from '../core/messages/tombstone.ts'
import { countShown, isAsked, isSystem } from './place-compact.ts'
import { createTranscript, type PromptConversation, type TranscriptOptions } from './transcript.ts'
import { bytesSent, mediaOfItem, type TranscriptItem } from './transcript-item.ts'

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
  /** About how many tokens are shown now. */
  tokens: number
  /** How many tokens the prompt really has for each that is estimated; 1 where nothing is known. */
  density: number
  /** Bodies that are not there any more, by reference. */
  gone: ReadonlySet<string>
  /** Says in short what messages said that are left out. Default: only their number is told. */
  summarize?(input: SummaryInput): string | Promise<string>
}

/**
 * Decides how what there is by now is shown from now on: data merged, media within their budget, and where that
 * is not enough for half of the tokens, older results by their names, then the oldest messages left out. The messages of
 * the last step are always shown as they are.
 */
export async function planCompaction(
  conversation: PromptConversation,
  { reason, budget, transcript, tokens: now, density, gone, summarize }: CompactionPlan,
): Promise<Compaction | null> {
  const { messages, compaction: before } = conversation.state
  const last = messages.at(-1)
  if (!last) return null
  const plan: Compaction = {
    reason,
    through: last.id,
    from: before?.from ?? null,
    wholeFrom: before?.wholeFrom ?? null,
    pinned: pinnedIn(conversation.state),
    ...(before?.summary === undefined ? {} : { summary: before.summary }),
    media: before?.media ?? null,
  }
  const tokensOf = (trial: Compaction): number => trialOf(conversation, transcript, trial).tokens
  const target = budget.tokens / 2 / density
  const starts = messages.flatMap((message, i) => (isStart(message) ? [i] : []))
  const lastAnswer = messages.findLastIndex(isAnswer)
  let tokens = tokensOf(plan)
  const shrink = (key: 'wholeFrom' | 'from'): void => {
    if (tokens <= target) return
    const first = messages.findIndex(({ id }) => id === plan[key])
    // What the last answer called for was not shown yet.
    const most = key === 'wholeFrom' ? lastAnswer : messages.length
    const candidates = starts.filter((i) => i > first && i <= most)
    const fits = (i: number): boolean => tokensOf({ ...plan, [key]: idAt(messages, i) }) <= target
    const start = firstWhere(candidates, fits) ?? candidates.at(-1)
    if (start === undefined) return
    plan[key] = idAt(messages, start)
    tokens = tokensOf(plan)
  }
  shrink('wholeFrom')
  shrink('from')
  if (reason === 'size' && tokens > now * 0.9) return null
  if (summarize && plan.from !== (before?.from ?? null)) {
    const left = newlyLeft(messages, before?.from ?? null, plan.from)
    const text = await summaryOf(summarize, left, before?.summary?.text ?? null)
    if (text !== null) {
      plan.summary = { text, messages: (before?.summary?.messages ?? 0) + countShown(left) }
    }
  }
  return { ...plan, media: mediaWithin(conversation, plan, { budget, transcript, gone }) }
}

/** A summary; null where there is none to be had: then only the number of messages is told. */
async function summaryOf(
  summarize: NonNullable<CompactionPlan['summarize']>,
  messages: readonly Message[],
  previous: string | null,
): Promise<string | null> {
  try {
    return String(await summarize({ messages, previous }))
  } catch {
    return null
  }
}

/** What the open run answers, and what the system said since it began. */
function pinnedIn({ messages, runs = [] }: PromptConversation['state']): string[] {
  const run = runs.at(-1)
  const first = messages.findIndex(({ id }) => run?.messageIds.includes(id))
  if (run?.status !== 'running' || first === -1) return []
  return messages.slice(first).flatMap((one) => (isAsked(one) || isSystem(one) ? one.id : []))
}

function isAnswer(message: Message): boolean {
  return message.sender.participant_role === 'assistant' && !isDeleted(message)
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
  const named = trialOf({ state: current, board }, transcript, null).items.flatMap(mediaOfItem)
  const own = new Set(named.map(({ ref }) => ref)).size
  const refs = [...new Set(all.toReversed().map(({ ref }) => ref))].filter((ref) => !gone.has(ref))
  const bytesOf = new Map(all.map((part) => [part.ref, bytesSent(part)]))
  // Where what is new fills the budget, room is left for what comes next.
  const share = own > budget.mediaParts ? 0.75 : 1
  const kept: string[] = []
  let bytes = 0
  for (const ref of refs) {
    const part = kept.length < own ? share : 0.5
    bytes += bytesOf.get(ref) ?? 0
    if (kept.length + 1 > budget.mediaParts * part || bytes > budget.mediaBytes * part) break
    kept.push(ref)
  }
  return kept.length === bytesOf.size ? null : kept
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
  return isAnswer(message) || isAsked(message)
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
