import type { Context, Hono } from 'hono'
import type { z } from 'zod'
import type { Agent } from '../agent/agent-contract.ts'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import type { Speaker } from '../core/messages/spoken-by.ts'
import type { Caller, Role } from './caller.ts'
import { type FoundConversation, foundConversation } from './found-conversation.ts'
import { type AnyAnswer, jsonAnswer } from './json-answer.ts'
import type { Pipeline } from './pipeline.ts'
import type { Reader } from './readers/readers.ts'
import { parse, readJson } from './request-body.ts'
import type { Tries } from './tries.ts'

/** What a route answers: JSON by a schema, bytes of other types by their names, or nothing. */
export type Answer = z.ZodType | { types: readonly string[] } | null

/** A route: everything that the API's document, the checks of requests and the tests know of it. */
export interface RouteSpec<Query = unknown, Body = unknown> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As Hono writes paths: `/api/conversations/:id`. */
  path: string
  /** What it does, as a sentence of a few words. */
  summary: string
  /** Who may; null for everybody, without a token. */
  role: Role | null
  query?: z.ZodType<Query>
  /** JSON; where it may be left out, the schema takes `{}`. */
  body?: z.ZodType<Body>
  /** A body that is no JSON, by its media types. It is the handler's to read. */
  takes?: readonly string[]
  /** By status. */
  answers: Readonly<Record<number, Answer>>
  /** Codes beside those that every route has. */
  errors?: readonly ByrefErrorCode[]
}

/** A request to a route, checked. */
export interface Call<Query, Body> {
  c: Context
  caller: Caller
  /** What the caller may read; null where no agent has trust on: then all of their namespace. */
  reader: Reader | null
  /** Whom the caller's messages are from. */
  speaker: Speaker
  query: Query
  body: Body
  /** The first agent, in the caller's namespace. All have the same log and assets. */
  agent(): Agent
  /** The conversation that the path names by `:id`. Throws `conversation_not_found`. */
  conversation(): Promise<FoundConversation>
  param(name: string): string
  /** See {@link Tries.idOf}. */
  idOfTry(): string | undefined
  json: typeof jsonAnswer
}

/** A route with what it does. */
export interface Route extends RouteSpec {
  handle(call: Call<never, never>): AnyAnswer | Promise<AnyAnswer>
}

/** Makes a route; the types of its query and its body are those of their schemas. */
export function route<Query = undefined, Body = undefined>(
  spec: RouteSpec<Query, Body>,
  handle: (call: Call<Query, Body>) => AnyAnswer | Promise<AnyAnswer>,
): Route {
  return { ...spec, handle }
}

/** What routes are given. */
export interface RouteHost {
  pipeline: Pipeline
  tries: Tries
  /** Throws `unauthorized` where a token is needed and there is none that holds. */
  authenticate(c: Context, route: RouteSpec): Promise<Caller>
  reader(caller: Caller): Reader | null
  speaker(caller: Caller): Speaker
  /** The agent that was asked for, else who answered before, else the first, in the caller's namespace. Throws `agent_not_found`. */
  agent(caller: Caller, names?: { asked?: string; before?: string }): Agent
}

/** Mounts the routes, and for every path that they have an answer to the methods that it lacks. */
export function mountRoutes(app: Hono, routes: readonly Route[], host: RouteHost): void {
  for (const one of routes) {
    const queryOf = one.query ? queryReader(one.query) : () => undefined
    app.on(one.method.toUpperCase(), one.path, (c) =>
      host.pipeline(c, one.path, async () => {
        const caller = await host.authenticate(c, one)
        const agentOf = (names?: { asked?: string; before?: string }) => host.agent(caller, names)
        const query = queryOf(c)
        const body = one.body ? await readJson(c, one.body) : undefined
        return one.handle({
          c,
          caller,
          reader: host.reader(caller),
          speaker: host.speaker(caller),
          query: query as never,
          body: body as never,
          agent: () => agentOf(),
          conversation: () => foundConversation(agentOf().log, c.req.param('id') ?? '', agentOf),
          param: (name) => c.req.param(name) ?? '',
          idOfTry: () => host.tries.idOf(c, caller, body),
          json: jsonAnswer,
        })
      }),
    )
  }
  for (const [path, methods] of methodsByPath(routes)) {
    app.all(path, (c) =>
      host.pipeline(c, path, () => {
        c.header('allow', methods.join(', '))
        throw new ByrefError(
          'method_not_allowed',
          `${path} takes ${methods.join(', ')}, not ${c.req.method}`,
        )
      }),
    )
  }
}

/** Queries that are kept, and how long they may be. */
const KEPT = { queries: 100, characters: 200 }

/** Reads queries by a schema. Clients ask by the same few again and again: those are checked once. */
function queryReader(schema: z.ZodType): (c: Context) => unknown {
  const known = new Map<string, unknown>()
  return (c) => {
    const { url } = c.req
    const text = url.slice(url.indexOf('?') + 1 || url.length)
    if (known.has(text)) return known.get(text)
    const query = parse(schema, c.req.query(), 'query')
    if (text.length <= KEPT.characters) {
      if (known.size >= KEPT.queries) known.clear()
      known.set(text, Object.freeze(query))
    }
    return query
  }
}

function methodsByPath(routes: readonly Route[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { path, method } of routes) {
    const methods = found.get(path) ?? []
    methods.push(method.toUpperCase())
    if (method === 'get') methods.push('HEAD')
    found.set(path, methods)
  }
  return found
}
