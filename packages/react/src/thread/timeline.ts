import type { ConversationState, Message, RunState } from 'byref/client'
import { isDeleted, readMetadata } from 'byref/client'
import { isBlock } from '../references/data-block.ts'
import { callBehind, earlyResults } from './open-answer.ts'
import { placeMedia } from './place-media.ts'
import type { StepItem, TimelineItem } from './timeline-item.ts'

const MINUTE = 60_000

/** Minimum number of steps in a row that are folded into one entry. */
const LOOP = 5

/**
 * Returns the entries of the thread from durable events: messages that were not deleted, steps with their results,
 * groups of `log` messages, and runs that ended early. A message has a header unless the previous one is by the same
 * sender within a minute.
 */
export function timeline(
  state: Pick<ConversationState, 'messages' | 'runs' | 'calls'>,
): TimelineItem[] {
  const items: TimelineItem[] = []
  const asides = [...endedRuns(state.runs), ...lostCalls(state)].sort((a, b) => a.at - b.at)
  const runOf = new Map(
    state.runs.flatMap(({ messageIds }, index) => messageIds.map((id) => [id, index] as const)),
  )
  // They are shown below the streaming answer.
  const early = new Set(earlyResults(state))
  let speaker: Speaker | null = null
  for (const message of state.messages) {
    if (early.has(message) || isDeleted(message)) continue
    const at = Date.parse(message.timestamp)
    // A message that waited for the run is older than its end.
    const run = runOf.get(message.id) ?? -1
    while (asides[0] && (asides[0].at < at || asides[0].run < run)) {
      items.push(asides.shift()?.item as TimelineItem)
      speaker = null
    }
    if (isLog(message)) {
      const last = items.at(-1)
      if (last?.type === 'logs') last.messages.push(message)
      else items.push({ type: 'logs', key: `logs-${message.id}`, messages: [message] })
      continue
    }
    if (isAside(message)) {
      const last = items.at(-1)
      if (last?.type === 'step' && isCallOf(last.message, callBehind(message))) {
        last.asides.push(message)
      } else items.push({ type: 'message', key: message.id, message, header: false })
      continue
    }
    const next = speakerOf(message, at)
    const entry = { key: message.id, message, header: !continues(speaker, next) }
    const isStep = readMetadata(message).calls.length > 0
    items.push(
      isStep ? { type: 'step', ...entry, asides: [], media: [] } : { type: 'message', ...entry },
    )
    speaker = next
  }
  placeMedia(items)
  return [...foldLoops(items), ...asides.map(({ item }) => item)]
}

/** Puts steps that repeat into one entry. A step that failed, has no result or shows a file stays by itself. */
function foldLoops(items: readonly TimelineItem[]): TimelineItem[] {
  const folded: TimelineItem[] = []
  let loop: StepItem[] = []
  function endLoop(): void {
    const [first] = loop
    if (first && loop.length >= LOOP)
      folded.push({ type: 'loop', key: `loop-${first.key}`, steps: loop })
    else folded.push(...loop)
    loop = []
  }
  for (const item of items) {
    const tools = item.type === 'step' ? repeatable(item) : null
    const goesOn = tools !== null && loop[0] !== undefined && repeatable(loop[0]) === tools
    if (!goesOn) endLoop()
    if (item.type === 'step' && tools !== null) loop.push(item)
    else folded.push(item)
  }
  endLoop()
  return folded
}

/** Returns the tools of a step that can be part of a loop, as one text. Null for any other step. */
function repeatable({ message, asides, media }: StepItem): string | null {
  const { calls } = readMetadata(message)
  const results = asides.flatMap((aside) => readMetadata(aside).result ?? [])
  const isOrdinary = results.length === calls.length && results.every(({ error }) => error === null)
  return isOrdinary && media.length === 0 ? JSON.stringify(calls.map(({ name }) => name)) : null
}

/** Returns whether a message is folded away: it has the type `log`, and is neither call nor result. */
function isLog(message: Message): boolean {
  const { calls, result } = readMetadata(message)
  return message.message_type === 'log' && calls.length === 0 && !result
}

function isCallOf(message: Message, callId: string | undefined): boolean {
  return readMetadata(message).calls.some(({ id }) => id === callId)
}

interface Speaker {
  id: string
  at: number
}

/** Returns whether a message has its own form without a header: results and data. */
export function isAside(message: Message): boolean {
  return isBlock(message) || readMetadata(message).result !== null
}

function speakerOf(message: Message, at: number): Speaker {
  const { participant_id, participant_role, name } = message.sender ?? {}
  const { attribution } = readMetadata(message)
  const id = JSON.stringify([
    participant_id,
    participant_role,
    name,
    attribution,
    message.message_type,
  ])
  return { id, at }
}

function continues(before: Speaker | null, next: Speaker): boolean {
  return before?.id === next.id && next.at - before.at < MINUTE
}

/** Something that belongs between messages. */
interface Aside {
  /** When, in milliseconds since 1970. */
  at: number
  /** The index of the run that it ends; infinite if it ends none. */
  run: number
  item: TimelineItem
}

function endedRuns(runs: readonly RunState[]): Aside[] {
  return runs
    .map((run, index) => ({ run, index }))
    .filter(
      ({ run: { status, reason } }) =>
        status === 'failed' || (reason !== undefined && reason !== 'done'),
    )
    .map(({ run, index }) => ({
      at: Date.parse(run.finishedAt ?? run.startedAt),
      run: index,
      item: { type: 'run-end', key: `run-${run.runId}`, run },
    }))
}

function lostCalls(state: Pick<ConversationState, 'messages' | 'calls'>): Aside[] {
  const written = new Set(state.messages.map(({ id }) => id))
  const lost = Object.values(state.calls).filter(
    ({ status, parentMessageId }) => status === 'unanswered' && !written.has(parentMessageId),
  )
  const groups = Map.groupBy(lost, ({ parentMessageId }) => parentMessageId)
  return [...groups].map(([id, calls]) => ({
    at: Date.parse(calls[0]?.startedAt ?? '') || 0,
    run: Number.POSITIVE_INFINITY,
    item: { type: 'lost-calls', key: `lost-${id}`, calls },
  }))
}
