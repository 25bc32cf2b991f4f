import type { Assets } from '../assets/assets-contract.ts'
import { ByrefError, DamagedError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Foldable } from '../core/events/fold.ts'
import { inBackground } from '../core/in-background.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { callerOf, cancelOrphan, cancelSubRuns } from './cancel.ts'
import type { ConversationRunner, Release } from './conversation-runner.ts'
import { checkAgentFits, ForeignRunError } from './next.ts'
import type { Follower, OpenConversation, OpenConversations } from './open-conversations.ts'
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
  /** The open conversations of the agent, in all namespaces. */
  open: OpenConversations
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

/** The sessions of one namespace in this process. Each conversation has one session and at most one runner. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #open: OpenConversations

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#open = options.open
  }

  /** The log of the namespace. */
  get log(): ConversationLog {
    return this.#options.log
  }

  /** The assets of the namespace. */
  get assets(): Assets {
    return this.#options.settings.assets
  }

  /** Returns the session of a conversation, and opens it if necessary. */
  async get(conversation: string): Promise<Session> {
    if (this.#open.isClosed) throw new ByrefError('interrupted', 'The agent is closed')
    const { log } = this.#options
    const existing = this.#open.find(log.namespace, conversation)
    if (existing) return existing.opening
    const { promise, resolve, reject } = Promise.withResolvers<Session>()
    const opened = this.#open.add(log.namespace, conversation, promise)
    this.#openSession(conversation, opened)
      .catch(async (error) => {
        // Set the conversation aside until it is repaired.
        if (error instanceof DamagedError) await log.upkeep?.setAside(conversation, error.damage)
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
  follow(session: Session, follower: Follower): void {
    this.#open.of(session)?.follow(follower)
  }

  unfollow(session: Session, follower: Follower): void {
    this.#open.of(session)?.unfollow(follower)
  }

  /**
   * Starts the runner of a conversation, unless it is active. If another process has the lease, the runner starts
   * when that lease has expired. With workers, they run it instead. The run of a sub-agent is left to the call that
   * started it, which has the right agent: it continues when the calling run continues. If that call is over, the
   * run is cancelled.
   */
  wake(session: Session): void {
    if (this.#open.isClosed || this.#open.of(session)?.runner?.wake()) return
    if (isSubRun(session)) this.#inBackground(`Leaving ${session.id}`, cancelOrphan(this, session))
    else if (!this.#options.log.queue) this.wakeHere(session)
  }

  /** Like `wake`, but always in this process: also with workers, and for the run of a sub-agent. */
  wakeHere(session: Session): void {
    const opened = this.#open.of(session)
    if (this.#open.isClosed || !opened) return
    // This session was closed in the meantime. Only the session that is open now may run.
    if (!this.#open.has(opened)) {
      const again = this.get(session.id).then((current) => this.wakeHere(current))
      this.#inBackground(`Opening ${session.id} again`, again)
      return
    }
    if (opened.runner?.wake()) return
    const { released } = this.#run(opened, session)
    const retried = released.then((release) => {
      if (this.#open.isClosed) return
      const { log, leaseMs } = this.#options
      const retry = () => this.wakeHere(session)
      if (release.type === 'held') opened.retryAfter(release.expiresIn, retry, release.owner)
      if (release.type === 'later') opened.retryAfter(release.ms, retry)
      const mayRetry = release.type === 'failed' && !(release.error instanceof ForeignRunError)
      if (mayRetry && !log.queue) opened.retryAfter(leaseMs, retry)
    })
    this.#inBackground(`Running ${session.id}`, retried)
  }

  /**
   * Continues a conversation: in this process, or through the queue if the log has workers. The run of a sub-agent
   * continues with the run that called it.
   *
   * @throws ForeignRunError if the run needs another agent, and no process runs it
   */
  async resume(session: Session): Promise<void> {
    const { log, settings } = this.#options
    if (isSubRun(session)) {
      this.wake(session)
      const caller = await callerOf(this, session)
      return caller ? this.resume(caller) : undefined
    }
    if (log.queue) return log.enqueue?.(session.id)
    const isHeld = (await log.find(session.id))?.lease
    if (!isHeld) checkAgentFits(session, settings)
    this.wakeHere(session)
  }

  /** Runs a conversation in this process until its runner stops. Resolves to the reason. */
  async advance(session: Session, { leave, signal, onTaken }: AdvanceOptions): Promise<Release> {
    // The caller may know of an event that has not arrived here yet.
    await session.refresh()
    const opened = this.#open.of(session)
    if (this.#open.isClosed || !opened || !this.#open.has(opened)) return { type: 'stopped' }
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
    return this.#open.takeFailure(runId)
  }

  async #openSession(conversation: string, opened: OpenConversation): Promise<Session> {
    const { log, settings, owner, leaseMs, callHandlers, onStream } = this.#options
    const [{ Session }, { ConversationRunner }] = await loadEngine()
    Runner = ConversationRunner
    const session = await Session.open({
      log,
      owner,
      leaseMs,
      callHandlers,
      id: conversation,
      settings,
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
    opened.ready(session)
    return session
  }

  /**
   * Continues with the records that the log has. It has fewer than the session if it was restored from a backup, or if
   * a replica took over before it had received the last records.
   */
  #reopen(conversation: string, opened: OpenConversation, error: ByrefError): void {
    const released = opened.runner?.released
    this.#open.forget(opened, () => error)
    const continued = Promise.resolve(released).then(async () => {
      const session = this.#open.isClosed ? null : await this.find(conversation)
      if (session) this.wake(session)
    })
    this.#inBackground(`Reading ${conversation} again`, continued)
  }

  /** Does not wait for the work. Its errors are reported, unless the agent was closed in the meantime. */
  #inBackground(what: string, work: Promise<unknown>): void {
    const reported = work.catch((error) => {
      if (!this.#open.isClosed) throw error
    })
    inBackground(what, reported)
  }

  #handlerFailed(opened: OpenConversation, session: Session, error: unknown): void {
    const runId = session.state.runs.at(-1)?.runId
    // The handler may fail again on the RUN_ERROR of the run that it made fail.
    if (runId !== undefined && !this.#open.hasFailure(runId))
      this.#open.keepFailure(runId, runFailure(error))
    opened.failHandler(error)
  }

  #run(opened: OpenConversation, session: Session, onTaken?: () => void): ConversationRunner {
    const { log, settings, owner, callHandlers } = this.#options
    if (!Runner) throw new Error('No conversation has been opened')
    const runner = new Runner({
      session,
      log,
      settings,
      owner,
      onTaken,
      hasHandlers: callHandlers !== undefined,
      onFailure: (runId, error) => this.#open.keepFailure(runId, error),
    })
    opened.started(runner)
    const ended = runner.released.then((release) => {
      opened.stopped(runner, release)
      if (release.type !== 'idle' || this.#open.isClosed) return
      this.#open.closeIdle()
      const last = session.state.runs.at(-1)
      // A run that ended as `done` has a result for every call, so that no sub-agent can be running.
      const endedEarly = last?.finishedAt !== undefined && last.reason !== 'done'
      return endedEarly ? cancelSubRuns(this, session) : undefined
    })
    this.#inBackground(`Running ${session.id}`, ended)
    return runner
  }
}

type Engine = [typeof import('./session.ts'), typeof import('./conversation-runner.ts')]
let engine: Promise<Engine> | null = null

/** Loaded when the first conversation is opened. */
let Runner: typeof ConversationRunner | null = null

/** Loads the modules that only open conversations need. The promise is kept, because a repeated import is slower. */
function loadEngine(): Promise<Engine> {
  engine ??= Promise.all([import('./session.ts'), import('./conversation-runner.ts')])
  return engine
}

/** Whether the open run belongs to a sub-agent. */
export function isSubRun({ state }: Session): boolean {
  return openRun(state)?.toolCallId !== undefined
}
