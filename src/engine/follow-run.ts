import { ByrefError } from '../core/errors.ts'
import { isRunEnd, type RunState } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Foldable } from '../core/events/fold.ts'
import type { Message } from '../core/messages/message.ts'
import type { DeepPartial, OutputSchema } from './output/output-schema.ts'
import { type RunResult, runResult } from './run-result.ts'
import type { Session } from './session.ts'

/**
 * One run. It continues whether or not anybody follows it, in this process or another. Iterate it to read its
 * events from the first one. Events that only stream are given from that moment on. Read the bodies of new assets
 * with `assets`, or in `callbacks.onEvent`.
 */
export interface Run<Output = unknown> extends AsyncIterable<ConversationEvent> {
  /** The run's id; empty until a run has taken the messages. */
  readonly id: string
  readonly conversation: string
  /** The ids of the run's messages; empty until they are in the log. */
  readonly messageIds: readonly string[]
  /**
   * Resolves when the run has ended. If it waits for a person, that may be days later. Rejects with the ByrefError
   * of a `RUN_ERROR`, with `output_invalid` if the requested output is missing or invalid, and with `interrupted`
   * if the agent is closed first.
   */
  readonly result: Promise<RunResult<Output>>
  /** The model's text as it streams, for all steps. Iterate it at once: text that was missed comes in one piece. */
  readonly textStream: AsyncIterable<string>
  /**
   * The JSON of the answer while it streams, for a run with `output`: the value so far, which is not validated yet.
   * `result` has the whole, valid value.
   */
  readonly partialOutputStream: AsyncIterable<DeepPartial<Output>>
  /** Returns the conversation's messages so far. */
  readonly messages: readonly Message[]
  /** Cancels the run, in whichever process it is. */
  cancel(): void
}

/** Follows one run through the events of its conversation. */
export interface RunFollower {
  readonly events: AsyncIterable<ConversationEvent>
  readonly result: Promise<RunResult<unknown>>
  /** Starts to listen, for the run with this id and for the messages queued for it. */
  watch(session: Session, target: FollowedRun): void
  /** Checks whether the run has ended. Call it if the run's id became known after `watch`. */
  look(session: Session, runId: string): void
  /** Reports a run that has ended before. */
  settle(session: Pick<Session, 'id' | 'state'>, run: RunState): void
  /** Ends with an error. */
  fail(error: unknown): void
}

/** The run that is followed. */
export interface FollowedRun {
  /** The run's id. It may change until the run has started. */
  runId(): string
  /** The messages that wait for it. If they are deleted before it starts, it is cancelled. */
  messageIds?: readonly string[]
  isIncoming?(event: ConversationEvent): boolean
}

/** Options of a follower. */
export interface FollowOptions {
  /** Returns the error that ended the run in this process, with its cause. */
  takeFailure(runId: string): ByrefError | null
  /** Called when the follower has stopped listening. */
  onEnd(): void
  /** The output schema of the caller. */
  output?: OutputSchema
}

