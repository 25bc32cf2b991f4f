import { ByrefError } from '../core/errors.ts'
import {
  type ConversationState,
  isRunEnd,
  openRun,
  type RunState,
} from '../core/events/conversation-state.ts'
import { type ConversationLog, LeaseHeldError } from '../log/conversation-log.ts'
import { ModelBusyError } from '../models/call-model.ts'
import type { ModelCapabilities } from '../models/model-capabilities.ts'
import { unlessAborted } from '../models/on-abort.ts'
import { createCallRunner } from './calls/call-runner.ts'
import { isRefusal } from './calls/record-call.ts'
import { appendsDue, situationOf } from './follow-up.ts'
import { callsOf, deadlineOf, type Next, next } from './next.ts'
import { claimEntry, errorEntry, queuedStartEntry, type RunWriter } from './run-entries.ts'
import { RunLostError, runFailure } from './run-lost-error.ts'
import { createSlots, type RunScope } from './run-scope.ts'
import type { AgentSettings } from './run-settings.ts'
import type { Decide, Entry, Session } from './session.ts'
import { reportStalledRun } from './stalled-runs.ts'
import { askModel, compactPrompt, logBrokenAnswer } from './steps/ask-model.ts'
import { createStepPrompts, type StepPrompts } from './steps/step-prompts.ts'

/** Why a runner let go of a conversation. */
export type Release =
  /** Nothing is due, or only people can go on with it. */
  | { type: 'idle' }
  /** Another process runs it, for at least so many milliseconds. */
  | { type: 'held'; expiresIn: number }
  /** It was told to stop; what is due is left to others. */
  | { type: 'stopped' }
  /** The model's provider is busy: what is due waits for so many milliseconds, with nobody waiting for it. */
  | { type: 'later'; ms: number }
  /** The log failed, and so did ending the run in it; where the log has workers, also their assets: others go on later. */
  | { type: 'failed'; runId: string | null; error: ByrefError }

/** What a runner needs. */
export interface RunnerOptions {
  session: Session
  log: ConversationLog
  settings: AgentSettings
  /** This agent, unique over all processes. */
  owner: string
  namespace: string | null
  /** Whether events have handlers to be waited for. */
  hasHandlers: boolean
  /** Called once when the conversation is this process's, by an append. */
  onTaken?(): void
  /** Keeps what ended a run, with its cause, for who waits for it here. */
  onFailure(runId: string, error: ByrefError): void
}

/** Turns in which nothing was appended, after which a run is given up: each should append something. */
const MAX_STALLED = 100

/** Time until the log is asked again after it failed, in milliseconds. */
const RETRY_MS = 1000

/** Does what is due in one conversation until nothing is. */
export class ConversationRunner {
  /** Resolves when it has let go. */
  readonly released: Promise<Release>

  readonly #options: RunnerOptions
  readonly #session: Session
  readonly #writer: RunWriter
  readonly #prompts: StepPrompts
  #turn = new Turn()
  #runId: string | null = null
  /** What the model takes and costs is known, and its price fits the limits. */
  #isReady = false
  #isWoken = false
  #isOver = false
  #isStopping = false

