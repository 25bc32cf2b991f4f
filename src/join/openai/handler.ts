import type { Agent } from '../../agent/agent-contract.ts'
import { knownOptions } from '../../agent/known-options.ts'
import type { Tool } from '../../agent/tools/tool.ts'
import { openRun } from '../../content/conversation-state.ts'
import type { ConversationEvent } from '../../content/events.ts'
import { newId } from '../../content/new-id.ts'
import { ByrefError, errorMessage } from '../../errors.ts'
import { readAll } from '../../log/conversation-log.ts'
import type { ModelSettings } from '../../model/model-settings.ts'
import { agentsByTools } from '../serving/agents-by-tools.ts'
import { eventStream } from '../serving/event-stream.ts'
import { type FollowedConversation, followConversation } from '../serving/follow-conversation.ts'
import { readInput, type Said } from './input.ts'
import { createOutput, type StreamEvent } from './output.ts'
import { type ResponsesRequest, readRequest } from './request.ts'
import {
  formatResponseId,
  parseResponseId,
  type ResponseId,
  type ResponseParts,
  responseOf,
} from './response.ts'

/** Options of {@link createResponsesHandler}. */
export interface ResponsesOptions {
  /**
   * The agent; or, where clients bring function tools, what makes an agent with these beside its own, on the same log and
   * assets. It is asked once for each set of tools.
   */
  agent: Agent | ((tools: readonly Tool[]) => Agent)
  /**
   * The namespace of whoever sent a request, by its `Authorization` or otherwise; what throws there, or is a Response, is the
   * answer. Default: the agent's own.
   */
  namespace?(request: Request): string | null | Response | Promise<string | null | Response>
  /** Whether a run goes on when its client hangs up. Default false; one that is asked for in the background always does. */
  keepRunning?: boolean
}

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
  knownOptions('createResponsesHandler', options, ['agent', 'namespace', 'keepRunning'])
  const { namespace = () => undefined, keepRunning = false } = options
  const agentFor = agentsByTools(options.agent, 'createResponsesHandler')

  async function serve(request: Request): Promise<Response> {
    const space = await namespace(request)
    if (space instanceof Response) return space
    const own = (agent: Agent) => (space === undefined ? agent : agent.scoped(space))
    const [what, id, act, ...more] = new URL(request.url).pathname
      .replace(/^.*?\/(?=(responses|files|models)(\/|$))/, '')
      .split('/')
    const route =
      more.length > 0 ? '' : [request.method, what, id && ':id', act].filter(Boolean).join(' ')
    if (route === 'POST responses') {
      const asked = readRequest(await request.json().catch(() => null))
      const tools = (asked.tools ?? []).map(({ name, description, parameters }) => ({
        ...{ name, description: description ?? '', inputSchema: parameters ?? {} },
      }))
      return create(own(agentFor(tools)), asked, { request, keepRunning })
    }
    const agent = own(agentFor([]))
    if (route === 'GET responses :id') return Response.json(await find(agent, id as string))
    if (route === 'POST responses :id cancel') {
      await agent.cancel(parseResponseId(id as string).conversation)
      return Response.json(await find(agent, id as string))
    }
    if (route === 'POST files') return upload(agent, request)
    if (route === 'GET models') {
      const model = { id: agent.name ?? 'byref', object: 'model', created: 0, owned_by: 'byref' }
      return Response.json({ object: 'list', data: [model] })
    }
    const message = `There is no ${request.method} ${what}`
    return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 404 })
  }

  return (request) => serve(request).catch(failure)
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
  try {
    const { state } = followed
    const before = state.position
    const said = await readInput(asked, { state, assets: agent.assets })
    const runId = await tell(agent, asked, { conversation, said, followed })
    const isNew = said.answers.size === 0
    const events = responseEvents(followed, asked, {
      ...{ conversation, runId, isNew, after: before },
      clientTools: new Set(asked.tools?.map(({ name }) => name)),
    })
    const end = (isCut: boolean): void => {
      followed.close()
      if (isCut && !keepRunning && !asked.background) agent.cancel(conversation).catch(() => {})
    }
    return asked.stream
      ? eventStream(framesOf(events), end)
      : await lastResponse(events, { asked, request, end })
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
  given: { conversation: string; said: Said; followed: FollowedConversation },
): Promise<string> {
  const { conversation, said, followed } = given
  const { messages, answers } = said
  const open = openRun(followed.state)
  if (!open) {
    const given = { temperature, topP, maxOutputTokens }
    const known = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
    const settings = Object.fromEntries(known) as ModelSettings
    const output = text?.format?.schema
    const run = await agent.start({ conversation, messages, settings, output, ifBusy: 'refuse' })
    run.result.catch(() => {})
    return run.id
  }
  if (answers.size === 0) {
    throw new ByrefError('conversation_busy', 'Calls of the response before wait for their outputs')
  }
  if (messages.length > 0) await agent.send(conversation, messages, { mode: 'steer' })
  for (const [id, answer] of answers) await agent.approve(conversation, id, answer)
  agent.resume(conversation).result.catch(() => {})
  return open.runId
}

