import type { Message as AgUiMessage, ContentPart, RunAgentInput } from '@ag-ui/core'
import type { ApprovalAnswer } from '../../agent/approve.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { textOf } from '../../core/board/render-context.ts'
import { defined } from '../../core/defined.ts'
import { ByrefError } from '../../core/errors.ts'
import type { CallError } from '../../core/events/events.ts'
import { isDeleted, type Message } from '../../core/messages/message.ts'
import { readMetadata } from '../../core/messages/read-metadata.ts'
import { type Speaker, spokenBy } from '../../core/messages/spoken-by.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'
import { jsonOrText } from '../json-in-text.ts'
import {
  type ClientInput,
  type FollowedConversation,
  needsResult,
} from '../serving/follow-conversation.ts'
import { saveSentFiles } from '../serving/sent-files.ts'
import { contextOf, editsOf } from './state.ts'

/** The part of a request's input that the conversation does not have yet. */
export interface AgUiInput extends ClientInput {
  /** The calls of the client's own tools among the answers. */
  results: Set<string>
}

/** The conversation, and who sends the request. */
interface RequestContext {
  followed: FollowedConversation
  speaker: Speaker
  assets: Assets
}

/**
 * Reads the new input of a request.
 *
 * @throws ByrefError `forbidden` for a message that the sender may not send; `bad_request` for an invalid answer or state; what
 *   saving a file throws
 */
export async function readInput(
  input: RunAgentInput,
  { followed: { state, board }, speaker, assets }: RequestContext,
): Promise<AgUiInput> {
  const known = new Set([...state.messages, ...state.inbox.map((one) => one.message)].map(idOf))
  const results = new Set<string>()
  const answers = new Map<string, ApprovalAnswer>()
  for (const { interruptId, status, payload } of input.resume ?? []) {
    const isCancelled = status === 'cancelled'
    const denial = { approved: false, reason: status }
    answers.set(interruptId, isCancelled ? denial : toAnswer(payload))
  }
  const data = [...contextOf(input, board), ...editsOf(input, state, board)]
  const found: SaidMessage[] = []
  for (const message of input.messages) {
    if (known.has(message.id)) continue
    if (message.role === 'tool') {
      // CopilotKit also sends each answer of `resume` as a message of the tool.
      if (!needsResult(state, message.toolCallId) || answers.has(message.toolCallId)) continue
      const { error: reason, content, toolCallId } = message
      const isDone = reason === undefined
      answers.set(
        toolCallId,
        isDone ? { approved: true, result: resultOf(content) } : { approved: false, reason },
      )
      results.add(toolCallId)
    } else {
      // A client may have only the beginning of an answer that was interrupted.
      if (message.role === 'assistant' && known.size > 0 && !speaker.speaksAsOthers) continue
      if (isSaid(message)) found.push(message)
    }
  }
  const count = data.length + found.length
  if (count > MAX_MESSAGES && !speaker.speaksAsOthers) {
    throw new ByrefError(
      'bad_request',
      `A request can have at most ${MAX_MESSAGES} new messages and changed keys of the state, and this one has ${count}`,
    )
  }
  // One after the other, because each may save files.
  const said = await Array.fromAsync(found, (message) => toInput(message, assets))
  const messages = [...data, ...said].map((message) => spokenBy(message, speaker))
  return { messages, answers, results }
}

/** Maximum number of new messages in a request, as in the HTTP API. Each changed key of the state is one. */
const MAX_MESSAGES = 100

const idOf = ({ id }: { id: string }): string => id

function toAnswer(payload: unknown): ApprovalAnswer {
  if (typeof payload === 'boolean') return { approved: payload }
  const { approved, reason, arguments: args } = Object(payload)
  if (typeof approved === 'boolean') return { approved, reason, arguments: args }
  throw new ByrefError(
    'bad_request',
    'resume: the payload must be { approved, reason?, arguments? }',
  )
}

/** Reads the result of a client's tool. It is text, which is often JSON. */
function resultOf(content: string | ContentPart[]): unknown {
  return typeof content === 'string' ? jsonOrText(content) : content.map(toPart)
}

/** A message that becomes part of the conversation. Reasoning and activities do not. */
type SaidMessage = Exclude<AgUiMessage, { role: 'activity' | 'reasoning' | 'tool' }> & {
  content: string | ContentPart[]
}

function isSaid(message: AgUiMessage): message is SaidMessage {
  const isOther = ['activity', 'reasoning', 'tool'].includes(message.role)
  return !isOther && message.content !== undefined
}

async function toInput(message: SaidMessage, assets: Assets): Promise<MessageInput> {
  const { id, role, content } = message
  const head = defined({ id, role: role === 'developer' ? 'system' : role, name: message.name })
  if (typeof content === 'string') return { ...head, content }
  return { ...head, ...(await saveSentFiles(content.map(toPart), assets)) }
}

/** Returns a part in the form of byref's messages: in AG-UI, its body is in a `source`. */
function toPart(part: ContentPart): unknown {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const { type, source, metadata } = part
  const { filename } = Object(metadata)
  const { value, mimeType } = source
  const body = source.type === 'data' ? { data: value } : { url: value }
  return { type: type === 'document' ? 'file' : type, ...body, mimeType, filename }
}

/** Returns the result of a call as AG-UI's text: JSON, unless it is text itself. */
export function toolContent({ content }: Message, error: CallError | null): string {
  const value = error ?? content
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns the conversation as AG-UI messages, without data and logs. */
export function agUiMessages(messages: readonly Message[]): AgUiMessage[] {
  return messages.flatMap((message): AgUiMessage[] => {
    const { id, sender, content_type: type, message_type } = message
    if (type === 'data' || message_type === 'log' || isDeleted(message)) return []
    const { result, calls } = readMetadata(message)
    if (result) {
      const error = result.error ? { error: result.error.message } : {}
      const content = toolContent(message, result.error)
      return [{ id, role: 'tool', toolCallId: result.callId, content, ...error }]
    }
    const role = sender.participant_role
    const content = textOf(message)
    if (role !== 'assistant') return [{ id, role: role === 'system' ? role : 'user', content }]
    const toolCalls = calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: JSON.stringify(args) },
    }))
    return [{ id, role, content, ...(toolCalls.length > 0 ? { toolCalls } : {}) }]
  })
}
