import {
  createUIMessageStreamResponse,
  type DynamicToolUIPart,
  isToolUIPart,
  type ToolUIPart,
  type UIMessage,
} from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import { AGENT } from '../../../agent/agent-options.ts'
import type { ApprovalAnswer } from '../../../agent/approve.ts'
import {
  chooseAgent,
  readServedAgents,
  type ServedAgents,
  servedAgentOptions,
} from '../../../agent/served-agents.ts'
import { checkOptions, is, type OptionTable } from '../../../core/check-options.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { AskedCall } from '../../../core/events/conversation-state.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import {
  failureResponse,
  type RequestHandler,
  readBody,
  requestHandler,
} from '../../serving/request-handler.ts'
import { type ChatFeed, ChatFeeds } from './chat-feed.ts'
import type { UIChunkOptions } from './ui-chunks.ts'
import { again, edited, findMessage, toInput, uiMessages } from './ui-messages.ts'

/**
 * An agent, or a function that returns the agent for a request, such as `agent.scoped(user)`. The function can also
 * return a Response, which is the answer, or throw. Browsers choose the ids of conversations. Without a namespace,
 * everybody can therefore read all of them.
 */
export type AgentForRequest =
  | Agent
  | ((request: Request) => Agent | Response | Promise<Agent | Response>)

/** Options of {@link createChatHandler}. */
export interface ChatHandlerOptions extends UIChunkOptions, ServedAgents<AgentForRequest> {
  /** Maximum bytes of a request, including its files. Default: 32 MiB. */
  maxBytes?: number
}

const OPTIONS: OptionTable<ChatHandlerOptions> = {
  ...servedAgentOptions(is.either(AGENT, is.callback<Exclude<AgentForRequest, Agent>>())),
  maxBytes: is.positive,
  assetUrl: is.callback(),
}

/**
 * Serves an agent to `useChat`, at any path. `POST …` adds a message, edits one, regenerates an answer or answers a
 * call, and streams the result. `GET …/:id/stream` continues that stream after a reload, and `DELETE …/:id/stream`
 * stops it. `GET …/:id` returns the messages so far. The log is the source: only the last message that a browser sends
 * is read. With several agents, `agent` in the body of a `POST` names one.
 */
export function createChatHandler(given: ChatHandlerOptions): RequestHandler {
  const options = checkOptions('createChatHandler', given, OPTIONS)
  const { agent: _agent, agents: _agents, maxBytes, ...urls } = options
  const agents = readServedAgents('createChatHandler', options)
  const feeds = new ChatFeeds(urls)

  async function send(agent: Agent, id: string, message: UIMessage, how: How): Promise<Response> {
    const before = await feeds.current(agent, id)
    if (before && before.waiting().length > 0) {
      const why =
        'A call waits for an answer: approve or deny it, or give its result, before you send another message'
      throw new ByrefError('conversation_busy', why)
    }
    // An edited message, or one that is sent again, takes the place of the one in the log.
    const replaced = how === 'say' ? null : await findMessage(agent, id, message.id)
    const { assets } = agent
    const repeated =
      replaced &&
      (how === 'edit' ? await edited(message, replaced, { ...urls, assets }) : again(replaced))
    const input = repeated ?? (await toInput(message, assets))
    const feed = await feeds.open(agent, id, ({ messageIds }) => messageIds.includes(input.id))
    try {
      const run = await agent.start({ conversation: id, messages: [input], replaces: replaced?.id })
      run.result.catch(() => {})
      return streamed(feed, 'start')
    } catch (error) {
      feed.close()
      throw error
    }
  }

  async function answer(agent: Agent, id: string, { parts }: UIMessage): Promise<Response> {
    const feed = await feeds.current(agent, id)
    if (!feed) throw new ByrefError('approval_answered', 'No call waits for an answer any more')
    const waiting = new Map(feed.waiting().map((call) => [call.id, call]))
    const answers = new Map<string, ApprovalAnswer>()
    for (const part of parts.filter(isToolUIPart)) {
      // The browser sends the earlier answers of the same message again with each request.
      const call = waiting.get(part.toolCallId)
      const given = call && answerIn(part, call)
      if (given) answers.set(call.id, given)
    }
    for (const [callId, given] of answers) await agent.approve(id, callId, given)
    feed.answered([...answers.keys()])
    return streamed(feed, 'pause')
  }

  async function post(first: Agent, request: Request): Promise<Response> {
    const { id, last, how, agent: asked } = await readChatRequest(request, maxBytes)
    const agent = await agentOf(request, { first, id, asked })
    return last.role === 'assistant' ? answer(agent, id, last) : send(agent, id, last, how)
  }

  /** Returns the agent that the request names. Otherwise the one that answered last in the chat, or the first. */
  async function agentOf(
    request: Request,
    { first, id, asked }: { first: Agent; id: string; asked?: string },
  ): Promise<Agent> {
    const isKnown = asked !== undefined || agents.size === 1
    const before = isKnown ? null : (await first.log.find(id))?.agent
    const chosen = chooseAgent(agents, { asked, before })
    return chosen === chooseAgent(agents) ? first : madeFor(chosen, request)
  }

  async function serve(request: Request): Promise<Response> {
    const { method } = request
    const first = await madeFor(chooseAgent(agents), request)
    if (method === 'POST') return post(first, request)
    const { id, isStream } = placeOf(request)
    const agent = id === '' ? first : await agentOf(request, { first, id })
    if (isStream && method === 'GET') {
      const feed = await feeds.current(agent, id)
      return feed ? streamed(feed, 'start') : new Response(null, { status: 204 })
    }
    if (isStream && method === 'DELETE') {
      await agent.cancel(id)
      return new Response(null, { status: 204 })
    }
    if (id !== '' && method === 'GET') return Response.json(await uiMessages(agent, id, urls))
    throw new ByrefError('method_not_allowed', ROUTES)
  }

  return requestHandler((request) => serve(request).catch(failureResponse))
}

