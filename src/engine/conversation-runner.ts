import { boundaryOf } from '../boundary/boundary.ts'
import { ByrefError, loggedMessage, UnavailableError } from '../core/errors.ts'
import {
  type ConversationState,
  isRunEnd,
  openRun,
  type RunState,
} from '../core/events/conversation-state.ts'
import { unlessAborted } from '../core/on-abort.ts'
import { Slots } from '../core/slots.ts'
import { LONGEST_TIMER } from '../core/timer.ts'
import { type ConversationLog, LeaseHeldError } from '../log/conversation-log.ts'
import { ModelBusyError } from '../models/call-model.ts'
import type { Decide, Entry } from './append-batch.ts'
import { CallRunner } from './calls/call-runner.ts'
import { isRejection } from './calls/record-call.ts'
import { hasOwnerEnded } from './lease-owner.ts'
import { callsOf, deadlineOf, ForeignRunError, type Next, next, onlySubAgentsWait } from './next.ts'
import {
  claimEntry,
  errorEntry,
  eventsDue,
  nextInput,
  queuedStartEntry,
  type RunWriter,
} from './run-entries.ts'
import {
  type FailedStep,
  FailedStepError,
  RunLostError,
  reportStalledRun,
  runFailure,
} from './run-errors.ts'
import type { RunScope } from './run-scope.ts'
import { type AgentSettings, checkPrice } from './run-settings.ts'
import type { Session } from './session.ts'
import { askModel, compactPrompt } from './steps/ask-model.ts'
import { logBrokenAnswer } from './steps/log-answer.ts'
import { StepPrompts } from './steps/step-prompts.ts'

/** Why a runner stopped working on a conversation. */
export type Release =
  /** Nothing is due, or the run waits for a person. */
  | { type: 'idle' }
  /** Another process, or another agent, has the lease, for at least `expiresIn` milliseconds. */
  | { type: 'held'; owner: string; expiresIn: number }
  /** `stop` or `leave` was called. Another process can continue. */
  | { type: 'stopped' }
  /** The model's provider is busy. Try again in `ms` milliseconds. */
  | { type: 'later'; ms: number }
  /**
   * The log failed, and the run's error could not be logged. With workers, also if storage failed: another worker
   * retries. Also if the run needs another agent.
   */
  | { type: 'failed'; runId: string | null; error: ByrefError }

/** Options of {@link ConversationRunner}. */
export interface RunnerOptions {
  session: Session
  log: ConversationLog
  settings: AgentSettings
  /** The owner of the lease: an id of this agent, unique across processes. */
  owner: string
  /** Whether the agent has event handlers, which the runner waits for. */
  hasHandlers: boolean
  /** Called once, when an append of this process has taken the lease. */
  onTaken?(): void
  /** Keeps the error that ends a run, so that local followers receive it with its cause. Null: it did not end the run. */
  onFailure(runId: string, error: ByrefError | null): void
}

/** Maximum number of consecutive actions without an append. Each action should append something. */
const MAX_WITHOUT_APPEND = 100

/** Pause before the log is read again after it failed, in milliseconds. */
const RETRY_MS = 1000

/** Runs one conversation: asks `next` what is due and does it, until nothing is due. */
export class ConversationRunner {
  /** Resolves when the runner has stopped. */
  readonly released: Promise<Release>

  readonly #options: RunnerOptions
  readonly #session: Session
  readonly #writer: RunWriter
  readonly #prompts: StepPrompts
  #action = new Action()
  #runId: string | null = null
  /** The model's capabilities and price are known, and fit the run's limits. */
  #isReady = false
  #isWoken = false
  #hasStopped = false
  #isStopping = false

