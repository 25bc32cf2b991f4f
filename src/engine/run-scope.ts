import type { Assets } from '../assets/assets-contract.ts'
import type { Boundary } from '../boundary/boundary.ts'
import { type ConversationState, type RunState, runOf } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Slots } from '../core/slots.ts'
import type { Work } from '../policies/policy.ts'
import type { Entry } from './append-batch.ts'
import type { AgentSettings } from './run-settings.ts'
import type { Session } from './session.ts'

/** What the code of a run needs: its session, its assets, its abort signal, and functions to append and stream. */
export interface RunScope {
  readonly session: Session
  readonly settings: AgentSettings
  readonly runId: string
  readonly namespace: string | null
  /** The `context` of the run, or else of the agent. */
  readonly context: unknown
  /** The assets of the run's namespace. */
  readonly assets: Assets
  /** Passes the values of calls by reference. */
  readonly boundary: Boundary
  /** Aborted when this process must stop: the run has ended, was taken over or timed out, or the agent was closed. */
  readonly signal: AbortSignal
  /** Limits how many tools run in parallel. */
  readonly slots: Slots
  /**
   * Appends, renews the lease, and waits for the event handlers.
   *
   * @throws RunLostError if this process no longer runs the conversation; any error of the log
   */
  append(entry: Entry | ((state: ConversationState) => Entry)): Promise<void>
  /**
   * Wraps work that may take any time: of a model, a tool, a store or a handler. The watchdog does not count it as
   * a stall.
   */
  during<T>(work: () => T | Promise<T>): Promise<T>
  /** Sends an event that is not logged, unless the run is over. Resolves when its handlers, if any, have ended. */
  stream(event: ConversationEvent): Promise<void> | undefined
}

/** Describes an open run for policies. */
export function workOf({ session, runId, namespace, signal }: RunScope): Work {
  const run = runOf(session.state, runId) as RunState
  return {
    conversation: session.id,
    namespace,
    run,
    signal,
    messages() {
      const inputIds = new Set(run.messageIds)
      return session.state.messages.filter(({ id }) => inputIds.has(id))
    },
  }
}
