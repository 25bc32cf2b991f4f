import { deleteCookie, setCookie } from 'hono/cookie'
import type { Agent } from '../../agent/agent-contract.ts'
import { hasDuckdb } from '../../assets/tables/duckdb.ts'
import { version } from '../../version.ts'
import { health, serverInfo, sessionBody } from '../../wire/server-info.ts'
import { type Auth, invalidToken, SESSION_COOKIE } from '../auth/auth.ts'
import type { Caller } from '../caller.ts'
import { type Route, route } from '../route.ts'

/** How long a browser keeps a session, in seconds. Its token may expire earlier. */
const SESSION_SECONDS = 30 * 24 * 60 * 60

/** Health, what the server offers, and browser sessions. */
export function infoRoutes(
  agentsOf: (caller: Caller) => ReadonlyMap<string, Agent>,
  { auth, checkLog }: { auth: Auth; checkLog: () => Promise<void> },
): Route[] {
  const sql = hasDuckdb()
  return [
    route(
      'GET /healthz',
      { role: null, summary: 'Whether the process is running', answers: { 200: health } },
      ({ json }) => json({ ok: true }),
    ),
    route(
      'GET /readyz',
      {
        role: null,
        summary:
          'Whether the server accepts requests: it can write to its log, and it is not stopping',
        answers: { 200: health },
        errors: ['log_failed'],
      },
      async ({ json }) => {
        await checkLog()
        return json({ ok: true })
      },
    ),
    route(
      'GET /api/info',
      {
        role: 'reader',
        summary: 'The server, its agents, and the caller',
        answers: { 200: serverInfo },
      },
      ({ caller: { expiresAt: _, ...caller }, json }) => {
        const agents = [...agentsOf(caller)].map(describe)
        return json({ name: 'byref', version, agents, sql, caller })
      },
    ),
    route(
      'POST /api/session',
      {
        role: null,
        summary: 'Keep a token as a cookie, for the images and streams of a browser',
        body: sessionBody,
        answers: { 204: null },
        errors: ['unauthorized', 'unreachable'],
      },
      async ({ c, body }) => {
        if (!(await auth.read(body.token))) throw invalidToken()
        setCookie(c, SESSION_COOKIE, body.token, {
          httpOnly: true,
          sameSite: 'Strict',
          path: '/',
          maxAge: SESSION_SECONDS,
          secure: c.req.header('x-forwarded-proto') === 'https' || c.req.url.startsWith('https:'),
        })
        return c.body(null, 204)
      },
    ),
    route(
      'DELETE /api/session',
      { role: null, summary: 'Delete the cookie', answers: { 204: null } },
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
