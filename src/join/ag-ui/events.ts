import type { BaseEvent, Interrupt, JsonPatchOperation, RunFinishedOutcome } from '@ag-ui/core'
import type { CallState, RunState } from '../../content/conversation-state.ts'
import type { ConversationEvent, TokenUsage } from '../../content/events.ts'
import { isPlainObject } from '../../content/json.ts'
import type { Message } from '../../content/message.ts'
import { readMetadata } from '../../content/read-metadata.ts'
import { textOf } from '../../content/render-context.ts'

/** An event as it goes over the wire: AG-UI's, by its names. */
export type AgUiEvent = Omit<BaseEvent, 'type'> & { type: string; [key: string]: unknown }

/** Turns a conversation's events into AG-UI's. What is one of theirs is passed as it is, all else travels as `CUSTOM`. */
export interface AgUiEvents {
  take(event: ConversationEvent): AgUiEvent[]
  /** Ends what is still open, as each run must before it ends. */
  finish(): AgUiEvent[]
}

/** Of which the client knows already: what it sent itself. */
export interface KnownToClient {
  messages: ReadonlySet<string>
  /** Calls whose results it gave. */
  results: ReadonlySet<string>
}

export function createAgUiEvents(known: KnownToClient): AgUiEvents {
  let step: string | null = null
  const texts = new Set<string>()
  const written = new Set<string>()
  const calls = new Set<string>()

  function beginCall(id: string, name: string, parent: string): AgUiEvent {
    calls.add(id)
    return {
      type: 'TOOL_CALL_START',
      toolCallId: id,
      toolCallName: name,
      parentMessageId: parent,
    }
  }

  function endCall(id: string): AgUiEvent {
    calls.delete(id)
    return { type: 'TOOL_CALL_END', toolCallId: id }
  }

  function begun(stepName: string): AgUiEvent {
    step = stepName
    return { type: 'STEP_STARTED', stepName }
  }

  function endStep(): AgUiEvent[] {
    const stepName = step
    step = null
    return stepName === null ? [] : [{ type: 'STEP_FINISHED', stepName }]
  }

  function said(message: Message): AgUiEvent[] {
    const { id, sender, content_type: type } = message
    const { result } = readMetadata(message)
    if (known.messages.has(id) || result) return []
    const content = textOf(message)
    const isAnswer = sender.participant_role === 'assistant' && type !== 'data'
    if (!isAnswer) return [custom('NEW_MESSAGE', message)]
    if (written.has(id) || content === '') return []
    const text = { messageId: id }
    return [
      { type: 'TEXT_MESSAGE_START', ...text, role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', ...text, delta: content },
      { type: 'TEXT_MESSAGE_END', ...text },
    ]
  }

  return {
    take(event) {
      switch (event.type) {
        case 'RUN_STARTED':
        case 'RUN_FINISHED':
        case 'RUN_ERROR':
          return []
        case 'STEP_STARTED':
          // One that a crash cut off never ended.
          return [...endStep(), begun(event.stepName)]
        case 'STEP_FINISHED':
          return endStep()
        case 'TEXT_MESSAGE_START':
          texts.add(event.messageId)
          written.add(event.messageId)
          return [{ ...event }]
        case 'TEXT_MESSAGE_CONTENT':
          return texts.has(event.messageId) && event.delta !== '' ? [{ ...event }] : []
        case 'TEXT_MESSAGE_END':
          return texts.delete(event.messageId) ? [{ ...event }] : []
        case 'TOOL_CALL_START':
          return [beginCall(event.toolCallId, event.toolCallName, event.parentMessageId)]
        case 'TOOL_CALL_ARGS':
          return calls.has(event.toolCallId) && event.delta !== '' ? [{ ...event }] : []
        case 'TOOL_CALL_END': {
          const { toolCallId: id, call, parentMessageId: parent } = event
          if (calls.has(id)) return [endCall(id)]
          const delta = JSON.stringify(call.arguments)
          const args = { type: 'TOOL_CALL_ARGS', toolCallId: id, delta }
          return [beginCall(id, call.name, parent), args, endCall(id)]
        }
        case 'TOOL_CALL_RESULT':
          return known.results.has(event.toolCallId) ? [] : [{ ...event }]
        case 'NEW_MESSAGE':
          return said(event.payload)
        default: {
          const { type, ...rest } = event
          return [custom(type, 'payload' in rest ? rest.payload : rest)]
        }
      }
    },
    finish() {
      const open = [
        ...[...texts].map((messageId) => ({ type: 'TEXT_MESSAGE_END', messageId })),
        ...[...calls].map(endCall),
        ...endStep(),
      ]
      texts.clear()
      return open
    },
  }
}

function custom(name: string, value: unknown): AgUiEvent {
  return { type: 'CUSTOM', name, value }
}

/** How a run ended, or what it waits for: people's answers are interrupts, calls of the client's own tools are not. */
export function outcomeOf(
  run: RunState,
  waiting: readonly CallState[],
  clientTools: ReadonlySet<string>,
): RunFinishedOutcome {
  if (run.reason === 'cancelled') return { type: 'cancelled' }
  const asked = waiting.filter(({ name }) => !clientTools.has(name))
  if (asked.length > 0) return { type: 'interrupt', interrupts: asked.map(toInterrupt) }
  return waiting.length === 0
    ? { type: 'success' }
    : { type: 'success', pendingToolCallIds: waiting.map(({ id }) => id) }
}

function toInterrupt({ id, name, approval }: CallState): Interrupt {
  return {
    id,
    reason: 'tool_call',
    toolCallId: id,
    message: `May "${name}" run?`,
    responseSchema: {
      type: 'object',
      properties: {
        approved: { type: 'boolean' },
        reason: { type: 'string' },
        arguments: { type: 'object', description: 'What runs instead of what was shown' },
      },
      required: ['approved'],
    },
    metadata: { arguments: approval?.items ?? approval?.arguments },
  }
}

/** Token usage by AG-UI's names; none where the provider did not say. */
export function usageOf({ inputTokens, outputTokens, ...usage }: TokenUsage, model?: string) {
  if (inputTokens === null || outputTokens === null) return undefined
  const { cachedInputTokens, cacheWriteTokens: cacheWriteInputTokens } = usage
  return [
    {
      ...(model === undefined ? {} : { model }),
      ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
      ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
      ...(cacheWriteInputTokens === undefined ? {} : { cacheWriteInputTokens }),
    },
  ]
}

/** What turns one value into the other (RFC 6902): objects by their keys, everything else as a whole. */
export function jsonPatch(before: unknown, after: unknown, path = ''): JsonPatchOperation[] {
  if (before === after || JSON.stringify(before) === JSON.stringify(after)) return []
  if (!isPlainObject(before) || !isPlainObject(after))
    return [{ op: 'replace', path, value: after }]
  const at = (key: string): string => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  return [
    ...gone.map((key): JsonPatchOperation => ({ op: 'remove', path: at(key) })),
    ...Object.entries(after).flatMap(([key, value]): JsonPatchOperation[] =>
      Object.hasOwn(before, key)
        ? jsonPatch(before[key], value, at(key))
        : [{ op: 'add', path: at(key), value }],
    ),
  ]
}
