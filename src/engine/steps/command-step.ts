import type { ConversationState, RunState } from '../../core/events/conversation-state.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import type { Message } from '../../core/messages/message.ts'
import { readMetadata } from '../../core/messages/read-metadata.ts'
import { newId } from '../../core/new-id.ts'
import {
  type CommandMessage,
  callOf,
  commandCallId,
  isCommand,
  type Plugins,
} from '../../plugins/command-message.ts'

/**
 * Returns the step that runs the commands among a run's messages, written as if a model had called them. From then
 * on they are ordinary calls, with approvals, variables and recovery after crashes. Empty if there are no commands.
 */
export function commandStep(
  runId: string,
  messages: readonly Message[],
  plugins: Plugins,
): ConversationEvent[] {
  const commands = messages.filter(isCommand)
  if (commands.length === 0) return []
  const step = { stepName: 'step 1', runId, messageId: newId() }
  const calls = commands.map((message): ConversationEvent => {
    const call = callOf(message, plugins)
    return {
      type: 'TOOL_CALL_END',
      toolCallId: call.id,
      runId,
      parentMessageId: step.messageId,
      call,
    }
  })
  const usage = { inputTokens: null, outputTokens: null }
  return [
    { type: 'STEP_STARTED', ...step, commandIds: commands.map(({ id }) => id) },
    ...calls,
    { type: 'STEP_FINISHED', ...step, usage, finishReason: 'tool-calls' },
  ]
}

/**
 * Adds the call to a command's metadata, so that its result is linked to the message. Other messages are unchanged.
 */
export function withCommandCall(message: Message, plugins: Plugins): Message {
  if (!isCommand(message) || message.metadata.tool_calls !== undefined) return message
  const tool_calls = [callOf(message, plugins)]
  return { ...message, metadata: { ...message.metadata, tool_calls } }
}

/**
 * Returns the replies to the commands of a run's last step: the results of their calls, or their errors. They are
 * appended together with the events that follow the step.
 */
export function commandReplies(
  { messages, calls }: Pick<ConversationState, 'messages' | 'calls'>,
  run: RunState,
): ConversationEvent[] {
  const ids = run.steps.at(-1)?.commandIds ?? []
  return ids.flatMap((id): ConversationEvent[] => {
    const command = messages.findLast((message) => message.id === id)
    if (!command || !isCommand(command)) return []
    const { resultMessageId, outcome } = calls[commandCallId(id)] ?? {}
    const result = messages.findLast((message) => message.id === resultMessageId)
    const kept = outcome && (outcome.error ? { error: outcome.error } : outcome.value)
    return [{ type: 'NEW_MESSAGE', payload: replyTo(command, kept ?? responseOf(result)) }]
  })
}

function responseOf(result: Message | undefined): unknown {
  if (!result) {
    const message =
      'The run ended before the command was completed. It may or may not have taken effect.'
    return { error: { code: 'interrupted', message } }
  }
  const error = readMetadata(result).result?.error
  return error ? { error } : result.content
}

/** Returns the reply to a command: sender and receiver are swapped, and `param` is left out. */
function replyTo({ sender, receiver, content }: CommandMessage, response: unknown): Message {
  const { param: _, ...rest } = content
  return {
    id: newId(),
    sender: receiver ?? { participant_id: 'plugin', participant_role: 'plugin' },
    receiver: sender,
    message_type: 'command-response',
    content_type: 'command',
    content: { ...rest, response: response ?? null },
    timestamp: new Date().toISOString(),
    metadata: {},
  }
}