/** Creates a follower. It listens once `watch` is called. */
export function followRun({ takeFailure, onEnd, output }: FollowOptions): RunFollower {
  const queue = eventQueue<ConversationEvent>()
  const { promise: result, resolve, reject } = Promise.withResolvers<RunResult<unknown>>()
  result.catch(() => {})
  let unwatch = (): void => {}
  let started = false
  let isEnding = false

  function finish(act: () => void): void {
    unwatch()
    onEnd()
    act()
  }

  async function end(session: Session, runId: string): Promise<void> {
    unwatch()
    queue.end()
    // An event handler of the last event may still fail.
    await session.settled()
    const failure = takeFailure(runId)
    const run = runOf(session, runId)
    finish(() => {
      if (failure || !run) reject(failure ?? deletedError(session.id))
      else settleWith(session, run)
    })
  }

  function endSoon(session: Session, runId: string): void {
    if (isEnding) return
    isEnding = true
    end(session, runId).catch(reject)
  }

  function settleWith(session: Pick<Session, 'id' | 'state'>, run: RunState): void {
    runResult<unknown>(session, run, output).then(resolve, reject)
  }

  return {
    events: queue,
    result,
    watch(session, { runId, messageIds = [], isIncoming }) {
      const isUnderWay = (): boolean => session.state.runs.at(-1)?.runId === runId()
      const isDropped = (): boolean =>
        !session.state.inbox.some(({ message }) => messageIds.includes(message.id))
      unwatch = session.watch(({ event, position }: Foldable) => {
        const keep = position !== undefined
        const isFirst = event.type === 'RUN_STARTED' && event.runId === runId()
        if (!started && !isFirst && isIncoming?.(event)) return queue.push(event, keep)
        started ||= isFirst || isUnderWay()
        const isDeletion = event.type === 'MESSAGE_DELETED' && messageIds.includes(event.messageId)
        if (!started && isDeletion && isDropped()) {
          queue.end()
          finish(() => settleWith(session, cancelledRun(runId(), messageIds)))
        }
        if (!started) return
        queue.push(event, keep)
        if (isRunEnd(event) && event.runId === runId()) endSoon(session, event.runId)
      })
      started = isUnderWay()
    },
    look(session, runId) {
      const run = runOf(session, runId)
      if (run && run.status !== 'running') endSoon(session, runId)
    },
    settle(session, run) {
      queue.end()
      finish(() => settleWith(session, run))
    },
    fail(error) {
      if (started) queue.end()
      else queue.fail(error)
      finish(() => reject(error))
    },
  }
}

/** Returns a run whose messages were deleted before it started. */
function cancelledRun(runId: string, messageIds: readonly string[]): RunState {
  return {
    runId,
    messageIds,
    status: 'finished',
    reason: 'cancelled',
    owner: '',
    startedAt: '',
    claims: 0,
    usage: { inputTokens: null, outputTokens: null },
    steps: [],
    waitedMs: 0,
  }
}

function runOf({ state }: Session, runId: string): RunState | undefined {
  return state.runs.findLast((one) => one.runId === runId)
}

function deletedError(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_not_found',
    `The conversation "${conversation}" was deleted during its run`,
  )
}

/** A queue of values that one side pushes and others iterate. */
export interface EventQueue<T> extends AsyncIterable<T> {
  /** With `keep`, iterators that start later get the value too. Otherwise only current iterators get it. */
  push(value: T, keep: boolean): void
  end(): void
  /** Ends the queue with an error, which every iterator throws. */
  fail(error: unknown): void
}

interface Reader<T> {
  values: T[]
  wake(): void
}

/** Creates an unbounded queue, so that a run never waits for its followers. */
export function eventQueue<T>(): EventQueue<T> {
  const kept: T[] = []
  const readers = new Set<Reader<T>>()
  let state: 'open' | 'ended' | { error: unknown } = 'open'

  async function* iterate(reader: Reader<T>): AsyncGenerator<T> {
    try {
      for (;;) {
        const values = reader.values.splice(0)
        for (const value of values) yield value
        // No `await` may come between this check and the wait below.
        if (reader.values.length > 0) continue
        if (typeof state === 'object') throw state.error
        if (state === 'ended') return
        await new Promise<void>((resolve) => {
          reader.wake = resolve
        })
      }
    } finally {
      readers.delete(reader)
    }
  }

  function end(next: typeof state): void {
    if (state === 'open') state = next
    for (const reader of readers) reader.wake()
  }

  return {
    push(value, keep) {
      if (keep) kept.push(value)
      for (const reader of readers) {
        reader.values.push(value)
        reader.wake()
      }
    },
    end: () => end('ended'),
    fail: (error) => end({ error }),
    [Symbol.asyncIterator]() {
      const reader: Reader<T> = { values: [...kept], wake() {} }
      readers.add(reader)
      return iterate(reader)
    },
  }
}
