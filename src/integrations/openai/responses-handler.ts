import type { Agent } from '../../agent/agent-contract.ts'
import { ByrefError, HTTP_STATUS, publicMessage } from '../../core/errors.ts'
import { openRun, runOf } from '../../core/events/conversation-state.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { readMetadata } from '../../core/messages/read-metadata.ts'
import { followConversation, repeatIfBusy } from '../serving/follow-conversation.ts'
import {
  boundedBody,
  isTooLarge,
  type RequestHandler,
  readJson,
  requestHandler,
} from '../serving/request-handler.ts'
import { type FoundAgent, type ServedAgentOptions, servedAgent } from '../serving/served-agent.ts'
import { createResponse } from './create-response.ts'
import { findResponse, parseResponseId, responseOf } from './response.ts'
import { ResponseOutput } from './response-output.ts'
import { responsesRequest } from './responses-request.ts'

/** Options of {@link createResponsesHandler}. Runs in the background continue in any case. */
export type ResponsesOptions = ServedAgentOptions

const ROUTES =
  'Routes: POST …/responses, GET …/responses/:id, POST …/responses/:id/cancel, POST …/files and GET …/models'

/**
 * Serves an agent by OpenAI's Responses API: `POST …/responses` (also streaming and in the background), `GET` and `POST
 * …/cancel` of a response, `POST …/files` and `GET …/models`. `previous_response_id` continues its conversation, or a fork if
 * the conversation has continued since. Files become assets. With several agents, `model` names one.
 *
 * @throws ByrefError `config_invalid` for an unknown option
 */
export function createResponsesHandler(options: ResponsesOptions): RequestHandler {
  const findAgent = servedAgent(options, 'createResponsesHandler')
  const { keepRunning = false, maxBytes } = options

  async function serve(request: Request): Promise<Response> {
    const found = await findAgent(request)
    if (found instanceof Response) return found
    const { pathname } = new URL(request.url)
    const [what, id = '', ...more] = pathname
      .replace(/^.*?\/(?=(responses|files|models)(\/|$))/, '')
      .split('/')
    switch ([request.method, what, id && ':id', ...more].filter(Boolean).join(' ')) {
      case 'POST responses': {
        const form = { what: 'request for a response', maxBytes }
        const asked = await readJson(request, responsesRequest, form)
        const name = found.names.length > 1 ? asked.model : null
        const agent = await found.agent({ name, tools: asked.tools ?? [] })
        const how = { request, keepRunning, speaker: found.speaker }
        // If another request has just continued the same response, this one continues a fork.
        return repeatIfBusy(() => createResponse(agent, asked, how))
      }
      case 'GET responses :id':
        if (new URL(request.url).searchParams.get('stream') === 'true') throw noStream()
        return Response.json(await keptResponse(await agentOf(found, id), id))
      case 'POST responses :id cancel': {
        const agent = await agentOf(found, id)
        await cancelResponse(agent, id)
        return Response.json(await keptResponse(agent, id))
      }
      case 'POST files':
        return upload(await found.agent(), boundedBody(request, maxBytes ?? MAX_FILE_BYTES))
      case 'GET models': {
        const names = found.names.length > 1 ? found.names : [(await found.agent()).name]
        const data = names.map((name) => {
          return { id: name ?? 'byref', object: 'model', created: 0, owned_by: 'byref' }
        })
        return Response.json({ object: 'list', data })
      }
      default:
        throw new ByrefError('not_found', `Unknown route: ${request.method} ${pathname}. ${ROUTES}`)
    }
  }

  return requestHandler((request) => serve(request).catch(failure))
}

function noStream(): ByrefError {
  const message =
    'A stored response cannot be streamed: leave out "stream", and read it again until its status is not in_progress'
  return new ByrefError('bad_request', message)
}

/** Returns the agent that made a response. */
function agentOf(found: FoundAgent, id: string): Promise<Agent> {
  return found.agent({ conversation: parseResponseId(id).conversation })
}

/** Returns an error in the form of the API. */
function failure(error: unknown): Response {
  if (!(error instanceof ByrefError)) throw error
  const { code } = error
  const body = { message: publicMessage(error), type: 'invalid_request_error', code, param: null }
  return Response.json({ error: body }, { status: HTTP_STATUS[code] })
}