  /** Starts at once. */
  constructor(options: RunnerOptions) {
    const { session, log, settings, owner } = options
    this.#options = options
    this.#session = session
    this.#writer = { conversation: session.id, owner, settings }
    session.prompts ??= new StepPrompts(settings, log.namespace)
    this.#prompts = session.prompts
    const release = session.lease.keep({
      onLost: () => this.#action.abort('lease_lost'),
      onTaken: options.onTaken,
      onStalled: () => this.#action.abort('stalled'),
    })
    const unwatch = session.watch(({ event }) => {
      if (event.type === 'RUN_CLAIMED' && event.owner !== owner) this.#action.abort('lease_lost')
      else if (isRunEnd(event) && event.runId === this.#runId) this.#action.abort('run_ended')
    })
    this.released = this.#loop().finally(() => {
      release()
      unwatch()
    })
  }

  /** Makes the runner check again before it stops, because something has arrived. False if it has stopped already. */
  wake(): boolean {
    this.#isWoken = true
    return !this.#hasStopped
  }

  /** Fails the run, because an event handler has failed. */
  fail(error: unknown): void {
    this.#action.abort('handler_failed', error)
  }

  /** Stops at once. Another process can continue the run. */
  stop(): void {
    this.#isStopping = true
    this.#action.abort('stopped')
  }

  /** Stops when the current step has ended. */
  leave(): void {
    this.#isStopping = true
  }

  async #loop(): Promise<Release> {
    const { session } = this.#options
    for (let withoutAppend = 0; ; ) {
      this.#isWoken = false
      const { position } = session.state
      const release = await this.#doNext().catch((error: unknown) => this.#failed(error))
      withoutAppend = session.state.position === position ? withoutAppend + 1 : 0
      if (!release && withoutAppend < MAX_WITHOUT_APPEND) continue
      if (!release) return this.#failed(noProgressError(session.id))
      if (release.type === 'later') await session.lease.free(release.ms)
      const freesLease = release.type === 'idle' || release.type === 'stopped'
      const hasReadLog = !freesLease || (await this.#releaseLease())
      this.#hasStopped = release.type !== 'idle' || (!this.#isWoken && isIdle(this.#due()))
      if (this.#hasStopped) return hasReadLog ? release : { type: 'later', ms: RETRY_MS }
    }
  }

  /** Returns the next action. */
  #due(state = this.#session.state): Next {
    return next(state, nextInput(this.#session, this.#options.settings))
  }

  /** Does the next action. Returns why the runner must stop, or null to continue. */
  async #doNext(): Promise<Release | null> {
    const { owner, settings } = this.#options
    const { limits } = settings
    const session = this.#session
    const due = this.#due()
    const run = openRun(session.state)
    this.#runId = run?.runId ?? null
    if (this.#isStopping) return { type: 'stopped' }
    if (isIdle(due)) return { type: 'idle' }
    this.#action = new Action(this.#action)
    const action = this.#action
    const stopTimer = atDeadline(settings, session, () => action.abort('time_limit'))
    try {
      // The log rejects this while another process has the lease.
      if (run && run.owner !== owner) await this.#claim((state) => claimEntry(this.#writer, state))
      if (!this.#isReady)
        checkPrice(await session.activity.during(() => this.#prompts.ready()), limits)
      this.#isReady = true
      // Aborted work may itself wait for something: do not wait for it.
      await unlessAborted(action.signal, () => this.#perform(this.#due()))
      return action.reason ? await this.#afterFailure(null) : null
    } catch (error) {
      return await this.#afterFailure(error)
    } finally {
      stopTimer()
      action.close()
    }
  }

  async #perform(due: Next): Promise<void> {
    const { id, state } = this.#session
    switch (due.type) {
      case 'start_run':
        return this.#claim((latest) => queuedStartEntry(this.#writer, latest, this.#due(latest)))
      case 'begin_step':
      case 'end_run':
        return this.#append((latest) => ({ events: eventsDue(id, latest, this.#due(latest)) }))
      case 'ask_model':
        this.#session.takeStep()
        return askModel(this.#scopeOf(due.run), due.step.messageId, this.#prompts)
      case 'run_calls':
        return new CallRunner(this.#scopeOf(due.run), callsOf(state, due.step)).settled()
      case 'compact':
        await compactPrompt(this.#scopeOf(due.run), this.#prompts, due.reason)
        return
      case 'log_interrupted':
        return logBrokenAnswer(this.#scopeOf(due.run), due.step.messageId)
      case 'fail_run':
        return this.#failRun(new ByrefError(due.code, due.message))
    }
  }

  #scopeOf(run: RunState): RunScope {
    const { log, settings, hasHandlers } = this.#options
    const session = this.#session
    const { activity } = session
    const action = this.#action
    return {
      session,
      settings,
      runId: run.runId,
      namespace: log.namespace,
      context: run.context === undefined ? settings.context : run.context,
      assets: settings.assets,
      boundary: boundaryOf(() => settings.assets),
      signal: action.signal,
      // New for each action, so that work of an aborted action cannot keep slots from this one.
      slots: new Slots(settings.limits.parallelCalls),
      append: (entry) => this.#append(entry, action, run.runId),
      during: (work) => activity.during(work),
      stream(event) {
        if (action.reason) return undefined
        activity.note()
        session.stream(event)
        return hasHandlers ? activity.during(() => session.handlersDone()) : undefined
      },
    }
  }

  /** Appends, and takes the lease with the append. */
  #claim(decide: (state: ConversationState) => Entry): Promise<void> {
    return this.#write((state) => ({ ...decide(state), lease: 'take' }), this.#action)
  }

  /** Appends, and renews the lease with the append. `runId` is the run that the events belong to. */
  #append(
    entry: Entry | ((state: ConversationState) => Entry),
    action = this.#action,
    runId?: string,
  ): Promise<void> {
    const withLease = (decided: Entry): Entry => ({ ...decided, lease: 'keep', runId })
    if (typeof entry !== 'function') return this.#write(withLease(entry), action)
    return this.#write((state) => withLease(entry(state)), action)
  }

  /**
   * Appends, and waits for the event handlers.
   *
   * @throws RunLostError if another process has the lease, or the action was aborted; any error of the log
   */
  async #write(entry: Entry | Decide, action: Action): Promise<void> {
    const session = this.#session
    try {
      await session.append(entry, () => action.mayAppend)
    } catch (error) {
      if (isRejection(error) || error instanceof ForeignRunError) throw error
      action.abort(isLoss(error) ? 'lease_lost' : 'log_failed', error)
      throw error
    }
    if (this.#options.hasHandlers) await session.activity.during(() => session.handlersDone())
  }

  /** Logs the error that ends the run. `step` is its last step, if its usage is known. */
  async #failRun(error: ByrefError, step: FailedStep | null = null): Promise<void> {
    const runId = openRun(this.#session.state)?.runId ?? this.#runId
    if (runId === null) return
    const { onFailure } = this.#options
    onFailure(runId, error)
    const logged = { code: error.code, message: loggedMessage(error) }
    try {
      await this.#append((state) => errorEntry(this.#writer, state, logged, step))
    } catch (appendError) {
      // The run is still open, and may end well.
      onFailure(runId, null)
      throw appendError
    }
  }

  async #afterFailure(thrown: unknown): Promise<Release | null> {
    const failed = thrown instanceof FailedStepError ? thrown : null
    const error = failed ? failed.cause : thrown
    const { reason } = this.#action
    // Appends that were under way when the action was aborted finish first.
    if (reason) await this.#session.written()
    if (error instanceof LeaseHeldError) return await this.#afterHeld(error)
    if (error instanceof ForeignRunError) return this.#failed(error)
    if (error instanceof ModelBusyError && !reason) return { type: 'later', ms: error.waitMs }
    if (reason === 'stopped') return { type: 'stopped' }
    // The state has changed: ask `next` again.
    if (reason === 'lease_lost' || reason === 'run_ended' || reason === 'time_limit') return null
    if (reason === 'stalled') return await this.#startOver()
    const failure = runFailure(
      reason === 'handler_failed' ? this.#action.error : (error ?? this.#action.error),
    )
    if (failure instanceof UnavailableError) return this.#failed(failure)
    // The failure may be temporary, or limited to this host: another worker retries when the lease has expired.
    const mayBeTemporary = reason === 'log_failed' || failure.code === 'storage_failed'
    if (this.#options.log.queue && mayBeTemporary) return this.#failed(failure)
    this.#action = new Action(this.#action)
    try {
      await this.#failRun(failure, failed?.step)
      return null
    } catch (appendError) {
      if (reason !== 'log_failed' && this.#action.reason === 'lease_lost') return null
      return this.#failed(reason === 'log_failed' ? failure : appendError)
    }
  }

  /** Does not wait for the lease of a process that was killed on this machine. */
  async #afterHeld({ owner, expiresIn }: LeaseHeldError): Promise<Release | null> {
    const { log, session } = this.#options
    const hasEnded = hasOwnerEnded(owner)
    if (hasEnded && (await log.renew(session.id, { owner, ms: 0 }).catch(() => false))) return null
    return { type: 'held', owner, expiresIn }
  }

  /** Logs that the run has stalled, and starts again with what is due. A stalled run is a defect. */
  async #startOver(): Promise<Release | null> {
    reportStalledRun(this.#session.id)
    this.#action = new Action(this.#action)
    try {
      await this.#claim((state) => claimEntry(this.#writer, state, { stalled: true }))
      return null
    } catch (error) {
      return this.#failed(error)
    }
  }

  #failed(error: unknown): Release {
    return { type: 'failed', runId: this.#runId, error: runFailure(error) }
  }

  /**
   * Releases the lease, then reads the log once more: while this process had the lease, the others did not act on what
   * they appended. False if the log could not be read, so that the caller must retry.
   */
  async #releaseLease(): Promise<boolean> {
    const { lease } = this.#session
    if (!lease.isOurs || !(await lease.free())) return true
    try {
      await this.#session.refresh()
      return true
    } catch {
      return false
    }
  }
}

/** Whether an append failed because another process has the lease, or the conversation was deleted. */
function isLoss(error: unknown): boolean {
  return (
    error instanceof RunLostError ||
    error instanceof LeaseHeldError ||
    (error instanceof ByrefError && error.code === 'conversation_not_found')
  )
}

function noProgressError(conversation: string): ByrefError {
  return new ByrefError(
    'run_failed',
    `The run in "${conversation}" makes no progress. This is a defect in byref: please report it with the exported conversation.`,
  )
}

function isIdle(due: Next): boolean {
  return due.type === 'idle' || due.type === 'wait'
}

/**
 * Calls `onTime` when the open run's time limit has passed by the clock that `next` reads. A timer may fire a
 * millisecond early, and waiting for a person moves the limit. Returns a function that stops the timer.
 */
function atDeadline({ limits }: AgentSettings, session: Session, onTime: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const leftNow = (): number => {
    const run = openRun(session.state)
    const step = run?.steps.at(-1)
    if (!run || (step && onlySubAgentsWait(callsOf(session.state, step)))) return Infinity
    return deadlineOf(run, limits) - session.now()
  }
  const check = (): void => {
    clearTimeout(timer)
    const left = leftNow()
    if (left <= 0) onTime()
    else if (left < Infinity) timer = setTimeout(check, Math.min(Math.ceil(left), LONGEST_TIMER))
  }
  if (limits.runTimeoutMs === Infinity) return () => {}
  // If the limit has passed already, `next` ends the run.
  if (leftNow() > 0) check()
  const unwatch = session.watch(({ position }) => {
    if (position !== undefined) check()
  })
  return () => {
    clearTimeout(timer)
    unwatch()
  }
}

/** Why an action was aborted. */
export type ActionAbortReason =
  /** The run was ended, for example cancelled. */
  | 'run_ended'
  /** Another process has taken the lease. */
  | 'lease_lost'
  /** This process stops working on the conversation. */
  | 'stopped'
  /** The run has reached its time limit. */
  | 'time_limit'
  /** An event handler failed. */
  | 'handler_failed'
  /** The log failed. */
  | 'log_failed'
  /** Nothing is being waited for, and yet nothing happens: see `Activity`. */
  | 'stalled'

/** Abort reasons of signals. They are shared, because their stacks carry no information. */
const RUN_ENDED = new RunLostError({ continues: false })
const RUN_CONTINUES = new RunLostError()
const ENDS_RUN: readonly ActionAbortReason[] = ['run_ended', 'time_limit', 'handler_failed']

/** One due action while this process does it. Once it is closed, its remaining work can no longer append. */
export class Action {
  readonly #controller: AbortController
  #aborted: { reason: ActionAbortReason; error: unknown } | null = null
  #isClosed = false

  /**
   * @param before The previous action. Its signal is reused unless it was aborted, because new listeners are
   * expensive.
   */
  constructor(before?: Action) {
    const reused = before && !before.signal.aborted ? before.#controller : null
    this.#controller = reused ?? new AbortController()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The first abort reason; null if the action was not aborted. */
  get reason(): ActionAbortReason | null {
    return this.#aborted?.reason ?? null
  }

  /** The error that came with the abort reason. */
  get error(): unknown {
    return this.#aborted?.error
  }

  /** Whether its work may append. Work that was done before the time limit or a failed handler is still logged. */
  get mayAppend(): boolean {
    if (this.#isClosed) return false
    return this.reason === null || this.reason === 'time_limit' || this.reason === 'handler_failed'
  }

  abort(reason: ActionAbortReason, error?: unknown): void {
    this.#aborted ??= { reason, error }
    if (this.signal.aborted) return
    this.#controller.abort(error ?? (ENDS_RUN.includes(reason) ? RUN_ENDED : RUN_CONTINUES))
  }

  close(): void {
    this.#isClosed = true
  }
}
