import { ByrefError } from '../core/errors.ts'
import { openRun, type RunState } from '../core/events/conversation-state.ts'
import { type ConversationLog, LeaseHeldError } from '../log/conversation-log.ts'
import { ModelBusyError } from '../models/model-busy.ts'
import type { ModelCapabilities } from '../models/model-capabilities.ts'
import { type CallRunner, createCallRunner } from './calls/call-runner.ts'
import { createSlots } from './calls/slots.ts'
import { unlessAborted } from './calls/unless-aborted.ts'
import { followUp, isRunEnd, runEnd } from './follow-up.ts'
import { keepLease } from './lease-keeper.ts'
import { callsOf, deadlineOf, type Next, type NextSettings, next } from './next.ts'
import { claimEntry, errorEntry, queuedStartEntry } from './run-entries.ts'
import { runFailure } from './run-failure.ts'
import type { RunScope } from './run-scope.ts'
import type { AgentSettings } from './run-settings.ts'
import { type BegunStep, createRunWriter, type RunAppendOptions } from './run-writer.ts'
import type { Entry, Session } from './session.ts'
import { reportStalledRun } from './stalled-runs.ts'
import { askModel, compactPrompt, logBrokenAnswer } from './steps/ask-model.ts'
import { unfinishedMessage } from './steps/assistant-message.ts'
import { commandReplies } from './steps/command-step.ts'
import { createStepPrompts, type StepPrompts } from './steps/step-prompts.ts'
import { Turn } from './turn.ts'

/** Why a performer let go of a conversation. */
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

/** Does what is due in one conversation until nothing is. */
export interface Performer {
  /** Resolves when it has let go. */
  readonly released: Promise<Release>
  /** Looks again before it lets go, since something has come; false where it has let go already. */
  wake(): boolean
  /** A handler of events has failed: the run ends with that. */
  fail(error: unknown): void
  /** Stops, and leaves the run to others. */
  stop(): void
  /** The same, when the step that goes on has ended. */
  leave(): void
}

/** What a performer needs. */
export interface PerformerOptions {
  session: Session
  log: ConversationLog
  settings: AgentSettings
  /** This agent, unique over all processes. */
  owner: string
  leaseMs: number
  namespace: string | null
  /** Whether events have handlers to be waited for. */
  hasHandlers: boolean
  begun: BegunStep
  /** Hears once that the conversation is this one's, by an append. */
  onTaken?(): void
  /** Keeps what ended a run, with its cause, for who waits for it here. */
  onFailure(runId: string, error: ByrefError): void
}

/** The prompts of conversations that are open in this process. */
const promptsOf = new WeakMap<Session, StepPrompts>()

/** Turns in which nothing was appended, after which a run is given up: each should append something. */
const MAX_STALLED = 100

/** Time until the log is asked again after it failed, in milliseconds. */
const RETRY_MS = 1000

