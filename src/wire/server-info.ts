import { z } from 'zod'

/** What an agent is. */
export const agentInfo = z.object({
  name: z.string(),
  /** How it treats what nobody vouches for. */
  trust: z.enum(['off', 'track', 'quarantine']),
  /** The model that answers; `demo` is true for the built-in one that needs no key. */
  model: z.object({ id: z.string(), provider: z.string(), demo: z.boolean() }),
  tools: z.array(z.object({ id: z.string(), description: z.string() })),
})

/** What a token may do: read; read, write and decide; also delete, import and see debug data. */
export const role = z.enum(['reader', 'member', 'owner'])

/** `GET /api/info` */
export const serverInfo = z
  .object({
    name: z.literal('byref'),
    version: z.string(),
    /** The first one answers unless another is named. */
    agents: z.array(agentInfo).min(1),
    /** Whether SQL over tables is there. */
    sql: z.boolean(),
    /** Who asks. */
    caller: z.object({ role, namespace: z.string().nullable(), subject: z.string() }),
  })
  .meta({ id: 'ServerInfo' })

/** `POST /api/session`: a token for a browser, kept as a cookie that scripts cannot read. */
export const sessionBody = z.strictObject({ token: z.string().min(1).max(10_000) })

/** Whether the server is up. */
export const health = z.object({ ok: z.boolean() })
