import type { Agent } from '../../agent/agent-contract.ts'
import type { ApprovalAnswer } from '../../agent/approve.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { defined } from '../../core/defined.ts'
import { ByrefError } from '../../core/errors.ts'
import {
  type ConversationState,
  isRunEnd,
  openRun,
  runOf,
} from '../../core/events/conversation-state.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { fromHistory } from '../../core/messages/from-history.ts'
import { type Speaker, spokenBy } from '../../core/messages/spoken-by.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'
import { newId } from '../../core/new-id.ts'
import { readAll } from '../../log/conversation-log.ts'
import type { ModelSettings } from '../../models/language-model.ts'
import { jsonOrText } from '../json-in-text.ts'
import { eventStream } from '../serving/event-stream.ts'
import {
  type ClientInput,
  type FollowedConversation,
  followConversation,
  isWaiting,
  needsResult,
  say,
} from '../serving/follow-conversation.ts'
import { failureText } from '../serving/request-handler.ts'
import { saveSentFiles } from '../serving/sent-files.ts'
import {
  findResponse,
  formatResponseId,
  type ResponseId,
  type ResponseParts,
  responseOf,
} from './response.ts'
import { ResponseOutput, type StreamEvent } from './response-output.ts'
import type { MessageItem, Part, ResponsesRequest } from './responses-request.ts'

/** How a response is requested. */
interface ResponseOptions {
  request: Request
  keepRunning: boolean
  speaker: Speaker
}

/** Sends the messages of a request, and answers with the response, as a whole or as a stream. */
export async function createResponse(
  agent: Agent,
  asked: ResponsesRequest,
  { request, keepRunning, speaker }: ResponseOptions,
): Promise<Response> {
  const conversation = await conversationOf(agent, asked.previous_response_id)
  const followed = await followConversation(agent, conversation)
  try {
    const { state } = followed
    const after = state.position
    const input = await readInput(asked, { state, speaker, assets: agent.assets })
    const open = openRun(state)
    if (open && input.answers.size === 0) {
      throw new ByrefError(
        'conversation_busy',
        'Calls of the previous response wait for their outputs: send these first',
      )
    }
    const ask = { settings: settingsOf(asked), output: asked.text?.format?.schema }
    const runId = await say(agent, conversation, { ...input, open, ...ask })
    const onEnd = (isCut: boolean): void => {
      followed.close()
      if (!isCut || keepRunning || asked.background) return
      agent.cancel(conversation, { runId }).catch(() => {})
    }
    const events = responseEvents(followed, asked, { conversation, after, runId, input })
    if (!asked.stream) return await lastResponse(events, { asked, request, onEnd })
    return eventStream(events, {
      frame({ type, ...event }, index) {
        const data = JSON.stringify({ type, sequence_number: index, ...event })
        return `event: ${type}\ndata: ${data}\n\n`
      },
      failed: (error) => {
        return { type: 'error', code: 'server_error', message: failureText(error), param: null }
      },
      last: 'data: [DONE]\n\n',
      onEnd,
    })
  } catch (error) {
    followed.close()
    throw error
  }
}

/** Returns the conversation that a request continues: a fork, if the conversation has continued otherwise since. */
async function conversationOf(agent: Agent, previous?: string | null): Promise<string> {
  if (!previous) return newId()
  const { conversation, after } = await findResponse(agent, previous)
  let last = ''
  let hasAnswered = false
  for await (const { position, event } of readAll(agent.log, conversation)) {
    if (position > after && hasAnswered && isInput(event))
      return agent.fork(conversation, { at: last })
    if (event.type === 'NEW_MESSAGE') last = event.payload.id
    hasAnswered ||= position > after && (event.type === 'STEP_FINISHED' || isRunEnd(event))
  }
  return conversation
}

/** Returns whether a person sent a message or answered a call. */
function isInput(event: ConversationEvent): boolean {
  if (event.type === 'APPROVAL_ANSWERED') return true
  return event.type === 'NEW_MESSAGE' && event.payload.sender.participant_role === 'user'
}

function settingsOf(asked: ResponsesRequest): ModelSettings {
  return defined({
    temperature: asked.temperature ?? undefined,
    topP: asked.top_p ?? undefined,
    maxOutputTokens: asked.max_output_tokens ?? undefined,
  })
}

/** Returns the events of a response. The last one contains the whole response. */
async function* responseEvents(
  followed: FollowedConversation,
  request: ResponsesRequest,
  { conversation, after, runId, input }: ResponseId & { runId: string; input: ClientInput },
): AsyncGenerator<StreamEvent> {
  const { state } = followed
  const clientTools = new Set(request.tools?.map(({ name }) => name))
  const output = new ResponseOutput((name) => clientTools.has(name), state)
  const id = { conversation, after }
  const response = (isWaiting: boolean) => {
    const run = runOf(state, runId)
    const parts: ResponseParts = { id: formatResponseId(id), request, output, run, isWaiting }
    return { ...responseOf(parts), output: output.items.map((item) => ({ ...item })) }
  }
  const { answers } = input
  let began = false
  for await (const { event, position } of followed.untilDue(runId, answers.keys())) {
    const isStart = event.type === 'RUN_STARTED' && event.runId === runId
    if (!began && answers.size === 0 && !isStart) continue
    if (!began) {
      if (isStart && position !== undefined) id.after = position
      yield { type: 'response.created', response: response(false) }
      yield { type: 'response.in_progress', response: response(false) }
    }
    began = true
    yield* output.take(event)
  }
  const waiting = followed.waiting()
  yield* output.finish(waiting ?? [])
  const whole = response(waiting !== null)
  yield { type: ENDS[whole.status] ?? 'response.incomplete', response: whole }
}

