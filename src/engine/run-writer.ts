import { ByrefError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { LeaseHeldError } from '../log/conversation-log.ts'
import type { Activity } from './activity.ts'
import { isRefusal } from './calls/record-call.ts'
import { isRunEnd } from './follow-up.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import { RunLostError } from './run-lost-error.ts'
import type { Entry, Session } from './session.ts'
import type { Turn } from './turn.ts'

/** How a run's own entries are appended. */
export interface RunAppendOptions {
  /** Takes the conversation over; else it has to be this process's. */
  claims?: boolean
  /** With what follows from them, such as the beginning of the next step. */
  followed?: boolean
  /** Goes with the next append, or at the next turn of the event loop. */
  patient?: boolean
}

/** The step that began here with an append, until it is asked for; of another id than the open one it means nothing. */
export interface BegunStep {
  messageId: string | null
}

/** Appends as whoever runs the conversation. */
export interface RunWriter {
  /** @throws RunLostError where another runs it, or the turn was aborted; what the log throws */
  append(turn: Turn, make: () => Entry, options?: RunAppendOptions): Promise<void>
  /** The open step, where it began here and was not asked for yet. */
  readonly begun: string | null
  /** The same, which counts as asked for from then on. */
  takeBegun(): string | null
}

/** What a writer needs. */
export interface RunWriterOptions {
  session: Session
  owner: string
  leaseMs: number
  lease: LeaseKeeper
  activity: Activity
  /** Whether events have handlers to be waited for. */
  hasHandlers: boolean
  begun: BegunStep
  /** What follows from events. */
  followUp(events: readonly ConversationEvent[]): readonly ConversationEvent[]
}

/** Makes a writer. */
export function createRunWriter(options: RunWriterOptions): RunWriter {
  const { session, owner, leaseMs, lease, activity, hasHandlers, begun, followUp } = options

  /** The events with what follows from them, noting the step that begins with it. */
  function withFollowUp(
    before: readonly ConversationEvent[],
    events: readonly ConversationEvent[],
  ): readonly ConversationEvent[] {
    const more = followUp([...before, ...events])
    begun.messageId = stepIn(more)
    return [...events, ...more]
  }

  return {
    async append(turn, make, { claims = false, followed = false, patient = false } = {}) {
      let frees = false
      try {
        await session.append(
          (now, before) => {
            if (!claims && openRun(now)?.owner !== owner) throw new RunLostError()
            if (!turn.mayAppend) throw new RunLostError()
            const { events, debug } = make()
            const all = followed ? withFollowUp(before, events) : events
            frees = isRunEnd(all.at(-1)) && now.inbox.length === 0
            return { events: all, debug, lease: { owner, ms: frees ? 0 : leaseMs } }
          },
          { joins: !claims, patient },
        )
        lease.appended({ frees })
      } catch (error) {
        begun.messageId = null
        if (isRefusal(error)) throw error
        turn.abort(isLoss(error) ? 'lost' : 'log', error)
        throw error
      }
      if (hasHandlers) await activity.during(session.told)
    },
    get begun() {
      return openStep()
    },
    takeBegun() {
      const taken = openStep()
      begun.messageId = null
      return taken
    },
  }

  function openStep(): string | null {
    const open = openRun(session.state)?.steps.at(-1)?.messageId
    return open === begun.messageId ? begun.messageId : null
  }
}

/** The step that begins with these events; null where none does. */
export function stepIn(events: readonly ConversationEvent[]): string | null {
  return events.find((event) => event.type === 'STEP_STARTED')?.messageId ?? null
}

/** Whether an error of an append says that the conversation is another's now, or gone. */
function isLoss(error: unknown): boolean {
  return (
    error instanceof RunLostError ||
    error instanceof LeaseHeldError ||
    (error instanceof ByrefError && error.code === 'conversation_not_found')
  )
}
