import type { RunState } from '../content/conversation-state.ts'
import type { ConversationEvent, FinishReason, TokenUsage } from '../content/events.ts'
import type { Foldable } from '../content/fold.ts'
import type { Message } from '../content/message.ts'
import { ByrefError, type ByrefErrorCode } from '../errors.ts'
import { eventQueue } from './event-queue.ts'
import { isRunEnd } from './follow-up.ts'
import type { Thread } from './thread.ts'

/** How a run ended. */
export interface RunResult {
  /** What the agent said last; empty where it did not come to an answer. */
  text: string
  reason: FinishReason
  usage: TokenUsage
  conversation: string
}

/**
 * One run, which goes on whether or not anybody watches, in this process or another. Iterating it gives its events, from
 * the first; of what only streams, what comes from then on. The bodies of new assets are read by `assets`, or in `callbacks.onEvent`.
 */
export interface Run extends AsyncIterable<ConversationEvent> {
  /** The run's id; empty while it is not known which run takes the messages. */
  readonly id: string
  readonly conversation: string
  /** The ids of the messages that it was given; empty until they are in the log. */
  readonly messageIds: readonly string[]
  /**
   * Resolves when the run has ended, which may be days later where it waits for a person; rejects with the ByrefError of
   * a `RUN_ERROR`, and with `interrupted` where the agent was closed before.
   */
  readonly result: Promise<RunResult>
  /** The conversation's messages so far. */
  readonly messages: readonly Message[]
  /** Ends the run, in whichever process it is. */
  cancel(): void
}

/** Follows one run by what its conversation tells. */
export interface RunFollower {
  readonly events: AsyncIterable<ConversationEvent>
  readonly result: Promise<RunResult>
  /** Begins to watch, for the run of this id and, before it starts, what comes in for it. */
  watch(thread: Thread, target: FollowedRun): void
  /** The run has ended before. */
  settle(run: RunState, text: string, conversation: string): void
  /** There is nothing to follow, or not any more. */
  fail(error: unknown): void
}

/** Which run is followed. */
export interface FollowedRun {
  /** May change until the run has started. */
  runId(): string
  isIncoming?(event: ConversationEvent): boolean
}

/** What a follower asks of its agent. */
export interface FollowOptions {
  /** Takes the error that ended the run in this process, with its cause. */
  takeFailure(runId: string): ByrefError | null
  /** Hears that it watches no more. */
  onEnd(): void
}

/** Makes a follower that watches nothing yet. */
export function followRun({ takeFailure, onEnd }: FollowOptions): RunFollower {
  const queue = eventQueue<ConversationEvent>()
  const { promise: result, resolve, reject } = Promise.withResolvers<RunResult>()
  result.catch(() => {})
  let unwatch = (): void => {}
  let started = false

  function finish(act: () => void): void {
    unwatch()
    onEnd()
    act()
  }

  async function end(thread: Thread, runId: string): Promise<void> {
    unwatch()
    queue.end()
    // The handlers of the last event may still fail.
    await thread.settled()
    const failure = takeFailure(runId)
    const run = thread.state.runs.findLast((one) => one.runId === runId)
    finish(() => {
      if (failure || !run) reject(failure ?? gone(thread.id))
      else settleWith(run, textOf(thread, run), thread.id)
    })
  }

  function settleWith(run: RunState, text: string, conversation: string): void {
    const { status, error, reason = 'done', usage } = run
    if (status !== 'failed') resolve({ text, reason, usage, conversation })
    else
      reject(new ByrefError((error?.code ?? 'run_failed') as ByrefErrorCode, error?.message ?? ''))
  }

  return {
    events: queue,
    result,
    watch(thread, { runId, isIncoming }) {
      const isUnderWay = (): boolean => thread.state.runs.at(-1)?.runId === runId()
      unwatch = thread.watch(({ event, position }: Foldable) => {
        const keep = position !== undefined
        const isFirst = event.type === 'RUN_STARTED' && event.runId === runId()
        if (!started && !isFirst && isIncoming?.(event)) return queue.push(event, keep)
        started ||= isFirst || isUnderWay()
        if (!started) return
        queue.push(event, keep)
        if (isRunEnd(event) && event.runId === runId()) void end(thread, runId())
      })
      started = isUnderWay()
    },
    settle(run, text, conversation) {
      queue.end()
      finish(() => settleWith(run, text, conversation))
    },
    fail(error) {
      if (started) queue.end()
      else queue.fail(error)
      finish(() => reject(error))
    },
  }
}

/** What the run's last answer without calls says. */
export function textOf({ state }: Pick<Thread, 'state'>, { steps, reason }: RunState): string {
  const last = steps.findLast(({ finishedAt }) => finishedAt !== undefined)
  if (!last || last.callIds.length > 0 || reason === 'cancelled') return ''
  const message = state.messages.findLast(({ id }) => id === last.messageId)
  return typeof message?.content === 'string' ? message.content : ''
}

function gone(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_not_found',
    `The conversation "${conversation}" was deleted while its run went on`,
  )
}