  /** Begins at once. */
  constructor(options: RunnerOptions) {
    const { session, settings, owner, namespace } = options
    this.#options = options
    this.#session = session
    this.#writer = { conversation: session.id, owner, settings }
    session.prompts ??= createStepPrompts(settings, { assets: settings.assets, namespace })
    this.#prompts = session.prompts
    const letGo = session.lease.keep({
      onLost: () => this.#turn.abort('lost'),
      onTaken: options.onTaken,
      onStalled: () => this.#turn.abort('stalled'),
    })
    const unwatch = session.watch(({ event }) => {
      if (event.type === 'RUN_CLAIMED' && event.owner !== owner) this.#turn.abort('lost')
      else if (isRunEnd(event) && event.runId === this.#runId) this.#turn.abort('over')
    })
    this.released = this.#loop().finally(() => {
      letGo()
      unwatch()
    })
  }

  /** Has it look again before it lets go, since something has come; false where it has let go already. */
  wake(): boolean {
    this.#isWoken = true
    return !this.#isOver
  }

  /** Ends the run, since a handler of its events has failed. */
  fail(error: unknown): void {
    this.#turn.abort('handler', error)
  }

  /** Stops, and leaves the run to others. */
  stop(): void {
    this.#isStopping = true
    this.#turn.abort('stopped')
  }

  /** The same, when the step that goes on has ended. */
  leave(): void {
    this.#isStopping = true
  }

  async #loop(): Promise<Release> {
    const { session } = this.#options
    for (let stalled = 0; ; ) {
      this.#isWoken = false
      const { position } = session.state
      const release = await this.#takeTurn().catch((error: unknown): Release => {
        return { type: 'failed', runId: this.#runId, error: runFailure(error) }
      })
      stalled = session.state.position === position ? stalled + 1 : 0
      if (!release && stalled < MAX_STALLED) continue
      if (!release) return { type: 'failed', runId: this.#runId, error: stuck(session.id) }
      if (release.type === 'later') await session.lease.free(release.ms)
      const leaves = release.type === 'idle' || release.type === 'stopped'
      const looked = !leaves || (await this.#giveUp())
      this.#isOver = release.type !== 'idle' || (!this.#isWoken && isIdle(this.#due()))
      if (this.#isOver) return looked ? release : { type: 'later', ms: RETRY_MS }
    }
  }

  /** What is due, as a function of the conversation's state. */
  #due(state = this.#session.state): Next {
    return next(state, situationOf(this.#session, this.#options.settings))
  }

  /** Does one thing that is due; gives why it let go, or null to go on. */
  async #takeTurn(): Promise<Release | null> {
    const { owner, settings } = this.#options
    const { limits } = settings
    const session = this.#session
    const due = this.#due()
    const run = openRun(session.state)
    this.#runId = run?.runId ?? null
    if (this.#isStopping) return { type: 'stopped' }
    if (isIdle(due)) return { type: 'idle' }
    this.#turn = new Turn(this.#turn)
    const turn = this.#turn
    const stopTimer = run ? atDeadline(run, settings, session, () => turn.abort('time')) : () => {}
    try {
      // The log refuses while another's lease lasts.
      if (run && run.owner !== owner) await this.#claim((state) => claimEntry(this.#writer, state))
      if (!this.#isReady) checkPrice(await session.activity.during(this.#prompts.ready), limits)
      this.#isReady = true
      // What was aborted is not waited for, whatever it waits for itself.
      await unlessAborted(turn.signal, () => this.#perform(this.#due()))
      return turn.reason ? await this.#afterFailure(null) : null
    } catch (error) {
      return await this.#afterFailure(error)
    } finally {
      stopTimer()
      turn.close()
    }
  }

  async #perform(due: Next): Promise<void> {
    const { id, state } = this.#session
    switch (due.do) {
      case 'start':
        return this.#claim((now) => queuedStartEntry(this.#writer, now, this.#due(now)))
      case 'begin':
      case 'end':
        return this.#append((now) => ({ events: appendsDue(id, now, this.#due(now)) }))
      case 'ask':
        this.#session.takeStep()
        return askModel(this.#scopeOf(due.run), due.step.messageId, this.#prompts)
      case 'call':
        return createCallRunner(this.#scopeOf(due.run), callsOf(state, due.step)).settled()
      case 'compact':
        return compactPrompt(this.#scopeOf(due.run), this.#prompts, due.reason)
      case 'mend':
        return logBrokenAnswer(this.#scopeOf(due.run), due.step.messageId)
      case 'fail':
        return this.#failRun(new ByrefError(due.code, due.message))
    }
  }

  #scopeOf(run: RunState): RunScope {
    const { settings, namespace, hasHandlers } = this.#options
    const session = this.#session
    const { activity } = session
    const turn = this.#turn
    return {
      session,
      settings,
      runId: run.runId,
      namespace,
      context: run.context === undefined ? settings.context : run.context,
      assets: settings.assets,
      signal: turn.signal,
      // Of this turn alone: what an ended turn has not given back holds nobody up.
      slots: createSlots(settings.limits.parallelCalls),
      append: (what) => this.#append(what, turn),
      during: (work) => activity.during(work),
      stream(event) {
        if (turn.reason) return undefined
        activity.note()
        session.stream(event)
        return hasHandlers ? activity.during(() => session.told()) : undefined
      },
    }
  }

  /** Takes the conversation over with an append. */
  #claim(decide: (state: ConversationState) => Entry): Promise<void> {
    return this.#write((state) => ({ ...decide(state), lease: 'take' }), this.#turn)
  }

  /** Appends as whoever runs the conversation. */
  #append(what: Entry | ((state: ConversationState) => Entry), turn = this.#turn): Promise<void> {
    if (typeof what !== 'function') return this.#write({ ...what, lease: 'keep' }, turn)
    return this.#write((state) => ({ ...what(state), lease: 'keep' }), turn)
  }

  /**
   * Appends, and waits for the handlers of events.
   *
   * @throws RunLostError where another runs it, or the turn was aborted; what the log throws
   */
  async #write(what: Entry | Decide, turn: Turn): Promise<void> {
    const session = this.#session
    try {
      await session.append(what, () => turn.mayAppend)
    } catch (error) {
      if (isRefusal(error)) throw error
      turn.abort(isLoss(error) ? 'lost' : 'log', error)
      throw error
    }
    if (this.#options.hasHandlers) await session.activity.during(() => session.told())
  }

  /** Ends the run with an error, in the log. */
  async #failRun(error: ByrefError): Promise<void> {
    const failed = openRun(this.#session.state)?.runId ?? this.#runId
    if (failed !== null) this.#options.onFailure(failed, error)
    await this.#append((state) => errorEntry(this.#writer, state, error))
  }

  async #afterFailure(error: unknown): Promise<Release | null> {
    const { reason } = this.#turn
    // What was on its way to the log when the turn was aborted comes first.
    if (reason) await this.#session.written()
    if (error instanceof LeaseHeldError) return { type: 'held', expiresIn: error.expiresIn }
    if (error instanceof ModelBusyError && !reason) return { type: 'later', ms: error.waitMs }
    if (reason === 'stopped') return { type: 'stopped' }
    // Lost, or ended by somebody else: what is due now is a new question.
    if (reason === 'lost' || reason === 'over' || reason === 'time') return null
    if (reason === 'stalled') return await this.#startOver()
    const failure = runFailure(reason === 'handler' ? this.#turn.error : error)
    // Where there are others it may be this host's alone, or over when the lease is: they try again then.
    const isAway = reason === 'log' || failure.code === 'storage_failed'
    const gaveUp = (why: ByrefError): Release => ({
      type: 'failed',
      runId: this.#runId,
      error: why,
    })
    if (this.#options.log.queue && isAway) return gaveUp(failure)
    this.#turn = new Turn(this.#turn)
    try {
      await this.#failRun(failure)
      return null
    } catch (second) {
      if (reason !== 'log' && this.#turn.reason === 'lost') return null
      return gaveUp(reason === 'log' ? failure : runFailure(second))
    }
  }

  /** Begins again with what is due, and says so in the log: a turn without progress is a defect. */
  async #startOver(): Promise<Release | null> {
    reportStalledRun(this.#session.id)
    this.#turn = new Turn(this.#turn)
    try {
      await this.#claim((state) => claimEntry(this.#writer, state, { stalled: true }))
      return null
    } catch (error) {
      return { type: 'failed', runId: this.#runId, error: runFailure(error) }
    }
  }

  /**
   * Frees the lease, then looks once more: what others appended while it lasted is this one's to do. False where the log
   * could not be read, so that somebody has to look later.
   */
  async #giveUp(): Promise<boolean> {
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

/** Whether an error of an append says that the conversation is another's now, or gone. */
function isLoss(error: unknown): boolean {
  return (
    error instanceof RunLostError ||
    error instanceof LeaseHeldError ||
    (error instanceof ByrefError && error.code === 'conversation_not_found')
  )
}

function stuck(conversation: string): ByrefError {
  return new ByrefError(
    'run_failed',
    `The run in "${conversation}" makes no progress: please report this as a defect of byref, with the conversation's export`,
  )
}

/** A limit that nothing can be measured by would be none. */
function checkPrice({ price }: ModelCapabilities, { cost }: AgentSettings['limits']): void {
  if (price || cost === Infinity) return
  throw new ByrefError(
    'config_invalid',
    'limits.cost is set and the model’s price is not known: say it by capabilities: { price: { input, output } }, in US dollars for a million tokens',
  )
}

function isIdle(due: Next): boolean {
  return due.do === 'nothing' || due.do === 'wait'
}

/** The longest time that a timer holds, in milliseconds: almost 25 days. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Calls back when the run's time is over, by the clock that `next` reads: a timer may fire a millisecond early. */
function atDeadline(
  run: RunState,
  { limits }: AgentSettings,
  session: Session,
  onTime: () => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = deadlineOf(run, limits)
  const check = (): void => {
    const left = deadline - session.now()
    if (left <= 0) onTime()
    else timer = setTimeout(check, Math.min(Math.ceil(left), LONGEST_TIMER))
  }
  // `next` ends a run whose time is over already.
  if (deadline < Infinity && session.now() < deadline) check()
  return () => clearTimeout(timer)
}

/** Why the work of a turn was aborted. */
export type TurnAbortReason =
  /** Somebody else ended the run. */
  | 'over'
  /** Another process runs the conversation. */
  | 'lost'
  /** This process leaves the conversation to others. */
  | 'stopped'
  /** The run's time is over. */
  | 'time'
  /** An event handler failed. */
  | 'handler'
  /** The log failed. */
  | 'log'
  /** Nothing happened any more though nothing was waited for: see `Activity`. */
  | 'stalled'

/** The reason of signals whose run is over, or goes on elsewhere; one for all, since its stack says nothing. */
const OVER = new RunLostError({ goesOn: false })
const MOVED = new RunLostError()
const ENDING: readonly TurnAbortReason[] = ['over', 'time', 'handler']

/** One thing that was due, while this process does it. What is left of its work when it is closed can append nothing. */
export class Turn {
  readonly #controller: AbortController
  #aborted: { reason: TurnAbortReason; error: unknown } | null = null
  #isClosed = false

  /** @param before The turn before, whose signal serves again unless it was aborted: listeners to a new one are costly. */
  constructor(before?: Turn) {
    const known = before && !before.signal.aborted ? before.#controller : null
    this.#controller = known ?? new AbortController()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The first reason; null while nothing has aborted it. */
  get reason(): TurnAbortReason | null {
    return this.#aborted?.reason ?? null
  }

  /** What was given with that reason. */
  get error(): unknown {
    return this.#aborted?.error
  }

  /** Whether its work may append. What was done when the time was over, or a handler failed, is still kept. */
  get mayAppend(): boolean {
    if (this.#isClosed) return false
    return this.reason === null || this.reason === 'time' || this.reason === 'handler'
  }

  abort(reason: TurnAbortReason, error?: unknown): void {
    this.#aborted ??= { reason, error }
    if (this.signal.aborted) return
    this.#controller.abort(error ?? (ENDING.includes(reason) ? OVER : MOVED))
  }

  close(): void {
    this.#isClosed = true
  }
}
