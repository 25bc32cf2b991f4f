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
import { checkOptions, is, type OptionTable } from '../../../check-options.ts'
import { ByrefError } from '../../../errors.ts'
import { failureResponse } from '../failure-response.ts'
import type { ChatFeed } from './chat-feed.ts'
import { createChatFeeds } from './chat-feeds.ts'
import { type ChatRequest, readChatRequest } from './chat-request.ts'
import { again, edited, takeBack } from './say-again.ts'
import type { UIChunkOptions } from './ui-chunks.ts'
import { toInput, uiMessages } from './ui-messages.ts'

type How = ChatRequest['how']

/** Options of {@link createChatHandler}. */
export interface ChatHandlerOptions extends UIChunkOptions {
  /**
   * The agent, or for each request that of whoever sent it (`agent.scoped(user)`): what throws there, or is a Response, is
   * the answer. A conversation's id is the chat's, which browsers choose: without a namespace everybody has all of them.
   */
  agent: Agent | ((request: Request) => Agent | Response | Promise<Agent | Response>)
  /** Where it is served. Default: `/api/chat`, as `DefaultChatTransport` has it. */
  path?: string
  /** Bytes of a request, with the files in it. Default: 32 MiB. */
  maxBytes?: number
}

const OPTIONS: OptionTable<ChatHandlerOptions> = {
  agent: is.required(is.either(AGENT, is.callback<Exclude<ChatHandlerOptions['agent'], Agent>>())),
  path: is.string,
  maxBytes: is.positive,
  assetUrl: is.callback(),
}

/**
 * Serves an agent to `useChat`: `POST /api/chat` says something, says it again or in other words, or answers about a call, and streams what comes of it;
 * `GET /api/chat/:id/stream` goes on with that after a reload, `DELETE` of the same stops it; `GET /api/chat/:id` has the
 * messages so far. The log is what counts: of the messages that a browser sends only the last is read.
 */
export function createChatHandler(
  options: ChatHandlerOptions,
): (request: Request) => Promise<Response> {
  checkOptions('createChatHandler', options, OPTIONS)
  const { agent: given, path = '/api/chat', maxBytes = 32 * 1024 * 1024, ...urls } = options
  const feeds = createChatFeeds(urls)

  async function say(agent: Agent, id: string, message: UIMessage, how: How): Promise<Response> {
    const before = await feeds.current(agent, id)
    if (before && before.waiting().length > 0) {
      const why = 'A call waits for an answer: approve or refuse it before you say more'
      throw new ByrefError('conversation_busy', why)
    }
    const input = await inputOf(agent, id, message, how)
    const feed = await feeds.open(agent, id, ({ messageIds }) => messageIds.includes(input.id))
    try {
      const run = await agent.start({ conversation: id, messages: [input] })
      run.result.catch(() => {})
      return streamed(feed, 'start')
    } catch (error) {
      feed.close()
      throw error
    }
  }

  /** What is said; in place of what the log has, if it is said again. */
  async function inputOf(agent: Agent, id: string, message: UIMessage, how: How) {
    const before = how === 'say' ? null : await takeBack(agent, id, message.id)
    if (!before) return toInput(message)
    return how === 'edit' ? edited(message, before, urls) : again(before)
  }

  async function answer(agent: Agent, id: string, { parts }: UIMessage): Promise<Response> {
    const feed = await feeds.current(agent, id)
    if (!feed) throw new ByrefError('approval_answered', 'Nothing waits for an answer any more')
    const waiting = new Set(feed.waiting())
    const answered: string[] = []
    for (const part of parts.filter(isToolUIPart)) {
      const given = answerIn(part)
      // Earlier ones of the same message are sent again with each request.
      if (!given || !waiting.has(part.toolCallId)) continue
      await agent.approve(id, part.toolCallId, given)
      answered.push(part.toolCallId)
    }
    feed.answered(answered)
    return streamed(feed, 'pause')
  }

  async function post(agent: Agent, request: Request): Promise<Response> {
    const { id, last, how } = await readChatRequest(request, maxBytes)
    return last.role === 'assistant' ? answer(agent, id, last) : say(agent, id, last, how)
  }

  async function serve(request: Request, [id, more]: (string | undefined)[]): Promise<Response> {
    const { method } = request
    const isStream = more === 'stream'
    const agent = typeof given === 'function' ? await given(request) : given
    if (agent instanceof Response) return agent
    if (id === undefined && method === 'POST') return post(agent, request)
    if (id !== undefined && more === undefined && method === 'GET') {
      return Response.json(await uiMessages(agent, id, urls))
    }
    if (id !== undefined && isStream && method === 'GET') {
      const feed = await feeds.current(agent, id)
      return feed ? streamed(feed, 'start') : new Response(null, { status: 204 })
    }
    if (id !== undefined && isStream && method === 'DELETE') {
      await agent.cancel(id)
      return new Response(null, { status: 204 })
    }
    const isThere = more === undefined || isStream
    return new Response('There is nothing here', { status: isThere ? 405 : 404 })
  }

  return async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname !== path && !pathname.startsWith(`${path}/`)) {
      return new Response('There is nothing here', { status: 404 })
    }
    try {
      const rest = pathname.slice(path.length + 1)
      const [id, more, tooMuch] = rest === '' ? [] : rest.split('/').map(decodeURIComponent)
      if (tooMuch !== undefined) return new Response('There is nothing here', { status: 404 })
      return await serve(request, [id, more])
    } catch (error) {
      return failureResponse(error)
    }
  }
}

/** What a person says about a call, or a tool in the browser gives; null for neither. */
function answerIn(part: Part): ApprovalAnswer | null {
  if (part.state === 'approval-responded') {
    const { approved, reason } = Object(part.approval)
    return { approved: approved === true, ...(typeof reason === 'string' ? { reason } : {}) }
  }
  if (part.state === 'output-error') return { approved: false, reason: part.errorText }
  return part.state === 'output-available' ? { approved: true, result: part.output } : null
}

type Part = ToolUIPart | DynamicToolUIPart

function streamed(feed: ChatFeed, from: 'start' | 'pause'): Response {
  return createUIMessageStreamResponse({ stream: feed.stream(from), keepAliveMs: 15_000 })
}
