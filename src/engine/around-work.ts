import type { Tool } from '../boundary/tool.ts'
import type { RunState } from '../core/events/conversation-state.ts'
import type { CallError, ConversationEvent, TokenUsage } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import type { LanguageModel } from '../models/language-model.ts'

/** Where work belongs. */
export interface Work {
  conversation: string
  namespace: string | null
  /** As it stands. */
  run: RunState
  /** What the run began with. */
  messages(): readonly Message[]
  /** Aborted when the run is over for this process. */
  signal: AbortSignal
}

/** One answer of the model, which writes the message of this id. */
export interface StepWork extends Work {
  messageId: string
  model: LanguageModel
}

/** One execution of a tool: a call, an item of a mapped one, or another try. */
export interface CallWork extends Work {
  /** With the item's index for a mapped call: `id/0`. */
  toolCallId: string
  /** From 1. */
  attempt: number
  tool: Tool
  /** As they are before references to assets are resolved. */
  arguments: Readonly<Record<string, unknown>>
}

/**
 * Wrap what takes time, to measure it or to give it a context: each calls `perform` once, at once, and gives what it
 * gives. What is thrown otherwise counts as thrown by the work.
 */
export interface AroundWork {
  /** `perform` rejects where the model failed or the run is over. */
  aroundStep?<Outcome extends { usage: TokenUsage; finishReason: string }>(
    step: StepWork,
    perform: () => Promise<Outcome>,
  ): Promise<Outcome>
  /** What fails in a tool is an outcome; `perform` rejects where the run is over. `events` are those of its assets. */
  aroundCall?<Outcome extends { error?: CallError; events: readonly ConversationEvent[] }>(
    call: CallWork,
    perform: () => Promise<Outcome>,
  ): Promise<Outcome>
}