/** Default maximum of an upload, in bytes: that of OpenAI. */
const MAX_FILE_BYTES = 512 * 1024 * 1024

/** Saves a file, or the table in it. Its id is that of the asset. */
async function upload({ assets }: Agent, body: Response): Promise<Response> {
  const form = await body.formData().catch((cause) => {
    if (isTooLarge(cause)) throw cause
    const message = 'Send the file in the field "file" of multipart/form-data'
    throw new ByrefError('bad_request', message, { cause })
  })
  const file = form.get('file')
  if (!(file instanceof Blob)) throw new ByrefError('bad_request', 'The form has no field "file"')
  const filename = 'name' in file && typeof file.name === 'string' ? file.name : 'file'
  const mime = file.type === '' ? null : file.type
  const options = { name: filename, mime, by: 'user' } as const
  const { asset, table, workbook } = await assets.importFile(file, options)
  const { assetId: id } = workbook ?? table ?? asset
  const createdAt = Math.floor(Date.now() / 1000)
  const purpose = form.get('purpose') ?? 'user_data'
  const { size: bytes } = asset
  return Response.json({ id, object: 'file', bytes, created_at: createdAt, filename, purpose })
}

/** Cancels the run of a response, and no later run of its conversation. */
async function cancelResponse(agent: Agent, id: string): Promise<void> {
  const { conversation, after } = parseResponseId(id)
  const { state, close } = await followConversation(agent, conversation, after)
  close()
  const runId = openRun(state)?.runId
  if (runId !== undefined) await agent.cancel(conversation, { runId })
}

/**
 * Returns a response from the log.
 *
 * @throws ByrefError `conversation_not_found`
 */
async function keptResponse(agent: Agent, id: string): Promise<object> {
  const { conversation, after, end } = await findResponse(agent, id)
  const followed = await followConversation(agent, conversation, after)
  try {
    const { state } = followed
    const events: ConversationEvent[] = []
    const runId = openRun(state)?.runId
    const itsRun = () => runOf(state, runId)
    let hasAnswered = false
    let waiting: ReturnType<typeof followed.waiting> = null
    for await (const { event, position = 0 } of end > after ? followed : []) {
      if (hasAnswered && waiting && event.type === 'APPROVAL_ANSWERED') break
      events.push(event)
      hasAnswered ||= event.type === 'STEP_FINISHED'
      waiting = followed.waiting()
      if (itsRun()?.status !== 'running' || position >= end) break
    }
    // A tool that no agent has was answered by its error, and not by the client.
    const tools = new Set([...agent.tools.map((tool) => tool.id), ...unknownTools(events)])
    const output = new ResponseOutput((name) => !tools.has(name), state)
    for (const event of inAnswerOrder(events)) output.take(event)
    if (waiting) output.finish(waiting)
    return responseOf({ id, request: {}, output, run: itsRun(), isWaiting: waiting !== null })
  } finally {
    followed.close()
  }
}

/** Returns the names of called tools that do not exist. */
function unknownTools(events: readonly ConversationEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== 'NEW_MESSAGE') return []
    const isUnknown = readMetadata(event.payload).result?.error?.code === 'tool_not_found'
    return isUnknown ? [event.payload.sender.participant_id] : []
  })
}

/** Returns events with each answer before its calls, which are logged first, unless the model wrote a call first. */
function inAnswerOrder(events: readonly ConversationEvent[]): ConversationEvent[] {
  const ordered: ConversationEvent[] = []
  for (const event of events) {
    const message = event.type === 'NEW_MESSAGE' ? event.payload : null
    const [first] = message
      ? readMetadata(message).answerParts.filter(({ type }) => type !== 'reasoning')
      : []
    const isCall = (one: ConversationEvent): boolean =>
      one.type === 'TOOL_CALL_END' && one.parentMessageId === message?.id
    const at = message && first?.type !== 'call' ? ordered.findIndex(isCall) : -1
    ordered.splice(at === -1 ? ordered.length : at, 0, event)
  }
  return ordered
}
