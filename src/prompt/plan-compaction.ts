import { countWhile } from '../core/board/versioned.ts'
import type { Compaction, CompactionReason } from '../core/events/events.ts'
import { isDeleted, type Message } from '../core/messages/message.ts'
import { isAsked, isSystem, leftOut } from './place-compact.ts'
import { type PromptConversation, Transcript, type TranscriptOptions } from './transcript.ts'
import { bytesSent, isBody, mediaOfItem, type TranscriptItem } from './transcript-item.ts'

/** The limits of a prompt. */
export interface PromptBudget {
  /** Maximum number of tokens. Above it, the prompt is compacted to half of it. */
  tokens: number
  /** Maximum number of bodies in one call. */
  mediaParts: number
  /** Maximum size of these bodies together, in bytes. */
  mediaBytes: number
}

/** The input of `summarize`. */
export interface SummaryInput {
  /** The messages that this compaction leaves out, oldest first. */
  messages: readonly Message[]
  /** The summary of messages that were left out before; null if there is none. */
  previous: string | null
}

/** Options of {@link planCompaction}. */
export interface CompactionPlan {
  reason: CompactionReason
  budget: PromptBudget
  transcript: TranscriptOptions
  /** The estimated number of tokens before the compaction. */
  tokens: number
  /** The ratio of counted to estimated tokens; 1 if it is unknown. */
  density: number
  /** References of bodies that no longer exist. */
  gone: ReadonlySet<string>
  /** Summarizes the messages that are left out. Default: the prompt only says how many there were. */
  summarize?(input: SummaryInput): string | Promise<string>
}

/**
 * Plans how the conversation so far is shown from now on. Data is merged and files are cut to their budget. If the
 * prompt is still above half of the token limit, older results are replaced by their names, and then the oldest
 * messages are left out. The messages of the last step are always shown in full.
 */
export async function planCompaction(
  conversation: PromptConversation,
  { reason, budget, transcript, tokens: current, density, gone, summarize }: CompactionPlan,
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
  const trials = { messages, tokensOf, target: budget.tokens / 2 / density }
  const byName = shrink({ plan, tokens: tokensOf(plan) }, 'wholeFrom', trials)
  const { plan: shrunk, tokens } = shrink(byName, 'from', trials)
  if (reason === 'size' && tokens > current * 0.9) return null
  const summary = summarize && (await summaryOf(summarize, messages, { before, plan: shrunk }))
  const final = summary ? { ...shrunk, summary } : shrunk
  return { ...final, media: mediaWithin(conversation, final, { budget, transcript, gone }) }
}

/** A plan, and the number of tokens of its prompt. */
interface SizedPlan {
  plan: Compaction
  tokens: number
}

/** The input that {@link shrink} tries plans with. */
interface Trials {
  messages: readonly Message[]
  /** The number of tokens that the prompt should have at most. */
  target: number
  tokensOf(plan: Compaction): number
}

/** Moves `wholeFrom` or `from` forward until the prompt is short enough, or as far as possible. */
function shrink(
  sized: SizedPlan,
  key: 'wholeFrom' | 'from',
  { messages, target, tokensOf }: Trials,
): SizedPlan {
  const { plan, tokens } = sized
  if (tokens <= target) return sized
  const first = messages.findIndex(({ id }) => id === plan[key])
  // The model has not seen the results of the last answer yet.
  const last = key === 'wholeFrom' ? messages.findLastIndex(isAnswer) : messages.length
  const candidates = messages.flatMap((message, i) =>
    i > first && i <= last && isStart(message) ? [i] : [],
  )
  const startingAt = (i: number): Compaction => ({ ...plan, [key]: (messages[i] as Message).id })
  // If one candidate is short enough, all after it are.
  const tooLong = countWhile(candidates, (i) => tokensOf(startingAt(i)) > target)
  const start = candidates[tooLong] ?? candidates.at(-1)
  if (start === undefined) return sized
  const shrunk = startingAt(start)
  return { plan: shrunk, tokens: tokensOf(shrunk) }
}

/**
 * Returns a summary of the messages that a plan leaves out. Null if there are no more of them than before, or if
 * `summarize` fails. Then the prompt only says how many messages are omitted.
 */
