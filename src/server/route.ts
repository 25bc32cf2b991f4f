import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import type { Agent } from '../agent/agent-contract.ts'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import type { Speaker } from '../core/messages/spoken-by.ts'
import { setRecent } from '../core/recent.ts'
import { notFoundError } from '../log/conversation-log.ts'
import type { Caller, Role } from './caller.ts'
import type { IdempotencyKeys } from './idempotency.ts'
import { type AnyAnswer, jsonAnswer, type Pipeline } from './pipeline.ts'
import type { Reader } from './readers/readers.ts'
import { parse, RequestError, readJson } from './request-body.ts'

/** The answer of a route: JSON that fits a schema, bytes of these media types, or nothing. */
export type Answer = z.ZodType | { types: readonly string[] } | null

/** The description of a route, for the API document, the checks of requests and the tests. */
export interface RouteSpec<Query = unknown, Body = unknown> {
  /** The role that callers need. Null: everybody may use the route without a token. */
  role: Role | null
  /** Whether a `signature` in the query replaces the token. */
  takesSignature?: boolean
  /** A short description of the route. */
  summary: string
  query?: z.ZodType<Query>
  /** A JSON body. Where it is optional, the schema accepts `{}`. */
  body?: z.ZodType<Body>
  /** The media types of a body that is not JSON. The handler reads it. */
  takes?: readonly string[]
  /** The answers of the route, by status. */
  answers: Readonly<Record<number, Answer>>
  /** Codes in addition to those that every route has, and to those of the conversation or asset in its path. */
  errors?: readonly ByrefErrorCode[]
}

/** A route with its handler. */
export interface Route extends RouteSpec {
  method: 'get' | 'post' | 'patch' | 'delete'
  /** In Hono's syntax: `/api/conversations/:id`. */
  path: string
  handle(call: Call<unknown, unknown>): AnyAnswer | Promise<AnyAnswer>
}

/** The conversation that a request names. */
export type FoundConversation = Awaited<ReturnType<typeof findConversation>>

/** A request to a route, after its checks. */
export interface Call<Query, Body> {
  c: Context
  caller: Caller
  /** What the caller may read; null if no agent has trust on, and the caller may read their whole namespace. */
  reader: Reader | null
  /** The sender of the caller's messages. */
  speaker: Speaker
  query: Query
  body: Body
  /** Returns the first agent, in the caller's namespace. All agents share one log and one asset store. */
  agent(): Agent
  /** Returns the conversation that `:id` in the path names. @throws ByrefError `conversation_not_found` */
  conversation(): Promise<FoundConversation>
  param(name: string): string
  /** Returns the id of what this request creates, by its idempotency key: see {@link IdempotencyKeys.idOf}. */
  attemptId(): string | undefined
  json: typeof jsonAnswer
}

