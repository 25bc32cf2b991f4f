import { openRun, type RunState } from '../content/conversation-state.ts'
import type { ConversationEvent } from '../content/events.ts'
import { ByrefError } from '../errors.ts'
import { type ConversationLog, LeaseHeldError } from '../log/conversation-log.ts'
import type { ModelCapabilities } from '../model/model-capabilities.ts'
import { type CallRunner, createCallRunner } from './calls/call-runner.ts'
import { isRefusal } from './calls/record-call.ts'
import { createSlots } from './calls/slots.ts'
import { followUp, isRunEnd, runEnd } from './follow-up.ts'
import { callsOf, deadlineOf, type Next, type NextSettings, next } from './next.ts'
import { commandReplies } from './plugins/command-step.ts'
import { claimEntry, errorEntry, queuedStartEntry } from './run-entries.ts'
import { runFailure } from './run-failure.ts'
import { RunLostError } from './run-lost-error.ts'
import type { RunScope } from './run-scope.ts'
import type { AgentSettings } from './run-settings.ts'
import { askModel, compactPrompt, logBrokenAnswer } from './steps/ask-model.ts'
import { unfinishedMessage } from './steps/assistant-message.ts'
import { createStepPrompts, type StepPrompts } from './steps/step-prompts.ts'
import type { Entry, Thread } from './thread.ts'

/** Why a performer let go of a conversation. */
export type Release =
  /** Nothing is due, or only people can go on with it. */
  | { type: 'idle' }
  /** Another process runs it, for at least so many milliseconds. */
  | { type: 'held'; expiresIn: number }
  /** It was told to stop; what is due is left to others. */
  | { type: 'stopped' }
  /** The log failed, and so did ending the run in it. */
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
}

/** What a performer needs. */
export interface PerformerOptions {
  thread: Thread
  log: ConversationLog
  settings: AgentSettings
  /** This agent, unique over all processes. */
  owner: string
  leaseMs: number
  namespace: string | null
  /** Whether events have handlers to be waited for. */
  hasHandlers: boolean
  /** Keeps what ended a run, with its cause, for who waits for it here. */
  onFailure(runId: string, error: ByrefError): void
}

/** The prompts of conversations that are open in this process. */
const promptsOf = new WeakMap<Thread, StepPrompts>()

/** The reason of signals when the run is over; one for all, since its stack says nothing. */
const OVER = new RunLostError()

/** Turns in which nothing was appended, after which a run is given up: each should append something. */
const MAX_STALLED = 100

/** What ended the work of a moment: the signal's reason. */
type Halt = 'over' | 'lost' | 'stopped' | 'time' | 'handler' | 'log'

