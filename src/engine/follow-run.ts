import { ByrefError } from '../core/errors.ts'
import { isRunEnd, type RunState } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Foldable } from '../core/events/fold.ts'
import type { Message } from '../core/messages/message.ts'
import type { OutputSchema } from './output/output-schema.ts'
import { type RunResult, runResult } from './run-result.ts'
import type { Session } from './session.ts'

/**
 * One run, which goes on whether or not anybody watches, in this process or another. Iterating it gives its events, from
 * the first; of what only streams, what comes from then on. The bodies of new assets are read by `assets`, or in `callbacks.onEvent`.
 */
export interface Run<Output = unknown> extends AsyncIterable<ConversationEvent> {
  /** The run's id; empty while it is not known which run takes the messages. */
  readonly id: string
  readonly conversation: string
  /** The ids of the messages that it was given; empty until they are in the log. */
  readonly messageIds: readonly string[]
  /**
   * Resolves when the run has ended, which may be days later where it waits for a person; rejects with the ByrefError of
   * a `RUN_ERROR`, with `output_invalid` where an output was asked for and there is none, and with `interrupted` where the
   * agent was closed before.
   */
  readonly result: Promise<RunResult<Output>>
  /** What the model says, as it says it; the texts of all steps. Iterate it at once, or the first comes in one piece. */
  readonly textStream: AsyncIterable<string>
  /** The conversation's messages so far. */
  readonly messages: readonly Message[]
  /** Ends the run, in whichever process it is. */
  cancel(): void
}

/** Follows one run by what its conversation tells. */
export interface RunFollower {
  readonly events: AsyncIterable<ConversationEvent>
  readonly result: Promise<RunResult<unknown>>
  /** Begins to watch, for the run of this id and, before it starts, what comes in for it. */
  watch(session: Session, target: FollowedRun): void
  /** Looks whether the run has ended: to be called where its id became known after the watch began. */
  look(session: Session, runId: string): void
  /** The run has ended before. */
  settle(session: Pick<Session, 'id' | 'state'>, run: RunState): void
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
  /** What the caller asked for. */
  output?: OutputSchema
}

/** Makes a follower that watches nothing yet. */
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
    // The handlers of the last event may still fail.
    await session.settled()
    const failure = takeFailure(runId)
    const run = runOf(session, runId)
    finish(() => {
      if (failure || !run) reject(failure ?? gone(session.id))
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
    watch(session, { runId, isIncoming }) {
      const isUnderWay = (): boolean => session.state.runs.at(-1)?.runId === runId()
      unwatch = session.watch(({ event, position }: Foldable) => {
        const keep = position !== undefined
        const isFirst = event.type === 'RUN_STARTED' && event.runId === runId()
        if (!started && !isFirst && isIncoming?.(event)) return queue.push(event, keep)
        started ||= isFirst || isUnderWay()
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

function runOf({ state }: Session, runId: string): RunState | undefined {
  return state.runs.findLast((one) => one.runId === runId)
}

function gone(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_not_found',
    `The conversation "${conversation}" was deleted while its run went on`,
  )
}

/** Values that one side pushes and others iterate. */
export interface EventQueue<T> extends AsyncIterable<T> {
  /** `keep`: also those who begin to iterate later get it; else only those who iterate now. */
  push(value: T, keep: boolean): void
  end(): void
  /** Ends it with an error, which every iteration throws. */
  fail(error: unknown): void
}

interface Reader<T> {
  values: T[]
  wake(): void
}

/** An unbounded queue: a run never waits for those who watch it, and holds little for who does not. */
export function eventQueue<T>(): EventQueue<T> {
  const kept: T[] = []
  const readers = new Set<Reader<T>>()
  let state: 'open' | 'ended' | { error: unknown } = 'open'

  async function* iterate(reader: Reader<T>): AsyncGenerator<T> {
    try {
      for (;;) {
        const values = reader.values.splice(0)
        for (const value of values) yield value
        // Nothing may come between this look and the wait.
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
