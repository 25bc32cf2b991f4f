import type {
  CallError,
  ConversationEvent,
  FinishReason,
  TokenUsage,
} from '../src/core/events/events.ts'
import { type MessageInput, toMessage } from '../src/core/messages/to-message.ts'
import { newId } from '../src/core/new-id.ts'
import type { ModelCall, ModelResponse } from '../src/engine/steps/read-response.ts'
import { addUsage, NO_USAGE, type PlayOptions } from './play.ts'

/** A model call by value: its request and its answer. */
interface Asked {
  request: { model: { provider: string; modelId: string }; prompt: unknown; tools: unknown }
  response: ModelResponse
}

/** The conversation of a task that is played by value, as the events of a run that byref's workbench shows. */
export class ValueLog {
  readonly #keep: PlayOptions['keep']
  readonly #events: ConversationEvent[] = []
  /** The open run; null before it starts and after it ends. */
  #run: { threadId: string; runId: string } | null = null
  #usage = NO_USAGE
  #steps = 0

  constructor(keep: PlayOptions['keep']) {
    this.#keep = keep
  }

  /** The user's message, which starts a run. */
  said(content: string, model: string): void {
    this.#run = { threadId: this.#keep?.id ?? '', runId: newId() }
    this.#usage = NO_USAGE
    const id = this.#message({ role: 'user', content })
    this.#events.push({
      type: 'RUN_STARTED',
      ...this.#run,
      messageIds: [id],
      model,
      owner: 'byref eval',
    })
  }

  /** An answer of the model, with its request as debug data. */
  answered({ request, response }: Asked, usage: TokenUsage): void {
    const { text, calls, finishReason } = response
    const runId = this.#run?.runId ?? ''
    const step = { stepName: `step ${++this.#steps}`, runId, messageId: newId() }
    const { messageId } = step
    this.#events.push({ type: 'STEP_STARTED', ...step })
    for (const call of calls) {
      const ids = { toolCallId: call.id, runId, parentMessageId: messageId }
      this.#events.push({ type: 'TOOL_CALL_END', ...ids, call })
    }
    const debug = { request, response: { text, calls, usage, finishReason } }
    const metadata = { ...(calls.length > 0 && { tool_calls: calls }), debug }
    this.#message({ role: 'assistant', id: messageId, content: text, metadata })
    this.#events.push({ type: 'STEP_FINISHED', ...step, usage, finishReason })
    this.#usage = addUsage(this.#usage, usage)
  }

  /** The result of a call, or its error. */
  returned({ id, name }: ModelCall, content: unknown, error: CallError | null): void {
    const runId = this.#run?.runId ?? ''
    this.#events.push({ type: 'TOOL_STARTED', toolCallId: id, runId, attempt: 1 })
    this.#message({
      role: 'tool',
      name,
      message_type: 'note',
      content_type: 'application/json',
      content,
      metadata: { tool_result: { tool_call_id: id, ...(error && { error }) } },
    })
  }

  /** The end of the run. */
  ended(reason: FinishReason): void {
    if (!this.#run) return
    const result = { reason, usage: this.#usage }
    this.#events.push({ type: 'RUN_FINISHED', ...this.#run, result })
    this.#run = null
  }

  /** Appends everything. A run that is still open has failed. */
  async close(): Promise<void> {
    if (!this.#keep || this.#events.length === 0) return
    if (this.#run) {
      const message = 'A model call failed, or the evaluation was stopped.'
      this.#events.push({ type: 'RUN_ERROR', ...this.#run, code: 'model_failed', message })
    }
    await this.#keep.storage.log().append(this.#keep.id, this.#events)
  }

  #message(input: MessageInput): string {
    const payload = toMessage(input)
    this.#events.push({ type: 'NEW_MESSAGE', payload })
    return payload.id
  }
}
