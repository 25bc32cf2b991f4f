import { z } from 'zod'

/** An agent of the server. */
export const agentInfo = z.object({
  name: z.string(),
  /** How it treats untrusted data. */
  trust: z.enum(['off', 'track', 'quarantine']),
  /** The model that answers; `demo` is true for the built-in one that needs no key. */
  model: z.object({ id: z.string(), provider: z.string(), demo: z.boolean() }),
  tools: z.array(z.object({ id: z.string(), description: z.string() })),
})

/** Readers read. Members also write and approve calls. Owners also delete, import and see debug data in exports. */
export const role = z.enum(['reader', 'member', 'owner'])

/** `GET /api/info` */
export const serverInfo = z
  .object({
    name: z.literal('byref'),
    version: z.string(),
    /** The first one answers unless another is named. */
    agents: z.array(agentInfo).min(1),
    /** Whether tables can be queried with SQL. */
    sql: z.boolean(),
    /** Who sent the request. */
    caller: z.object({ role, namespace: z.string().nullable(), subject: z.string() }),
  })
  .meta({ id: 'ServerInfo' })

/** `POST /api/session`: keeps a token as a browser cookie that scripts cannot read. */
export const sessionBody = z.strictObject({ token: z.string().min(1).max(10_000) })

/** Whether the server runs. */
export const health = z.object({ ok: z.boolean() })
