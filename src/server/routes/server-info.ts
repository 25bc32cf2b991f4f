import { deleteCookie, setCookie } from 'hono/cookie'
import type { Agent } from '../../agent/agent-contract.ts'
import { hasDuckdb } from '../../assets/tables/has-duckdb.ts'
import { ByrefError } from '../../core/errors.ts'
import { version } from '../../version.ts'
import { health, serverInfo, sessionBody } from '../../wire/server-info.ts'
import { type Auth, SESSION_COOKIE } from '../auth/auth.ts'
import type { Caller } from '../caller.ts'
import { type Route, route } from '../route.ts'

/** How long a browser keeps a session; its token may end earlier. In seconds. */
const SESSION_SECONDS = 30 * 24 * 60 * 60

/** What runs here, and sessions of browsers. */
export function serverInfoRoutes(
  agentsOf: (caller: Caller) => ReadonlyMap<string, Agent>,
  { auth, ready }: { auth: Auth; ready: () => Promise<void> },
): Route[] {
  const sql = hasDuckdb()
  return [
    route(
      {
        method: 'get',
        path: '/healthz',
        summary: 'Whether the process is up',
        role: null,
        answers: { 200: health },
      },
      ({ json }) => json({ ok: true }),
    ),
    route(
      {
        method: 'get',
        path: '/readyz',
        summary: 'Whether it takes requests: its log answers, and it is not about to stop',
        role: null,
        answers: { 200: health },
        errors: ['log_failed'],
      },
      async ({ json }) => {
        await ready()
        return json({ ok: true })
      },
    ),
    route(
      {
        method: 'get',
        path: '/api/info',
        summary: 'What runs here, and who asks',
        role: 'reader',
        answers: { 200: serverInfo },
      },
      ({ caller, json }) =>
        json({
          name: 'byref' as const,
          version,
          agents: [...agentsOf(caller)].map(describe),
          sql,
          caller,
        }),
    ),
    route(
      {
        method: 'post',
        path: '/api/session',
        summary: 'Keep a token as a cookie, for the pictures and streams of a browser',
        role: null,
        body: sessionBody,
        answers: { 204: null },
        errors: ['unauthorized', 'unreachable'],
      },
      async ({ c, body }) => {
        if (auth.required && !(await auth.read(body.token))) {
          throw new ByrefError(
            'unauthorized',
            'The token is not for this server, or its time is over',
          )
        }
        setCookie(c, SESSION_COOKIE, body.token, {
          ...{ httpOnly: true, sameSite: 'Strict', path: '/', maxAge: SESSION_SECONDS },
          secure: isSecure(c.req.url, c.req.header('x-forwarded-proto')),
        })
        return c.body(null, 204)
      },
    ),
    route(
      {
        method: 'delete',
        path: '/api/session',
        summary: 'Forget the cookie',
        role: null,
        answers: { 204: null },
      },
      ({ c }) => {
        deleteCookie(c, SESSION_COOKIE, { path: '/' })
        return c.body(null, 204)
      },
    ),
  ]
}

function describe([name, { model, tools, trust }]: [string, Agent]) {
  const { provider, modelId: id } = model
  return {
    name,
    trust,
    model: { id, provider, demo: provider === 'byref.demo' },
    tools: tools.map(({ id, description }) => ({ id, description })),
  }
}

function isSecure(url: string, forwarded: string | undefined): boolean {
  return forwarded === 'https' || url.startsWith('https:')
}
