import { ByrefError } from '../core/errors.ts'
import {
  isRunEnd,
  type RunState,
  requestOf,
  runOf,
  waitingCalls,
} from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Foldable } from '../core/events/fold.ts'
import type { Message } from '../core/messages/message.ts'
import { partialOutput, textStream } from './answer-streams.ts'
import { cancelRun } from './cancel.ts'
import type { DeepPartial, OutputSchema } from './output/output-schema.ts'
import { type RunResult, runResult } from './output/run-output.ts'
import type { Session } from './session.ts'
import type { Sessions } from './sessions.ts'

/**
 * One run. It continues whether or not you follow it, in this process or another. Iterate over it to read its events
 * from the first one. Events that are only streamed arrive from that moment on. If the agent is closed first, iterating
 * throws `interrupted`. Read the bodies of new assets with `agent.assets`, or in `callbacks.onEvent`.
 */
export interface Run<Output = unknown> extends AsyncIterable<ConversationEvent> {
  /** The run's id; empty until a run has taken the messages. */
  readonly id: string
  readonly conversation: string
  /** The ids of the run's messages; empty until they are in the log. */
  readonly messageIds: readonly string[]
  /**
   * Resolves when the run has ended. If a call waits for a person, that may be days later. Rejects with the ByrefError
   * of a `RUN_ERROR`, with `output_invalid` if the requested output is missing or invalid, and with `interrupted` if
   * the agent is closed first.
   */
  readonly result: Promise<RunResult<Output>>
  /**
   * The model's text as it streams, over all steps, with a blank line between these. If you iterate later, the text so
   * far comes in one piece. If the run fails, iterating throws an error with its code and message after the text.
   */
  readonly textStream: AsyncIterable<string>
  /**
   * For a run with `output`: the value so far, each time that it has grown, and less often when it is long. It is not
   * complete and not validated. `result` has the complete, valid value. If you iterate after an answer, its value
   * comes once. If the model corrects its answer, the value starts again. Of an answer with drafts, it is the value of
   * the first draft. If the run fails, iterating throws an error with its code and message after the values.
   */
  readonly partialOutputStream: AsyncIterable<DeepPartial<Output>>
  /** Returns the conversation's messages so far. */
  readonly messages: readonly Message[]
  /** Cancels the run, in whichever process it runs. If it is still queued, deletes its messages. */
  cancel(): void
}

/** One run, followed through the events of its conversation. */
export class FollowedRun<Output = unknown> {
  /** May change until the run has started. */
  id: string
  readonly conversation: string
  readonly messageIds: string[] = []
  readonly result: Promise<RunResult<Output>>
  /** Resolves when `begin` has ended. Rejects with its error, as `result` does. */
  readonly begun: Promise<void>
  readonly #output: OutputSchema | undefined
  readonly #events = new EventQueue<ConversationEvent>()
  readonly #settle = Promise.withResolvers<RunResult<Output>>()
  #sessions: Sessions | null = null
  #session: Session | null = null
  /** The messages that wait for the run. If they are deleted before it starts, it is cancelled. */
  #waiting: readonly string[] = []
  #unwatch: () => void = () => {}
  #hasStarted = false
  #isEnding = false

  /**
   * @param options.id The id of a new run. Default: empty.
   * @param options.output The output schema of the caller.
   * @param begin Opens the session of the run, and starts to watch.
   */
  constructor(
    conversation: string,
    { id = '', output }: { id?: string; output?: OutputSchema },
    begin: (run: FollowedRun<Output>) => Promise<void>,
  ) {
    this.id = id
    this.conversation = conversation
    this.#output = output
    this.result = this.#settle.promise
    this.result.catch(() => {})
    this.begun = begin(this)
    this.begun.catch((error) => this.fail(error))
  }

  /** Returns the run for the app. Its fields do not use `this`, because apps may spread or extend it. */
  get run(): Run<Output> {
    const followed = this
    return {
      get id() {
        return followed.id
      },
      conversation: this.conversation,
      messageIds: this.messageIds,
      result: this.result,
      get textStream() {
        return textStream(followed.#events)
      },
      get partialOutputStream() {
        const partial = partialOutput(followed.#events, () => {
          const session = followed.#session
          return session ? runOf(session.state, followed.id)?.overrides?.output : undefined
        })
        // The requested schema determines the type of the answer.
        return partial as AsyncIterable<DeepPartial<Output>>
      },
      get messages() {
        return followed.#session?.state.messages ?? []
      },
      cancel: this.cancel,
      [Symbol.asyncIterator]: () => this.#events[Symbol.asyncIterator](),
    }
  }

