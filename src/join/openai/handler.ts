import type { Agent } from '../../agent/agent-contract.ts'
import { openRun } from '../../content/conversation-state.ts'
import type { ConversationEvent } from '../../content/events.ts'
import { newId } from '../../content/new-id.ts'
import { ByrefError, errorMessage } from '../../errors.ts'
import { readAll } from '../../log/conversation-log.ts'
import type { ModelSettings } from '../../model/model-settings.ts'
import { HTTP_STATUS, publicMessage } from '../../wire/http-status.ts'
import { eventStream } from '../serving/event-stream.ts'
import { type FollowedConversation, followConversation } from '../serving/follow-conversation.ts'
import { readJson } from '../serving/read-json.ts'
import { type Said, say } from '../serving/say.ts'
import { type ServedAgentOptions, servedAgent } from '../serving/served-agent.ts'
import { readInput } from './input.ts'
import { createOutput, type StreamEvent } from './output.ts'
import { type ResponsesRequest, responsesRequest } from './request.ts'
import {
  formatResponseId,
  parseResponseId,
  type ResponseId,
  type ResponseParts,
  responseOf,
} from './response.ts'

/** Options of {@link createResponsesHandler}. What is asked for in the background goes on in any case. */
export type ResponsesOptions = ServedAgentOptions

/**
 * Serves an agent by OpenAI's Responses API: `POST …/responses` (also streaming and in the background), `GET` and `POST
 * …/cancel` of one, `POST …/files` and `GET …/models`. `previous_response_id` goes on with its conversation, or, where that
 * has gone on since, with a fork of it. Its bodies become assets.
 *
 * @throws ByrefError `config_invalid` for an option that there is not
 */
export function createResponsesHandler(
  options: ResponsesOptions,
): (request: Request) => Promise<Response> {
  const findAgent = servedAgent(options, 'createResponsesHandler')
  const { keepRunning = false } = options

  async function serve(request: Request): Promise<Response> {
    const found = await findAgent(request)
    if (found instanceof Response) return found
    const [what, id = '', ...more] = new URL(request.url).pathname
      .replace(/^.*?\/(?=(responses|files|models)(\/|$))/, '')
      .split('/')
    switch ([request.method, what, id && ':id', ...more].filter(Boolean).join(' ')) {
      case 'POST responses': {
        const asked = await readJson(request, responsesRequest, 'request for a response')
        const tools = asked.tools?.map(({ parameters, ...tool }) => {
          return { ...tool, inputSchema: parameters }
        })
        return create(found(tools), asked, { request, keepRunning })
      }
      case 'GET responses :id':
        return Response.json(await find(found(), id))
      case 'POST responses :id cancel':
        await found().cancel(parseResponseId(id).conversation)
        return Response.json(await find(found(), id))
      case 'POST files':
        return upload(found(), request)
      case 'GET models': {
        const name = found().name ?? 'byref'
        const model = { id: name, object: 'model', created: 0, owned_by: 'byref' }
        return Response.json({ object: 'list', data: [model] })
      }
      default:
        throw new ByrefError('not_found', `There is no ${request.method} ${what}`)
    }
  }

  return (request) => serve(request).catch(failure)
}

/** An error as the API's clients read it. */
function failure(error: unknown): Response {
  if (!(error instanceof ByrefError)) throw error
  const { code } = error
  const said = { message: publicMessage(error), type: 'invalid_request_error', code, param: null }
  return Response.json({ error: said }, { status: HTTP_STATUS[code] })
}

/** Saves a file, a table as one; its id is the asset's. */
async function upload({ assets }: Agent, request: Request): Promise<Response> {
  const form = await request.formData()
  const file = form.get('file')
  if (!(file instanceof Blob)) throw new ByrefError('bad_request', 'file: there is none')
  const filename = 'name' in file && typeof file.name === 'string' ? file.name : 'file'
  const mime = file.type === '' ? null : file.type
  const { asset, table } = await assets.importFile(file, { name: filename, mime, by: 'user' })
  const { assetId: id, size: bytes } = table ?? asset
  const createdAt = Math.floor(Date.now() / 1000)
  const purpose = form.get('purpose') ?? 'user_data'
  return Response.json({ id, object: 'file', bytes, created_at: createdAt, filename, purpose })
}

/** How a response is asked for. */
interface Asking {
  request: Request
  keepRunning: boolean
}

