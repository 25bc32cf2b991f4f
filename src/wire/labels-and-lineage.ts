import { z } from 'zod'

/** A label. Absent fields mean trusted, public, and readable by everybody (docs/reference/trust.md). */
export const writtenLabel = z.object({
  integrity: z.enum(['trusted', 'untrusted']).optional(),
  confidentiality: z.enum(['public', 'private']).optional(),
  readers: z.array(z.string()).readonly().nullable().optional(),
  sources: z.array(z.string()).readonly().optional(),
})

/** `GET /api/conversations/:id/lineage` */
export const lineageQuery = z.strictObject({
  /** `†…`, `asset://…`, `call:<id>`, `message:<id>`, `data:<id>`. */
  ref: z.string().min(1).max(10_000),
})

/** `GET /api/conversations/:id/labels` */
export const labelsQuery = z.strictObject({ after: z.coerce.number().int().min(0).default(0) })

/**
 * The labels of everything untrusted or private: of messages after `after` by id, of all assets by id, and of data by name
 * (`state#x`). Without sources.
 */
export const labelsAnswer = z
  .object({
    /** The `after` of the next request. */
    position: z.int(),
    messages: z.record(
      z.string(),
      writtenLabel.extend({ fields: z.record(z.string(), z.unknown()).optional() }),
    ),
    assets: z.record(z.string(), writtenLabel),
    data: z.record(z.string(), writtenLabel),
  })
  .meta({ id: 'Labels' })

const node = z.object({
  id: z.string(),
  type: z.enum(['message', 'call', 'asset', 'data']),
  ref: z.string().optional(),
  name: z.string().optional(),
  /** Absent for a trusted, public value, and if no agent of the server has trust on. */
  label: writtenLabel.optional(),
})

const edge = z.object({ from: z.string(), to: z.string(), ref: z.string().optional() })

/** Where a value came from and where it was used. */
export const lineageAnswer = z
  .object({ of: z.array(z.string()), nodes: z.array(node), edges: z.array(edge) })
  .meta({ id: 'Lineage' })