  readonly cancel = (): void => {
    this.begun.then(() => this.#cancel()).catch((error) => this.fail(error))
  }

  /** Takes the session of the conversation. From then on, the run fails if the session is closed. */
  opened(sessions: Sessions, session: Session): void {
    this.#sessions = sessions
    this.#session = session
    sessions.follow(session, this)
  }

  /**
   * Starts to listen, for the run and for the messages that wait for it. If the run has no id yet, it is the next one
   * that starts.
   *
   * @param isIncoming Whether an event that comes before the run's start, such as one of its new messages, belongs to
   *   it.
   */
  watch(
    session: Session,
    messageIds: readonly string[],
    isIncoming: (event: ConversationEvent) => boolean = () => false,
  ): void {
    this.#waiting = messageIds
    const hasBegun = (): boolean => session.state.runs.at(-1)?.runId === this.id
    const areAllDeleted = (): boolean =>
      !session.state.inbox.some(({ message }) => messageIds.includes(message.id))
    this.#unwatch = session.watch(({ event, position }: Foldable) => {
      if (this.id === '' && event.type === 'RUN_STARTED') this.id = event.runId
      const isKept = position !== undefined
      const isFirst = event.type === 'RUN_STARTED' && event.runId === this.id
      if (!this.#hasStarted && !isFirst && isIncoming(event))
        return this.#events.push(event, isKept)
      this.#hasStarted ||= isFirst || hasBegun()
      const isDeletion = event.type === 'MESSAGE_DELETED' && messageIds.includes(event.messageId)
      if (!this.#hasStarted && isDeletion && areAllDeleted()) {
        this.endWith(session, cancelledRun(this.id, messageIds))
      }
      if (!this.#hasStarted) return
      this.#events.push(event, isKept)
      if (isRunEnd(event) && event.runId === this.id) this.#endSoon(session)
    })
    this.#hasStarted = hasBegun()
    // Otherwise the follower would never see requests from before.
    for (const call of this.#hasStarted ? waitingCalls(session.state) : [])
      this.#events.push(requestOf(call, this.id), true)
  }

  /** Checks whether the run has ended. Call it if the run's id became known after `watch`. */
  checkEnded(session: Session): void {
    const run = runOf(session.state, this.id)
    if (run && run.status !== 'running') this.#endSoon(session)
  }

  /** Resolves `result` with a run that has ended already. */
  endWith(session: Session, run: RunState): void {
    this.#events.end()
    this.#finish()
    this.#resolveWith(session, run)
  }

  /** Ends with an error. */
  fail(error: unknown): void {
    this.#events.fail(error)
    this.#finish()
    this.#settle.reject(error)
  }

  async #cancel(): Promise<void> {
    const sessions = this.#sessions
    const session = this.#session
    if (!sessions || !session) return
    if (this.id === '') await deleteQueued(session, this.#waiting)
    // The run may have started meanwhile.
    if (this.id !== '') await cancelRun(sessions, session, { runId: this.id })
  }

  #endSoon(session: Session): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#end(session).catch(this.#settle.reject)
  }

  async #end(session: Session): Promise<void> {
    this.#unwatch()
    this.#events.end()
    // An event handler of the last event may still fail.
    await session.settled()
    const failure = this.#sessions?.takeFailure(this.id)
    const run = runOf(session.state, this.id)
    this.#finish()
    if (failure || !run) this.#settle.reject(failure ?? deletedError(session.id))
    else this.#resolveWith(session, run)
  }

  #finish(): void {
    this.#unwatch()
    if (this.#session) this.#sessions?.unfollow(this.#session, this)
  }

  #resolveWith(session: Session, run: RunState): void {
    const { resolve, reject } = this.#settle
    // A session was opened, so there are sessions.
    const { assets } = this.#sessions as Sessions
    runResult<Output>(session, run, { schema: this.#output, assets }).then(resolve, reject)
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

/** Deletes messages that no run has taken yet. */
async function deleteQueued(session: Session, messageIds: readonly string[]): Promise<void> {
  await session.append(({ inbox }) => ({
    events: inbox
      .filter(({ message }) => messageIds.includes(message.id))
      .map(({ message }) => ({ type: 'MESSAGE_DELETED', messageId: message.id })),
  }))
}

function deletedError(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_not_found',
    `The conversation "${conversation}" was deleted during its run`,
  )
}

/** A queue for any number of readers. It has no limit, so that a run never waits for its readers. */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #kept: T[] = []
  readonly #readers = new Set<Reader<T>>()
  #state: 'open' | 'ended' | { error: unknown } = 'open'

  /** Adds a value. If `isKept`, iterators that start later get it too. Otherwise, only current iterators get it. */
  push(value: T, isKept: boolean): void {
    if (isKept) this.#kept.push(value)
    for (const reader of this.#readers) {
      reader.values.push(value)
      reader.wake()
    }
  }

  end(): void {
    this.#stop('ended')
  }

  /** Ends the queue with an error, which every iterator throws. */
  fail(error: unknown): void {
    this.#stop({ error })
  }

  [Symbol.asyncIterator](): AsyncGenerator<T> {
    const reader: Reader<T> = { values: [...this.#kept], wake() {} }
    this.#readers.add(reader)
    return this.#iterate(reader)
  }

  async *#iterate(reader: Reader<T>): AsyncGenerator<T> {
    try {
      for (;;) {
        const values = reader.values.splice(0)
        for (const value of values) yield value
        // No `await` may come between this check and the wait below.
        if (reader.values.length > 0) continue
        if (typeof this.#state === 'object') throw this.#state.error
        if (this.#state === 'ended') return
        await new Promise<void>((resolve) => {
          reader.wake = resolve
        })
      }
    } finally {
      this.#readers.delete(reader)
    }
  }

  #stop(state: 'ended' | { error: unknown }): void {
    if (this.#state === 'open') this.#state = state
    for (const reader of this.#readers) reader.wake()
  }
}

interface Reader<T> {
  values: T[]
  wake(): void
}
