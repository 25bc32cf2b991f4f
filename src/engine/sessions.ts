import type { Assets } from '../assets/assets-contract.ts'
import { ByrefError, DamagedError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Foldable } from '../core/events/fold.ts'
import { inBackground } from '../core/in-background.ts'
import type { ConversationLog, LogChange } from '../log/conversation-log.ts'
import { cancelOrphan, cancelSubRuns } from './cancel.ts'
import type { ConversationRunner, Release } from './conversation-runner.ts'
import type { RunFollower } from './follow-run.ts'
import { hasOwnerEnded } from './lease-owner.ts'
import { checkAgentFits, ForeignRunError } from './next.ts'
import { followUp } from './run-entries.ts'
import { runFailure } from './run-errors.ts'
import type { AgentSettings } from './run-settings.ts'
import type { Session } from './session.ts'

/** Options of {@link Sessions.advance}. */
export interface AdvanceOptions {
  /** Called once, when this process has taken the lease. */
  onTaken?(): void
  /** Abort it to stop when the current step has ended. */
  leave?: AbortSignal
  /** Abort it to stop at once. */
  signal?: AbortSignal
}

/** Options of {@link Sessions}. */
export interface SessionsOptions {
  /** The log of the namespace. */
  log: ConversationLog
  settings: AgentSettings
  owner: string
  leaseMs: number
  /** Calls the event handlers. Absent if there are none. */
  callHandlers?(session: Session, event: Foldable): Promise<void>
  /** Called with events that stream from this process. */
  onStream(conversation: string, event: ConversationEvent): void
}

/** Idle conversations stay open up to these numbers of conversations and of records in all of them. */
const MAX_OPEN = { conversations: 256, records: 500_000 }

/** Maximum number of run errors that are kept for followers. */
const MAX_FAILURES = 1000

/** Time between two checks whether the process that holds a lease still runs, in milliseconds. */
const OWNER_CHECK_MS = 1000

/** Pause between the end of another process's lease and the attempt to take over, in milliseconds, before jitter. */
const TAKE_OVER_DELAY = 50

