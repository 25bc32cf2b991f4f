import type { Assets } from '../assets/assets-contract.ts'
import type { ConversationState, RunState } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Work } from '../policies/policy.ts'
import type { AgentSettings } from './run-settings.ts'
import type { Entry, Session } from './session.ts'

/** What the parts of one run work with: its conversation, its right to append, its end. */
export interface RunScope {
  readonly session: Session
  readonly settings: AgentSettings
  readonly runId: string
  readonly namespace: string | null
  /** What the run was given as its context, else the agent's. */
  readonly context: unknown
  /** Those of the run's namespace. */
  readonly assets: Assets
  /** Aborted when the run is over for this process: ended, taken over, out of time, the agent closed. */
  readonly signal: AbortSignal
  /** The executions of tools that go on at once. */
  readonly slots: Slots
  /**
   * Appends as whoever runs the conversation, and waits for the handlers of events.
   *
   * @throws RunLostError where the run is not this one's any more; what the log throws
   */
  append(entry: Entry | ((state: ConversationState) => Entry)): Promise<void>
  /** Does what may take any time: a model's, a tool's or a store's work, a handler's. All else is expected to end by itself. */
  during<T>(work: () => T | Promise<T>): Promise<T>
  /** Tells of an event that only streams, unless the run is over. Waits for its handlers, where there are any. */
  stream(event: ConversationEvent): Promise<void> | undefined
}

/** The work of a run that is under way. */
export function workOf({ session, runId, namespace, signal }: RunScope): Work {
  const run = session.state.runs.findLast((one) => one.runId === runId) as RunState
  return {
    conversation: session.id,
    namespace,
    run,
    signal,
    messages() {
      const given = new Set(run.messageIds)
      return session.state.messages.filter(({ id }) => given.has(id))
    },
  }
}

/** Limits how many pieces of work run at once. Work that finds no free slot waits in order of arrival. */
export interface Slots {
  /** Takes a slot if one is free. */
  tryTake(): boolean
  /** Takes a slot as soon as one is free. */
  take(): Promise<void>
  /** Frees a slot. */
  free(): void
}

/** Makes a number of slots; `Infinity` for no limit. */
export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = []
  let left = count
  const tryTake = (): boolean => {
    if (left <= 0) return false
    left--
    return true
  }
  return {
    tryTake,
    async take() {
      if (!tryTake()) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    free() {
      const next = waiting.shift()
      if (next) next()
      else left++
    },
  }
}