async function create(
  agent: Agent,
  asked: ResponsesRequest,
  { request, keepRunning }: Asking,
): Promise<Response> {
  const conversation = await conversationOf(agent, asked.previous_response_id)
  const followed = await followConversation(agent, conversation)
  const onEnd = (isCut: boolean): void => {
    followed.close()
    if (isCut && !keepRunning && !asked.background) agent.cancel(conversation).catch(() => {})
  }
  try {
    const { state } = followed
    const after = state.position
    const said = await readInput(asked, { state, assets: agent.assets })
    const runId = await tell(agent, asked, { conversation, said, followed })
    const events = responseEvents(followed, asked, { conversation, after, runId, said })
    if (!asked.stream) return await lastResponse(events, { asked, request, onEnd })
    let number = 0
    return eventStream(events, {
      frame({ type, ...event }) {
        const data = JSON.stringify({ type, sequence_number: number++, ...event })
        return `event: ${type}\ndata: ${data}\n\n`
      },
      failed: (error) => ({
        ...{ type: 'error', code: 'server_error', message: errorMessage(error), param: null },
      }),
      last: 'data: [DONE]\n\n',
      onEnd,
    })
  } catch (error) {
    followed.close()
    throw error
  }
}

/** The conversation that a request goes on with: a fork, where it went on otherwise since. */
async function conversationOf(agent: Agent, previous?: string | null): Promise<string> {
  if (!previous) return newId()
  const { conversation, after } = parseResponseId(previous)
  if (!(await agent.log.find(conversation))) throw unknown(previous)
  let last = ''
  let hasAnswered = false
  for await (const { position, event } of readAll(agent.log, conversation)) {
    if (position > after && hasAnswered && isSaid(event))
      return agent.fork(conversation, { at: last })
    if (event.type === 'NEW_MESSAGE') last = event.payload.id
    hasAnswered ||= position > after && event.type === 'STEP_FINISHED'
  }
  return conversation
}

/** Whether somebody said something, or answered a call. */
function isSaid(event: ConversationEvent): boolean {
  if (event.type === 'APPROVAL_ANSWERED') return true
  return event.type === 'NEW_MESSAGE' && event.payload.sender.participant_role === 'user'
}

/** Says it; resolves to the run that answers. */
async function tell(
  agent: Agent,
  { temperature, top_p: topP, max_output_tokens: maxOutputTokens, text }: ResponsesRequest,
  {
    conversation,
    said,
    followed,
  }: { conversation: string; said: Said; followed: FollowedConversation },
): Promise<string> {
  const open = openRun(followed.state)
  if (open && said.answers.size === 0) {
    throw new ByrefError('conversation_busy', 'Calls of the response before wait for their outputs')
  }
  const given = { temperature, topP, maxOutputTokens }
  const known = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  const settings = Object.fromEntries(known) as ModelSettings
  return say(agent, conversation, { ...said, open, settings, output: text?.format?.schema })
}

interface Responding extends ResponseId {
  runId: string
  said: Said
}

/** The events of a response; the last one has all of it. */
async function* responseEvents(
  followed: FollowedConversation,
  request: ResponsesRequest,
  { conversation, after, runId, said }: Responding,
): AsyncGenerator<StreamEvent> {
  const { state } = followed
  const clientTools = new Set(request.tools?.map(({ name }) => name))
  const output = createOutput((name) => clientTools.has(name), state)
  const id = { conversation, after }
  const response = (isWaiting: boolean) => {
    const run = state.runs.find((one) => one.runId === runId)
    const parts: ResponseParts = { id: formatResponseId(id), request, output, run, isWaiting }
    return { ...responseOf(parts), output: output.items.map((item) => ({ ...item })) }
  }
  const { answers } = said
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
  yield* output.finish()
  const whole = response(followed.waiting() !== null)
  yield { type: ENDS[whole.status] ?? 'response.incomplete', response: whole }
}

const ENDS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
}

/** The response as the log has it. */
async function find(agent: Agent, id: string): Promise<object> {
  const { conversation, after } = parseResponseId(id)
  const end = (await agent.log.find(conversation))?.position ?? 0
  if (end < after) throw unknown(id)
  const followed = await followConversation(agent, conversation, after)
  try {
    const { state } = followed
    const own = new Set(agent.tools.map((tool) => tool.id))
    const output = createOutput((name) => !own.has(name), state)
    const runId = openRun(state)?.runId
    const itsRun = () => state.runs.find((one) => one.runId === runId)
    let [hasAnswered, isWaiting] = [false, false]
    for await (const { event, position = 0 } of end > after ? followed : []) {
      if (hasAnswered && isWaiting && event.type === 'APPROVAL_ANSWERED') break
      output.take(event)
      hasAnswered ||= event.type === 'STEP_FINISHED'
      isWaiting = followed.waiting() !== null
      if (itsRun()?.status !== 'running' || position >= end) break
    }
    return responseOf({ id, request: {}, output, run: itsRun(), isWaiting })
  } finally {
    followed.close()
  }
}

function unknown(id: string): ByrefError {
  return new ByrefError('conversation_not_found', `There is no response "${id}"`)
}

/** The last event's response; of one in the background, the first's. */
async function lastResponse(
  events: AsyncGenerator<StreamEvent>,
  given: { asked: ResponsesRequest; request: Request; onEnd: (isCut: boolean) => void },
): Promise<Response> {
  const { signal } = given.request
  const cut = (): void => given.onEnd(true)
  signal.addEventListener('abort', cut, { once: true })
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