/** Begins to do what is due. */
export function perform(options: PerformerOptions): Performer {
  const { thread, log, settings, owner, leaseMs, namespace, hasHandlers, onFailure } = options
  const { limits } = settings
  const { state } = thread
  const writer = { conversation: thread.id, owner, settings }
  const slots = createSlots(limits.parallelCalls)
  const prompts =
    promptsOf.get(thread) ?? createStepPrompts(settings, { assets: settings.assets, namespace })
  promptsOf.set(thread, prompts)
  let controller = new AbortController()
  let halt: { why: Halt; error?: unknown } | null = null
  /** The step that was begun by the append before, to be asked for. */
  let begun: string | null = null
  let runId: string | null = null
  let lastAppend = 0
  let woken = false
  let over = false
  let stopping = false

  function stopWork(why: Halt, error?: unknown): void {
    halt ??= { why, error }
    if (!controller.signal.aborted) controller.abort(error ?? OVER)
  }

  function situation(): NextSettings {
    return {
      ...{ limits, tools: settings.tools, board: thread.board, now: Date.now() },
      compaction: (after) => prompts.compaction(thread, after),
    }
  }

  const due = (): Next => next(state, situation())

  /** The events with what follows from them, noting the step that begins with it. */
  function withFollowUp(
    before: readonly ConversationEvent[],
    events: readonly ConversationEvent[],
  ): readonly ConversationEvent[] {
    const more = followUp(thread.id, state, [...before, ...events], situation())
    begun = more.find((event) => event.type === 'STEP_STARTED')?.messageId ?? null
    return [...events, ...more]
  }

  /** Appends as whoever runs the conversation. */
  async function append(
    make: () => Entry,
    { claims = false, followed = false, patient = false } = {},
  ): Promise<void> {
    let frees = false
    try {
      await thread.append(
        (now, before) => {
          if (!claims && openRun(now)?.owner !== owner) throw new RunLostError()
          if (halt && halt.why !== 'time' && halt.why !== 'handler') throw new RunLostError()
          const { events, debug } = make()
          const all = followed ? withFollowUp(before, events) : events
          frees = isRunEnd(all.at(-1)) && now.inbox.length === 0
          return { events: all, debug, lease: { owner, ms: frees ? 0 : leaseMs } }
        },
        { joins: !claims, patient },
      )
      lastAppend = frees ? 0 : Date.now()
    } catch (error) {
      begun = null
      if (isRefusal(error)) throw error
      const isLost =
        error instanceof RunLostError ||
        error instanceof LeaseHeldError ||
        (error instanceof ByrefError && error.code === 'conversation_not_found')
      stopWork(isLost ? 'lost' : 'log', error)
      throw error
    }
    if (hasHandlers) await thread.told()
  }

  function scopeOf(run: RunState): RunScope {
    return {
      thread,
      settings,
      runId: run.runId,
      namespace,
      context: run.context === undefined ? settings.context : run.context,
      assets: settings.assets,
      signal: controller.signal,
      slots,
      append: (entry, how) => append(typeof entry === 'function' ? entry : () => entry, how),
      stream(event) {
        if (halt) return undefined
        thread.stream(event)
        return hasHandlers ? thread.told() : undefined
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
        await compactPrompt(scopeOf(what.run), prompts, what.reason, { followed: begun === null })
        return begun === null ? undefined : ask(what.run)
      case 'ask':
        if (begun === null) await append(() => ({ events: [] }), { followed: true })
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
            runEnd(thread.id, what.run, what.reason),
          ],
        }))
    }
  }

  async function ask(run: RunState): Promise<void> {
    const messageId = begun
    begun = null
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
  async function turn(): Promise<Release | null> {
    const what = due()
    const run = openRun(state)
    runId = run?.runId ?? null
    if (stopping) return { type: 'stopped' }
    if (what.do === 'nothing' || what.do === 'wait') return { type: 'idle' }
    controller = controller.signal.aborted ? new AbortController() : controller
    halt = null
    const timer = run && deadlineTimer(run, limits, () => stopWork('time'))
    try {
      // The log refuses while another's lease lasts.
      if (run && run.owner !== owner)
        await append(() => claimEntry(writer, state), { claims: true })
      checkPrice(await prompts.ready(), limits)
      await act(due())
      return halt ? await afterFailure(null) : null
    } catch (error) {
      return await afterFailure(error)
    } finally {
      clearTimeout(timer ?? undefined)
    }
  }

  async function afterFailure(error: unknown): Promise<Release | null> {
    if (error instanceof LeaseHeldError) return { type: 'held', expiresIn: error.expiresIn }
    const why = (halt as { why: Halt; error?: unknown } | null)?.why
    if (why === 'stopped') return { type: 'stopped' }
    // Overtaken, or ended by somebody else: what is due now is a new question.
    if (why === 'lost' || why === 'over' || why === 'time') return null
    const failure = runFailure(
      why === 'handler' ? (halt as unknown as { error: unknown }).error : error,
    )
    halt = null
    try {
      await fail(failure)
      return null
    } catch (second) {
      if (why !== 'log' && (halt as { why: Halt } | null)?.why === 'lost') return null
      return { type: 'failed', runId, error: why === 'log' ? failure : runFailure(second) }
    }
  }

  async function loop(): Promise<Release> {
    for (let stalled = 0; ; ) {
      woken = false
      const { position } = state
      const release = await turn().catch((error: unknown): Release => {
        return { type: 'failed', runId, error: runFailure(error) }
      })
      stalled = state.position === position ? stalled + 1 : 0
      if (!release && stalled < MAX_STALLED) continue
      if (!release) return { type: 'failed', runId, error: stuck(thread.id) }
      const isFinal = release.type === 'held' || release.type === 'failed'
      if (!isFinal) await giveUp()
      over = isFinal || release.type === 'stopped' || (!woken && isIdle(due()))
      if (over) return release
    }
  }

  /** Frees the lease, then looks once more: what others appended while it lasted is this one's to do. */
  async function giveUp(): Promise<void> {
    // A run that was only just begun has its lease from the append of its messages.
    if (lastAppend === 0 && openRun(state)?.owner !== owner) return
    lastAppend = 0
    if (await log.renew(thread.id, { owner, ms: 0 }).catch(() => false)) await thread.refresh()
  }

  const heartbeat = setInterval(() => {
    if (lastAppend === 0 || Date.now() - lastAppend < leaseMs / 3) return
    log.renew(thread.id, { owner, ms: leaseMs }).then(
      (isOwn) => {
        if (isOwn) lastAppend = Date.now()
        else stopWork('lost')
      },
      // A log that fails now may not at the next append, which is what counts.
      () => {},
    )
  }, leaseMs / 4)
  heartbeat.unref?.()
  const unwatch = thread.watch(({ event }) => {
    if (event.type === 'RUN_CLAIMED' && event.owner !== owner) stopWork('lost')
    else if (isRunEnd(event) && event.runId === runId) stopWork('over')
  })
  const released = loop().finally(() => {
    clearInterval(heartbeat)
    unwatch()
  })
  return {
    released,
    wake() {
      woken = true
      return !over
    },
    fail: (error) => stopWork('handler', error),
    stop() {
      stopping = true
      stopWork('stopped')
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

function deadlineTimer(
  run: RunState,
  limits: AgentSettings['limits'],
  onTime: () => void,
): ReturnType<typeof setTimeout> | null {
  const deadline = deadlineOf(run, limits)
  // Timers hold no more than 24 days.
  return deadline - Date.now() < 2 ** 31
    ? setTimeout(onTime, Math.max(0, deadline - Date.now()))
    : null
}