/** Makes a route of an endpoint such as `GET /api/info`. The types of query and body are those of their schemas. */
export function route<Query = undefined, Body = undefined>(
  endpoint: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`,
  spec: RouteSpec<Query, Body>,
  handle: (call: Call<Query, Body>) => AnyAnswer | Promise<AnyAnswer>,
): Route {
  const [method = '', path = ''] = endpoint.split(' ')
  return { ...spec, method: method.toLowerCase() as Route['method'], path, handle }
}

/** The parts of the server that {@link mountRoutes} needs. */
export interface RouteHost {
  pipeline: Pipeline
  idempotencyKeys: IdempotencyKeys
  /** @throws ByrefError `unauthorized` if a valid token is needed and missing */
  authenticate(c: Context, route: Route): Promise<Caller>
  reader(caller: Caller): Reader | null
  speaker(caller: Caller): Speaker
  /**
   * Returns the agent that the request names, else the one that answered before, else the first, in the caller's
   * namespace.
   *
   * @throws ByrefError `agent_not_found`
   */
  agent(caller: Caller, names?: AgentNames): Agent
}

interface AgentNames {
  asked?: string
  before?: string
  /** Whether callers who may use all agents get the first one if the server does not have `before`. */
  orAny?: boolean
}

/** Mounts the routes. Every path also answers the methods that it does not have, with `method_not_allowed`. */
export function mountRoutes(app: Hono, routes: readonly Route[], host: RouteHost): void {
  for (const one of routes) {
    const queryOf = one.query ? queryReader(one.query) : () => undefined
    app.on(one.method.toUpperCase(), one.path, (c) =>
      host.pipeline(c, one.path, async () => {
        const caller = await host.authenticate(c, one)
        const reader = host.reader(caller)
        const agentOf = (names?: AgentNames) => host.agent(caller, names)
        const query = queryOf(c)
        const body = one.body ? await readJson(c, one.body) : undefined
        return one.handle({
          c,
          caller,
          reader,
          speaker: host.speaker(caller),
          query,
          body,
          agent: () => agentOf(),
          conversation: () => findConversation(c.req.param('id') ?? '', reader, agentOf),
          param: (name) => c.req.param(name) ?? '',
          attemptId: () => host.idempotencyKeys.idOf(c, caller, body),
          json: jsonAnswer,
        })
      }),
    )
  }
  for (const [path, some] of Map.groupBy(routes, (one) => one.path)) {
    const methods = some.flatMap(({ method }) => {
      return method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]
    })
    app.all(path, (c) =>
      host.pipeline(c, path, () => {
        c.header('allow', methods.join(', '))
        throw new ByrefError(
          'method_not_allowed',
          `${path} accepts ${methods.join(', ')}, not ${c.req.method}`,
        )
      }),
    )
  }
}

/** @throws ByrefError `conversation_not_found`, also for a conversation in another namespace */
async function findConversation(
  id: string,
  reader: Reader | null,
  agentOf: (names?: AgentNames) => Agent,
) {
  const { log } = agentOf()
  const summary = await log.find(id)
  if (!summary) throw notFoundError(id)
  const before = summary.agent ?? undefined
  return {
    id,
    summary,
    /** The log that it is in. */
    log,
    /** Returns what the caller may read of it; null if no agent has trust on, and the caller may read everything. */
    readingOf: async () => (reader ? reader.conversation(log, id) : null),
    /**
     * Who answers in it: the agent with this name, else the one that answered last or that a message waits for, else
     * the first.
     *
     * @throws ByrefError `agent_not_found`; `conversation_busy` while another agent runs
     */
    agentOf(asked?: string): Agent {
      const isUnderWay = summary.openRun !== null || summary.queued > 0
      if (isUnderWay && before !== undefined && (asked ?? before) !== before) {
        throw new ByrefError(
          'conversation_busy',
          `The agent "${before}" is already running in the conversation "${id}": wait until it ends, or cancel its run`,
        )
      }
      return agentOf({ asked, before })
    },
    /**
     * For answers about calls, and to cancel: returns the agent that answered last. The server may not have it, if it
     * is a sub-agent. Then any agent will do, for callers who may use all agents.
     *
     * @throws ByrefError `agent_not_found`
     */
    actingAgent: () => agentOf({ before, orAny: true }),
    /** For reading and deleting: returns the agent that answered last, or the first if the caller may not use that one. */
    anyAgent(): Agent {
      try {
        return agentOf({ before })
      } catch (error) {
        if (!(error instanceof ByrefError) || error.code !== 'agent_not_found') throw error
        return agentOf()
      }
    },
  }
}

/** Maximum number of cached parsed queries for each route, and maximum length of each. */
const CACHE = { queries: 100, characters: 200 }

/** Parses queries by a schema. Clients send the same few again and again, so those are parsed once. */
function queryReader(schema: z.ZodType): (c: Context) => unknown {
  const known = new Map<string, unknown>()
  return (c) => {
    const { url } = c.req
    const text = url.slice(url.indexOf('?') + 1 || url.length)
    if (known.has(text)) return known.get(text)
    const repeated = Object.entries(c.req.queries()).filter(([, values]) => values.length > 1)
    if (repeated.length > 0) {
      const issues = repeated.map(([path, { length }]) => ({
        path,
        message: `appears ${length} times`,
      }))
      throw new RequestError('query', issues)
    }
    const query = parse(schema, c.req.query(), 'query')
    if (text.length <= CACHE.characters) {
      setRecent(known, text, Object.freeze(query), CACHE.queries)
    }
    return query
  }
}