interface Responding extends ResponseId {
  runId: string
  isNew: boolean
  clientTools: ReadonlySet<string>
}

/** The events of a response; the last one has all of it. */
async function* responseEvents(
  followed: FollowedConversation,
  request: ResponsesRequest,
  { conversation, after, runId, isNew, clientTools }: Responding,
): AsyncGenerator<StreamEvent> {
  const output = createOutput((name) => clientTools.has(name), followed.state)
  const { state } = followed
  const id = { conversation, after }
  const response = (isWaiting: boolean) => {
    const run = state.runs.find((one) => one.runId === runId)
    const parts: ResponseParts = { id: formatResponseId(id), request, output, run, isWaiting }
    return { ...responseOf(parts), output: output.items.map((item) => ({ ...item })) }
  }
  let began = false
  let isWaiting = false
  for await (const { event, position } of followed) {
    const isStart = event.type === 'RUN_STARTED' && event.runId === runId
    if (!began && isNew && !isStart) continue
    if (!began) {
      if (isStart && position !== undefined) id.after = position
      yield { type: 'response.created', response: response(false) }
      yield { type: 'response.in_progress', response: response(false) }
    }
    began = true
    yield* output.take(event)
    isWaiting = event.type !== 'APPROVAL_ANSWERED' && followed.waiting() !== null
    if (isWaiting || followed.hasEnded(runId)) break
  }
  yield* output.finish()
  const whole = response(isWaiting)
  const type = ENDS[whole.status] ?? 'response.incomplete'
  yield { type, response: whole }
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
  given: { asked: ResponsesRequest; request: Request; end: (isCut: boolean) => void },
): Promise<Response> {
  const cut = (): void => given.end(true)
  given.request.signal.addEventListener('abort', cut, { once: true })
  try {
    let last: unknown = null
    for await (const { response } of events) {
      last = response ?? last
      if (given.asked.background) break
    }
    return Response.json(last)
  } finally {
    given.request.signal.removeEventListener('abort', cut)
    given.end(false)
  }
}

/** As server-sent events, counted; what breaks is one too. */
async function* framesOf(events: AsyncGenerator<StreamEvent>): AsyncGenerator<string> {
  let number = 0
  const frame = ({ type, ...event }: StreamEvent): string => {
    const data = JSON.stringify({ type, sequence_number: number++, ...event })
    return `event: ${type}\ndata: ${data}\n\n`
  }
  try {
    for await (const event of events) yield frame(event)
  } catch (error) {
    yield frame({ type: 'error', code: 'server_error', message: errorMessage(error), param: null })
  }
  yield 'data: [DONE]\n\n'
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

const STATUS: Partial<Record<string, number>> = {
  conversation_not_found: 404,
  conversation_busy: 409,
  approval_answered: 409,
}

/** An error as the API's clients read it. */
function failure(error: unknown): Response {
  if (!(error instanceof ByrefError)) throw error
  const { code, message } = error
  const type = 'invalid_request_error'
  const body = { error: { message, type, code, param: null } }
  return Response.json(body, { status: STATUS[code] ?? 400 })
}