/** Begins to do what is due. */
export function perform(options: PerformerOptions): Performer {
  const { session, log, settings, owner, leaseMs, namespace, onFailure } = options
  const { limits } = settings
  const { state } = session
  const writer = { conversation: session.id, owner, settings }
  const prompts =
    promptsOf.get(session) ?? createStepPrompts(settings, { assets: settings.assets, namespace })
  promptsOf.set(session, prompts)
  const { activity } = session
  let turn = new Turn()
  const lease = keepLease({
    log,
    conversation: session.id,
    owner,
    ms: leaseMs,
    activity,
    onLost: () => turn.abort('lost'),
    onTaken: options.onTaken,
    onStalled: () => turn.abort('stalled'),
  })
  const writing = createRunWriter({
    session,
    owner,
    leaseMs,
    lease,
    activity,
    hasHandlers: options.hasHandlers,
    begun: options.begun,
    followUp: (events) => followUp(session.id, state, events, situation()),
  })
  let runId: string | null = null
  let woken = false
  let over = false
  let stopping = false

  const compaction: NextSettings['compaction'] = (after) => prompts.compaction(session, after)

  function situation(): NextSettings {
    return {
      limits,
      tools: settings.tools,
      board: session.board,
      now: session.now(),
      compaction,
    }
  }

  const due = (): Next => next(state, situation())
  const append = (make: () => Entry, how?: RunAppendOptions): Promise<void> =>
    writing.append(turn, make, how)

  function scopeOf(run: RunState): RunScope {
    const own = turn
    return {
      session,
      settings,
      runId: run.runId,
      namespace,
      context: run.context === undefined ? settings.context : run.context,
      assets: settings.assets,
      signal: own.signal,
      // Of this turn alone: what an ended turn has not given back holds nobody up.
      slots: createSlots(limits.parallelCalls),
      append: (entry, how) =>
        writing.append(own, typeof entry === 'function' ? entry : () => entry, how),
      during: (work) => activity.during(work),
      stream(event) {
        if (own.reason) return undefined
        activity.note()
        session.stream(event)
        return options.hasHandlers ? activity.during(session.told) : undefined
      },
    }
  }

  async function act(what: Next): Promise<void> {
    switch (what.do) {
      case 'start':
        return append(() => queuedStartEntry(writer, state, due()), {
          claims: true,
          followed: true,
        })
      case 'compact':
        // The step may have begun with the append before.
        await compactPrompt(scopeOf(what.run), prompts, what.reason, {
          followed: writing.begun === null,
        })
        return writing.begun === null ? undefined : ask(what.run)
      case 'ask':
        if (writing.begun === null) await append(() => ({ events: [] }), { followed: true })
        return ask(what.run)
      case 'mend':
        return logBrokenAnswer(scopeOf(what.run), what.step.messageId)
      case 'call':
        return createCallRunner(scopeOf(what.run), callsOf(state, what.step)).settled()
      case 'fail':
        return fail(new ByrefError(what.code, what.message))
      case 'end':
        return append(() => ({
          events: [
            ...unfinishedMessage(state, what.run),
            ...commandReplies(state, what.run),
            runEnd(session.id, what.run, what.reason),
          ],
        }))
    }
  }

  async function ask(run: RunState): Promise<void> {
    const messageId = writing.takeBegun()
    if (messageId === null) return
    const calls: CallRunner | null = await askModel(scopeOf(run), messageId, prompts)
    await calls?.settled()
  }

  /** Ends the run with an error, in the log. */
  async function fail(error: ByrefError): Promise<void> {
    const failed = openRun(state)?.runId ?? runId
    if (failed !== null) onFailure(failed, error)
    await append(() => errorEntry(writer, state, error))
  }

  /** Does one thing that is due; gives why it let go, or null to go on. */
  async function takeTurn(): Promise<Release | null> {
    const what = due()
    const run = openRun(state)
    runId = run?.runId ?? null
    if (stopping) return { type: 'stopped' }
    if (what.do === 'nothing' || what.do === 'wait') return { type: 'idle' }
    turn = new Turn(turn)
    const own = turn
    const left = run && deadlineOf(run, limits) - session.now()
    const timer = left === null ? null : deadlineTimer(left, () => own.abort('time'))
    try {
      // The log refuses while another's lease lasts.
      if (run && run.owner !== owner)
        await append(() => claimEntry(writer, state), { claims: true })
      checkPrice(await activity.during(prompts.ready), limits)
      // What was aborted is not waited for, whatever it waits for itself.
      await unlessAborted(own.signal, () => act(due()))
      return own.reason ? await afterFailure(null) : null
    } catch (error) {
      return await afterFailure(error)
    } finally {
      clearTimeout(timer ?? undefined)
      own.close()
    }
  }

  async function afterFailure(error: unknown): Promise<Release | null> {
    const { reason } = turn
    // What was on its way to the log when the turn was aborted comes first.
    if (reason) await session.written()
    if (error instanceof LeaseHeldError) return { type: 'held', expiresIn: error.expiresIn }
    if (error instanceof ModelBusyError && !reason) return { type: 'later', ms: error.waitMs }
    if (reason === 'stopped') return { type: 'stopped' }
    // Lost, or ended by somebody else: what is due now is a new question.
    if (reason === 'lost' || reason === 'over' || reason === 'time') return null
    if (reason === 'stalled') return await startOver()
    const failure = runFailure(reason === 'handler' ? turn.error : error)
    // Where there are others it may be this host's alone, or over when the lease is: they try again then.
    const isAway = reason === 'log' || failure.code === 'storage_failed'
    if (log.queue && isAway) return { type: 'failed', runId, error: failure }
    turn = new Turn(turn)
    try {
      await fail(failure)
      return null
    } catch (second) {
      if (reason !== 'log' && turn.reason === 'lost') return null
      return { type: 'failed', runId, error: reason === 'log' ? failure : runFailure(second) }
    }
  }

  /** Begins again with what is due, and says so in the log: a turn without progress is a defect. */
  async function startOver(): Promise<Release | null> {
    reportStalledRun(session.id)
    turn = new Turn(turn)
    try {
      await append(() => claimEntry(writer, state, { stalled: true }), { claims: true })
      return null
    } catch (error) {
      return { type: 'failed', runId, error: runFailure(error) }
    }
  }

  async function loop(): Promise<Release> {
    for (let stalled = 0; ; ) {
      woken = false
      const { position } = state
      const release = await takeTurn().catch((error: unknown): Release => {
        return { type: 'failed', runId, error: runFailure(error) }
      })
      stalled = state.position === position ? stalled + 1 : 0
      if (!release && stalled < MAX_STALLED) continue
      if (!release) return { type: 'failed', runId, error: stuck(session.id) }
      if (release.type === 'later') await lease.free(release.ms)
      const leaves = release.type === 'idle' || release.type === 'stopped'
      const looked = !leaves || (await giveUp())
      over = release.type !== 'idle' || (!woken && isIdle(due()))
      if (over) return looked ? release : { type: 'later', ms: RETRY_MS }
    }
  }

  /**
   * Frees the lease, then looks once more: what others appended while it lasted is this one's to do. False where the log
   * could not be read, so that somebody has to look later.
   */
  async function giveUp(): Promise<boolean> {
    // A run that was only just begun has its lease from the append of its messages.
    if (!lease.isOurs && openRun(state)?.owner !== owner) return true
    if (!(await lease.free())) return true
    try {
      await session.refresh()
      return true
    } catch {
      return false
    }
  }

  const unwatch = session.watch(({ event }) => {
    if (event.type === 'RUN_CLAIMED' && event.owner !== owner) turn.abort('lost')
    else if (isRunEnd(event) && event.runId === runId) turn.abort('over')
  })
  const released = loop().finally(() => {
    lease.stop()
    unwatch()
  })
  return {
    released,
    wake() {
      woken = true
      return !over
    },
    fail: (error) => turn.abort('handler', error),
    stop() {
      stopping = true
      turn.abort('stopped')
    },
    leave() {
      stopping = true
    },
  }
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

function isIdle(what: Next): boolean {
  return what.do === 'nothing' || what.do === 'wait'
}

function deadlineTimer(left: number, onTime: () => void): ReturnType<typeof setTimeout> | null {
  // Timers hold no more than 24 days.
  return left < 2 ** 31 ? setTimeout(onTime, Math.max(0, left)) : null
}
