import type { Message } from '../messages/message.ts'
import type { CallState, ConversationState, RunState, StepState } from './conversation-state.ts'

/** A part of the state that can be changed in place. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Lists = 'messages' | 'inbox' | 'assets' | 'assetsAfter' | 'assetErrors' | 'runs'
type Records = 'calls' | 'streaming'

/** The lists and records of a state that owns them. */
type Fields = { [K in Lists]: ConversationState[K][number][] } & {
  [K in Records]: Writable<ConversationState[K]>
}

/**
 * A state under construction. It shares unchanged parts with other states, and copies a part at its first
 * change.
 */
export class EditableState {
  readonly state: Writable<ConversationState>
  readonly onMessage: ((message: Message) => void) | undefined
  /**
   * The objects that belong to this state only and can be changed in place. A WeakSet would be slower, and the
   * state holds these objects anyway.
   */
  #owns = new Set<object>()

  constructor(from: ConversationState, onMessage: ((message: Message) => void) | undefined) {
    this.state = { ...from }
    this.onMessage = onMessage
  }

  share(): ConversationState {
    this.#owns = new Set()
    return { ...this.state }
  }

  /** Marks a new value as owned by this state, and returns it. */
  adopt<T extends object>(value: T): T {
    this.#owns.add(value)
    return value
  }

  /** Returns the value if this state owns it; otherwise a copy that it owns. */
  own<T extends object>(value: T): Writable<T> {
    return this.#owned(value)
  }

  #owned<T extends object>(value: T): T {
    return this.#owns.has(value) ? value : this.adopt(copyOf(value))
  }

  /** Returns a list or a record of the state, which can be changed in place. */
  field<K extends Lists | Records>(key: K): Fields[K] {
    // Only owned fields leave this function, and they can be changed.
    const fields: Fields = this.state as Writable<ConversationState> & Fields
    const value = this.#owned(fields[key])
    fields[key] = value
    return value
  }

  run(runId: string): Writable<RunState> | null {
    const { runs } = this.state
    const index =
      runs.at(-1)?.runId === runId
        ? runs.length - 1
        : runs.findLastIndex((run) => run.runId === runId)
    if (index === -1) return null
    const run = this.own(runs[index] as RunState)
    this.field('runs')[index] = run
    return run
  }

  step(run: Writable<RunState>, messageId: string): Writable<StepState> | null {
    const index = run.steps.findLastIndex((step) => step.messageId === messageId)
    if (index === -1) return null
    const steps = this.own(run.steps as StepState[])
    const step = this.own(steps[index] as StepState)
    steps[index] = step
    run.steps = steps
    return step
  }

  call(id: string): Writable<CallState> | null {
    const found = this.state.calls[id]
    if (!found) return null
    const call = this.own(found)
    this.field('calls')[id] = call
    return call
  }
}

function copyOf<T extends object>(value: T): T
function copyOf(value: object): object {
  if (Array.isArray(value)) return value.slice()
  // Records by id have no prototype, so that any text can be an id.
  const isRecord = Object.getPrototypeOf(value) === null
  return isRecord ? Object.assign(Object.create(null), value) : { ...value }
}