async function summaryOf(
  summarize: NonNullable<CompactionPlan['summarize']>,
  messages: readonly Message[],
  { before, plan }: { before: Compaction | null; plan: Compaction },
): Promise<NonNullable<Compaction['summary']> | null> {
  const known = new Set(before && leftOut(messages, before))
  const omitted = leftOut(messages, plan).filter((one) => !known.has(one))
  if (omitted.length === 0) return null
  const { text: previous = null, messages: count = 0 } = before?.summary ?? {}
  try {
    const text = String(await summarize({ messages: omitted, previous }))
    return { text, messages: count + omitted.length }
  } catch {
    return null
  }
}

/**
 * Returns the messages that the open run answers, and the system's messages since it started. If they begin with a
 * history, only those after its last answer.
 */
function pinnedIn({ messages, runs = [] }: PromptConversation['state']): string[] {
  const run = runs.at(-1)
  const asked = new Set(run?.messageIds)
  const answered = messages.findLastIndex((one) => asked.has(one.id) && isAnswer(one))
  const first = messages.findIndex(({ id }, i) => i > answered && asked.has(id))
  if (run?.status !== 'running' || first === -1) return []
  return messages.slice(first).flatMap((one) => (isAsked(one) || isSystem(one) ? one.id : []))
}

function isAnswer(message: Message): boolean {
  return message.sender.participant_role === 'assistant' && !isDeleted(message)
}

/** Returns the transcript that a plan would produce. */
function trialOf(
  { state, board }: PromptConversation,
  options: TranscriptOptions,
  plan: Compaction | null,
): { tokens: number; items: readonly TranscriptItem[] } {
  const trial = new Transcript(options)
  trial.update({ state: { ...state, compaction: plan && { ...plan, afterStep: null } }, board })
  return trial.shown
}

/**
 * Selects the files that are still sent. Files of the last question, or newer ones, may fill the whole budget.
 * Older ones may fill half of it, so that there is room for more. Null if all files are kept.
 */
function mediaWithin(
  conversation: PromptConversation,
  plan: Compaction,
  { budget, transcript, gone }: Pick<CompactionPlan, 'budget' | 'transcript' | 'gone'>,
): readonly string[] | null {
  const { state, board } = conversation
  const whole = trialOf(conversation, transcript, { ...plan, media: null })
  const { accepts = () => true } = transcript
  const bodiesOf = (item: TranscriptItem) => mediaOfItem(item).filter(isBody)
  const bodies = whole.items.flatMap(bodiesOf)
  const all = bodies.filter(accepts)
  const asked = Math.max(0, state.messages.findLastIndex(isAsked))
  const current = { ...state, messages: state.messages.slice(asked), assetsAfter: [] }
  const recent = trialOf({ state: current, board }, transcript, null)
  const named = recent.items.flatMap(bodiesOf).filter(accepts)
  const distinct = new Set(named.map(({ ref }) => ref)).size
  const refs = [...new Set(all.toReversed().map(({ ref }) => ref))].filter((ref) => !gone.has(ref))
  const bytesOf = new Map(all.map((part) => [part.ref, bytesSent(part)]))
  // If the files since the last question fill the budget, leave room for those of the next steps.
  const share = distinct > budget.mediaParts && current.messages.some(isAnswer) ? 0.75 : 1
  const kept: string[] = []
  let bytes = 0
  for (const ref of refs) {
    const part = kept.length < distinct ? share : 0.5
    if (kept.length + 1 > budget.mediaParts * part) break
    const size = bytesOf.get(ref) ?? 0
    // A smaller file may still fit.
    if (bytes + size > budget.mediaBytes * part) continue
    bytes += size
    kept.push(ref)
  }
  if (kept.length === bytesOf.size) return null
  // Another model may accept the others.
  const others = bodies.flatMap((part) => (accepts(part) ? [] : part.ref))
  return [...kept, ...new Set(others)]
}

/**
 * Whether the shown messages may start at this message: at an answer, which its results follow, or at a user's message.
 */
function isStart(message: Message): boolean {
  return isAnswer(message) || isAsked(message)
}