const ROUTES =
  'Unknown route. Routes of a chat: POST /…, GET /…/:id, GET /…/:id/stream and DELETE /…/:id/stream'

/** Returns the agent for a request. @throws the Response that a function returned instead */
async function madeFor(given: AgentForRequest, request: Request): Promise<Agent> {
  const agent = typeof given === 'function' ? await given(request) : given
  if (agent instanceof Response) throw agent
  return agent
}

/** Reads the chat's id from the end of the path, whatever comes before it. */
function placeOf({ url }: Request): { id: string; isStream: boolean } {
  const segments = new URL(url).pathname.split('/').slice(1)
  const isStream = segments.length > 1 && segments.at(-1) === 'stream'
  return { id: decodeURIComponent(segments.at(isStream ? -2 : -1) ?? ''), isStream }
}

/**
 * Returns a person's answer to a call, or the result of a tool in the browser. Null for anything else.
 *
 * @throws ByrefError `bad_request` for the result of a tool that runs on the server
 */
function answerIn(part: Part, { name, approval }: AskedCall): ApprovalAnswer | null {
  if (part.state === 'approval-responded') {
    const { approved, reason } = Object(part.approval)
    return { approved: approved === true, ...(typeof reason === 'string' ? { reason } : {}) }
  }
  if (part.state.startsWith('output-') && !approval.needsResult) {
    const message = `The tool "${name}" runs on the server, and its call waits for an approval: answer with addToolApprovalResponse. Only tools without execute take addToolOutput.`
    throw new ByrefError('bad_request', message)
  }
  if (part.state === 'output-error') return { approved: false, reason: part.errorText }
  return part.state === 'output-available' ? { approved: true, result: part.output } : null
}

type Part = ToolUIPart | DynamicToolUIPart

function streamed(feed: ChatFeed, from: 'start' | 'pause'): Response {
  return createUIMessageStreamResponse({ stream: feed.stream(from), keepAliveMs: 15_000 })
}

/**
 * How to treat a message: send it (`say`), send the one with its id once more (`again`), or replace the one with its id
 * (`edit`).
 */
type How = 'say' | 'again' | 'edit'

/**
 * Reads a request of `DefaultChatTransport`: the chat's id and all messages that the browser has.
 *
 * @throws ByrefError `body_too_large`, `bad_request`
 */
async function readChatRequest(request: Request, maxBytes?: number) {
  const { id, messages, trigger, messageId, agent } = Object(await readBody(request, maxBytes))
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : null
  if (typeof id !== 'string' || !isUIMessage(last)) {
    throw new ByrefError(
      'bad_request',
      'The body must be what useChat sends: { id, messages }, where each message is { id, role, parts }',
    )
  }
  const isEdit = last.role === 'user' && messageId === last.id
  const how: How = trigger === 'regenerate-message' ? 'again' : isEdit ? 'edit' : 'say'
  // `agent` is the name of the agent that answers, from the transport's `body`.
  return { id, last, how, agent: typeof agent === 'string' ? agent : undefined }
}

function isUIMessage(value: unknown): value is UIMessage {
  if (!isPlainObject(value) || typeof value.id !== 'string') return false
  return Array.isArray(value.parts) && value.parts.every(isPlainObject)
}