const ENDS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
}

/** Returns the response of the last event; in the background, that of the first. */
async function lastResponse(
  events: AsyncGenerator<StreamEvent>,
  given: { asked: ResponsesRequest; request: Request; onEnd: (isCut: boolean) => void },
): Promise<Response> {
  const { signal } = given.request
  const cut = (): void => given.onEnd(true)
  signal.addEventListener('abort', cut, { once: true })
  if (signal.aborted) cut()
  try {
    let last: unknown = null
    for await (const { response } of events) {
      last = response ?? last
      if (given.asked.background) break
    }
    return Response.json(last)
  } finally {
    signal.removeEventListener('abort', cut)
    given.onEnd(false)
  }
}

/** Reads `input` and `instructions`. Throws ByrefError `forbidden`, `bad_request`; what saving a file throws. */
async function readInput(
  { input: items, instructions }: ResponsesRequest,
  { state, speaker, assets }: { state: ConversationState; speaker: Speaker; assets: Assets },
): Promise<ClientInput> {
  const answers = new Map<string, ApprovalAnswer>()
  const messages: MessageInput[] = []
  const last = state.messages.findLast(({ sender }) => sender.name === INSTRUCTIONS)
  if (instructions && instructions !== last?.content) {
    if (!speaker.speaksAsOthers) {
      throw new ByrefError(
        'forbidden',
        'You may not set "instructions", because they are a message of the system. Leave them out, or let the sender set them with createResponsesHandler({ speakAs })',
      )
    }
    messages.push({ role: 'system', name: INSTRUCTIONS, content: instructions })
  }
  for (const item of items) {
    if (item.type === 'mcp_approval_response') {
      const { approval_request_id: id, approve, reason } = item
      // Clients send earlier answers again, and outputs of calls whose arguments were rejected.
      if (isWaiting(state, id)) answers.set(id, { approved: approve, reason: reason ?? undefined })
    } else if (item.type === 'function_call_output' && isWaiting(state, item.call_id)) {
      if (!needsResult(state, item.call_id)) throw isAsked(item.call_id)
      answers.set(item.call_id, { approved: true, result: resultOf(item.output) })
    } else if (item.type === 'function_call_output' && !state.calls[item.call_id]) {
      messages.push({ role: 'tool', tool_call_id: item.call_id, content: resultOf(item.output) })
    } else if (item.type === 'function_call') {
      // A call of a conversation that the client stores itself.
      const { call_id: id, name, arguments: args } = item
      const called = { id, function: { name, arguments: args } }
      messages.push({ role: 'assistant', content: '', tool_calls: [called] })
    } else if (item.type === undefined || item.type === 'message') {
      messages.push(await toInput(item as MessageItem, assets))
    }
  }
  const isLate = items.some(({ type = '' }) => ANSWERS.has(type))
  if (isLate && messages.length === 0 && answers.size === 0) {
    throw new ByrefError('bad_request', 'None of the calls waits for an answer or an output')
  }
  return { messages: fromHistory(messages).map((message) => spokenBy(message, speaker)), answers }
}

const ANSWERS = new Set(['function_call_output', 'mcp_approval_response'])

/** The name of the sender of a request's instructions. */
const INSTRUCTIONS = 'instructions'

function isAsked(id: string): ByrefError {
  const message = `The call "${id}" waits for an approval, and not for an output: send an mcp_approval_response with this approval_request_id`
  return new ByrefError('bad_request', message)
}

async function toInput({ role, content }: MessageItem, assets: Assets): Promise<MessageInput> {
  const head = { id: newId(), role: role === 'developer' ? 'system' : role }
  if (typeof content === 'string') return { ...head, content }
  const parts = await Promise.all(content.map((part) => withReference(part, assets)))
  return { ...head, ...(await saveSentFiles(parts, assets)) }
}

/** A part with an uploaded file gets the reference of its asset. Other parts stay unchanged. */
async function withReference(part: Part, assets: Assets): Promise<unknown> {
  const { type, file_id: id, detail, filename } = part
  if (typeof id !== 'string') return part
  const { ref } = await assets.info(id)
  return { type: type === 'input_image' ? 'image_url' : 'file', url: ref, detail, filename }
}

function resultOf(output: string | readonly Part[]): unknown {
  return typeof output === 'string' ? jsonOrText(output) : output
}