/** The conversations that are open in this process. Each has one session and at most one runner. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #opened = new Map<string, OpenConversation>()
  readonly #openedOf = new WeakMap<Session, OpenConversation>()
  readonly #failures = new Map<string, ByrefError>()
  /** Loaded when the first conversation is opened. */
  #Runner: typeof ConversationRunner | null = null
  #unsubscribe: (() => void) | null = null
  #isClosed = false
  /** Number of runs since the last check for idle conversations. */
  #runsSinceCheck = 0

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** The assets of the namespace. */
  get assets(): Assets {
    return this.#options.settings.assets
  }

  /** Returns the session of a conversation, and opens it if necessary. */
  async get(conversation: string): Promise<Session> {
    if (this.#isClosed) throw new ByrefError('interrupted', 'The agent is closed')
    const existing = this.#opened.get(conversation)
    if (existing) {
      // Move it to the end: the map is in the order of last use.
      this.#opened.delete(conversation)
      this.#opened.set(conversation, existing)
      return existing.opening
    }
    const { promise, resolve, reject } = Promise.withResolvers<Session>()
    const opened = new OpenConversation(promise)
    this.#opened.set(conversation, opened)
    promise.catch(() => {
      if (this.#opened.get(conversation) === opened) this.#opened.delete(conversation)
    })
    this.#open(conversation, opened)
      .catch(async (error) => {
        // Set the conversation aside until it is repaired.
        if (error instanceof DamagedError)
          await this.#options.log.upkeep?.setAside(conversation, error.damage)
        throw error
      })
      .then(resolve, reject)
    return promise
  }

  /** Returns the session of a conversation; null if the log does not have it. */
  async find(conversation: string): Promise<Session | null> {
    return (await this.#options.log.find(conversation)) ? this.get(conversation) : null
  }

  /** Adds a follower. It fails at once if the session has ended. */
  follow(session: Session, follower: RunFollower): void {
    this.#openedOf.get(session)?.follow(follower)
  }

  unfollow(session: Session, follower: RunFollower): void {
    this.#openedOf.get(session)?.unfollow(follower)
  }

  /**
   * Starts the runner of a conversation, unless it is active. If another process has the lease, the runner starts
   * when that lease has expired. With workers, they run it instead. The run of a sub-agent is left to the call that
   * started it, which has the right agent: it continues when the calling run continues. If that call is over, the
   * run is cancelled.
   */
  wake(session: Session): void {
    if (this.#isClosed || this.#openedOf.get(session)?.runner?.wake()) return
    if (isSubRun(session)) inBackground(`Leaving ${session.id}`, cancelOrphan(this, session))
    else if (!this.#options.log.queue) this.wakeHere(session)
  }

  /** Like `wake`, but always in this process: also with workers, and for the run of a sub-agent. */
  wakeHere(session: Session): void {
    const opened = this.#openedOf.get(session)
    if (this.#isClosed || !opened) return
    // This session was closed in the meantime. Only the session that is open now may run.
    if (this.#opened.get(session.id) !== opened) {
      const again = this.get(session.id).then((current) => this.wakeHere(current))
      inBackground(`Opening ${session.id} again`, again)
      return
    }
    if (opened.runner?.wake()) return
    const { released } = this.#run(opened, session)
    const retried = released.then((release) => {
      if (this.#isClosed) return
      const { log, leaseMs } = this.#options
      const retry = () => this.wakeHere(session)
      if (release.type === 'held') opened.retryAfter(release.expiresIn, retry, release.owner)
      if (release.type === 'later') opened.retryAfter(release.ms, retry)
      const mayRetry = release.type === 'failed' && !(release.error instanceof ForeignRunError)
      if (mayRetry && !log.queue) opened.retryAfter(leaseMs, retry)
    })
    inBackground(`Running ${session.id}`, retried)
  }

  /**
   * Continues a conversation: in this process, or through the queue if the log has workers.
   *
   * @throws ForeignRunError if the run needs another agent, and no process runs it
   */
  async resume(session: Session): Promise<void> {
    const { log, settings } = this.#options
    if (isSubRun(session)) return this.wake(session)
    if (log.queue) return log.enqueue?.(session.id)
    const isHeld = (await log.find(session.id))?.lease
    if (!isHeld) checkAgentFits(session, settings)
    this.wakeHere(session)
  }

  /** Runs a conversation in this process until its runner stops. Resolves to the reason. */
  async advance(session: Session, { leave, signal, onTaken }: AdvanceOptions): Promise<Release> {
    // The caller may know of an event that has not arrived here yet.
    await session.refresh()
    const opened = this.#openedOf.get(session)
    if (this.#isClosed || !opened || this.#opened.get(session.id) !== opened)
      return { type: 'stopped' }
    const active = opened.runner?.wake() ? opened.runner : null
    if (!active && isSubRun(session)) {
      await cancelOrphan(this, session)
      return { type: 'idle' }
    }
    if (active) onTaken?.()
    const runner = active ?? this.#run(opened, session, onTaken)
    const leaveSoon = (): void => runner.leave()
    const stop = (): void => runner.stop()
    leave?.addEventListener('abort', leaveSoon, { once: true })
    signal?.addEventListener('abort', stop, { once: true })
    if (leave?.aborted) leaveSoon()
    if (signal?.aborted) stop()
    try {
      return await runner.released
    } finally {
      leave?.removeEventListener('abort', leaveSoon)
      signal?.removeEventListener('abort', stop)
    }
  }

  /** Returns the error that ended a run in this process, with its cause, and forgets it. */
  takeFailure(runId: string): ByrefError | null {
    const failure = this.#failures.get(runId) ?? null
    this.#failures.delete(runId)
    return failure
  }

  /** Whether nothing runs in this process, or is about to. */
  get isIdle(): boolean {
    return [...this.#opened.values()].every((opened) => opened.isIdle)
  }

  /** Stops all runners. Resolves when they have stopped. Other processes can continue the runs. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe?.()
    const working: Promise<unknown>[] = []
    for (const opened of this.#opened.values()) {
      opened.close(closedError)
      if (opened.runner) working.push(opened.runner.released)
    }
    await Promise.all(working)
  }

  async #open(conversation: string, opened: OpenConversation): Promise<Session> {
    const { log, settings, owner, leaseMs, callHandlers, onStream } = this.#options
    this.#unsubscribe ??= log.subscribe((change) => this.#changed(change), {
      wants: (id) => this.#opened.has(id),
    })
    const [{ Session }, { ConversationRunner }] = await loadEngine()
    this.#Runner = ConversationRunner
    const session = await Session.open({
      log,
      owner,
      leaseMs,
      callHandlers,
      id: conversation,
      labelled: settings.trust !== null,
      followUp: (session, events) => followUp(session, settings, events),
      onStream: (event) => onStream(conversation, event),
      onHandlerError: (session, error) => this.#handlerFailed(opened, session, error),
      onGone: (error) => this.#reopen(conversation, opened, error),
    })
    while (opened.hasMissed) {
      opened.hasMissed = false
      await session.refresh()
    }
    for (const created of session.state.assets) settings.assets.remember(created)
    this.#openedOf.set(session, opened)
    opened.session = session
    return session
  }

  #changed({ conversation, records, deleted, streamed }: LogChange): void {
    const opened = this.#opened.get(conversation)
    if (!opened) return
    for (const event of streamed ?? []) opened.session?.receiveStreamed(event)
    if (streamed) return
    if (deleted) this.#drop(conversation, opened)
    else if (opened.session) opened.session.receive(records)
    else opened.hasMissed = true
  }

  #drop(conversation: string, opened: OpenConversation): void {
    const message = `The conversation "${conversation}" was deleted`
    this.#forget(conversation, opened, () => new ByrefError('conversation_not_found', message))
  }

  /** Ends a session. The next caller opens the conversation anew. */
  #forget(conversation: string, opened: OpenConversation, error: () => ByrefError): void {
    if (this.#opened.get(conversation) === opened) this.#opened.delete(conversation)
    opened.close(error)
  }

  /**
   * Continues with the records that the log has. It has fewer than the session if it was restored from a backup, or if
   * a replica took over before it had received the last records.
   */
  #reopen(conversation: string, opened: OpenConversation, error: ByrefError): void {
    const released = opened.runner?.released
    this.#forget(conversation, opened, () => error)
    const continued = Promise.resolve(released).then(async () => {
      const session = this.#isClosed ? null : await this.find(conversation)
      if (session) this.wake(session)
    })
    inBackground(`Reading ${conversation} again`, continued)
  }

  #handlerFailed(opened: OpenConversation, session: Session, error: unknown): void {
    const runId = session.state.runs.at(-1)?.runId
    // The handler may fail again on the RUN_ERROR of the run that it made fail.
    if (runId !== undefined && !this.#failures.has(runId)) {
      this.#keepFailure(runId, runFailure(error))
    }
    opened.failHandler(error)
  }

  /** Stores the error of a run for its followers in this process. */
  #keepFailure(runId: string, error: ByrefError): void {
    this.#failures.set(runId, error)
    const [oldest] = this.#failures.keys()
    if (this.#failures.size > MAX_FAILURES && oldest !== undefined) this.#failures.delete(oldest)
  }

  #run(opened: OpenConversation, session: Session, onTaken?: () => void): ConversationRunner {
    const { log, settings, owner, callHandlers } = this.#options
    // `#open` has loaded it.
    const Runner = this.#Runner as typeof ConversationRunner
    const runner = new Runner({
      session,
      log,
      settings,
      owner,
      onTaken,
      namespace: log.namespace,
      hasHandlers: callHandlers !== undefined,
      onFailure: (runId, error) => this.#keepFailure(runId, error),
    })
    opened.started(runner)
    const ended = runner.released.then((release) => {
      opened.stopped(runner, release)
      if (release.type !== 'idle' || this.#isClosed) return
      this.#closeIdle()
      const last = session.state.runs.at(-1)
      // A run that ended as `done` has a result for every call, so that no sub-agent can be running.
      const endedEarly = last?.finishedAt !== undefined && last.reason !== 'done'
      return endedEarly ? cancelSubRuns(this, session) : undefined
    })
    inBackground(`Running ${session.id}`, ended)
    return runner
  }

  /** Closes idle conversations, the least recently used first. */
  #closeIdle(): void {
    const opened = this.#opened
    if (opened.size <= MAX_OPEN.conversations && ++this.#runsSinceCheck < 100) return
    this.#runsSinceCheck = 0
    let records = 0
    for (const { session } of opened.values()) records += session?.state.position ?? 0
    for (const [id, one] of opened) {
      if (opened.size <= MAX_OPEN.conversations && records <= MAX_OPEN.records) return
      if (!one.session || !one.isIdle || one.hasFollowers) continue
      records -= one.session.state.position
      one.session.close()
      opened.delete(id)
    }
  }
}

/** A conversation that is open in this process: its session, its runner, and the followers of its runs. */
class OpenConversation {
  /** Resolves when the session is open. */
  readonly opening: Promise<Session>
  /** Null while the session is being opened. */
  session: Session | null = null
  /** Null while nothing runs here. */
  runner: ConversationRunner | null = null
  /** Whether the log announced records while the session was being opened. */
  hasMissed = false
  readonly #followers = new Set<RunFollower>()
  /** Creates the error for followers. Null until the conversation is closed. */
  #endError: (() => ByrefError) | null = null
  /** The error of an event handler that failed while no runner was active. */
  #handlerError: { error: unknown } | null = null
  #retry: ReturnType<typeof setTimeout> | null = null

  constructor(opening: Promise<Session>) {
    this.opening = opening
  }

  /** Whether nothing runs here, or is about to. */
  get isIdle(): boolean {
    return this.session !== null && !this.runner && !this.#retry
  }

  get hasFollowers(): boolean {
    return this.#followers.size > 0
  }

  /** Adds a follower. It fails at once if the conversation is closed. */
  follow(follower: RunFollower): void {
    if (this.#endError) follower.fail(this.#endError())
    else this.#followers.add(follower)
  }

  unfollow(follower: RunFollower): void {
    this.#followers.delete(follower)
  }

  /** Notes that a runner has started. */
  started(runner: ConversationRunner): void {
    if (this.#retry) clearTimeout(this.#retry)
    this.#retry = null
    this.runner = runner
    if (this.#handlerError) runner.fail(this.#handlerError.error)
    this.#handlerError = null
  }

  /** Notes that a runner has stopped. If it failed, the followers fail, too. */
  stopped(runner: ConversationRunner, release: Release): void {
    if (this.runner === runner) this.runner = null
    if (release.type !== 'failed') return
    for (const follower of this.#followers) follower.fail(release.error)
  }

  /** Notes that an event handler failed. The runner fails, or else the next one. */
  failHandler(error: unknown): void {
    if (this.runner) this.runner.fail(error)
    else this.#handlerError = { error }
  }

  /** Calls `wake` after a time, or earlier if the process that owns the lease was killed. */
  retryAfter(ms: number, wake: () => void, owner = ''): void {
    const due = performance.now() + Math.max(0, ms) + TAKE_OVER_DELAY * (1 + Math.random())
    const check = (): void => (hasOwnerEnded(owner) ? wake() : wait())
    const wait = (): void => {
      const left = due - performance.now()
      this.#retry = setTimeout(
        left > OWNER_CHECK_MS ? check : wake,
        // A busy process may be late.
        Math.max(0, Math.min(left, OWNER_CHECK_MS)),
      )
    }
    wait()
  }

  /** Closes the session, and stops the runner. Followers fail with the error. */
  close(error: () => ByrefError): void {
    if (this.#retry) clearTimeout(this.#retry)
    this.runner?.stop()
    this.#endError = error
    this.session?.close()
    for (const follower of this.#followers) follower.fail(error())
  }
}

type Engine = [typeof import('./session.ts'), typeof import('./conversation-runner.ts')]
let engine: Promise<Engine> | null = null

/** Loads the modules that only open conversations need. The promise is kept, because a repeated import is slower. */
function loadEngine(): Promise<Engine> {
  engine ??= Promise.all([import('./session.ts'), import('./conversation-runner.ts')])
  return engine
}

function closedError(): ByrefError {
  return new ByrefError('interrupted', 'The agent was closed. Call resume to continue the run.')
}

/** Whether the open run belongs to a sub-agent. */
export function isSubRun({ state }: Session): boolean {
  return openRun(state)?.toolCallId !== undefined
}
