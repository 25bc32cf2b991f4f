import { z } from 'zod'
import { assetRef, errorAnswer, jsonObject, limit, time } from './common.ts'
import { writtenLabel } from './labels-and-lineage.ts'

/** An asset, without its body. */
export const assetInfo = z
  .object({
    assetId: z.string(),
    /** The full reference, `asset://…`. */
    ref: z.string(),
    mime: z.string(),
    kind: z.enum(['image', 'audio', 'video', 'file']),
    /** The size of the body in bytes: for structured content its JSON, for a table its Parquet. */
    size: z.int(),
    /** SHA-256 of the body, in lower-case hex. */
    digest: z.string(),
    name: z.string().nullable(),
    description: z.string().nullable(),
    createdAt: time,
    expiresAt: time.nullable(),
    structured: z.boolean(),
    /** The size of a table, and the reference of the original file. */
    table: z.object({ rows: z.int(), columns: z.int(), source: z.string().nullable() }).nullable(),
    /** The reference of the version that it was made from, by an edit. */
    previous: z.string().optional(),
    /** Who made it: a tool with its call, the model of an agent, a person, or the app. */
    by: z.enum(['user', 'agent', 'tool', 'system']).optional(),
    tool: z.string().optional(),
    toolCallId: z.string().optional(),
    /** The label of its content, if it was made with trust on. */
    label: writtenLabel.optional(),
  })
  .meta({ id: 'Asset' })

/** `GET /api/assets` */
export const assetsQuery = z.strictObject({
  limit: limit(1000, 200),
  cursor: z.string().optional(),
})

/** A page of assets, newest first; `next` is the cursor of the next one, null at the end. */
export const assetsPage = z.object({ assets: z.array(assetInfo), next: z.string().nullable() })

/** An asset with its flattened meta, which is what a model is shown of it. */
export const assetDetails = z.object({ asset: assetInfo, meta: jsonObject })

/** `POST /api/assets` */
export const uploadQuery = z.strictObject({
  /** The name of the file. Its extension helps to find the type. */
  name: z.string().max(1000).optional(),
})

/** The original file, its table (for a workbook, the first sheet), and the asset that lists the tables of all sheets. */
export const uploaded = z.object({
  asset: assetInfo,
  table: assetInfo.nullable(),
  workbook: assetInfo.nullable(),
})

/** A file of a form that could not be saved. */
const failedFile = z.object({ name: z.string(), ...errorAnswer.shape })

/** `POST /api/assets` with a form: one result for each file, in their order. */
export const uploadedForm = z.object({
  files: z.array(uploaded.or(failedFile)),
  /** Why the rest of the form was not read. The files before are saved. */
  error: errorAnswer.shape.error.optional(),
})

/** `POST /api/assets/structured`: a structured asset; bytes by reference or as data URLs. */
export const structuredAsset = z.strictObject({
  asset_type: z.string().max(200).optional(),
  asset_id: z.string().max(200).optional(),
  asset_name: z.string().max(1000).optional(),
  description: z.string().max(10_000).optional(),
  content_type: z.string().max(200),
  content: z.unknown(),
})

/** One asset. */
export const assetAnswer = z.object({ asset: assetInfo })

/** `GET /api/assets/:id/content`. Unknown parameters are ignored, because pages and caches add their own. */
export const contentQuery = z.looseObject({
  /** A field from the asset's first level on (`content/rows/0`), with keys as in an asset reference. */
  path: z.string().max(10_000).optional(),
  /** As an attachment with its name; for a table, the original file. */
  download: z.string().optional(),
  /** The signature of a signed URL. */
  signature: z.string().max(4096).optional(),
})

/** `GET /api/assets/:id/rows` */
export const rowsQuery = z.strictObject({
  offset: z.coerce.number().int().min(0).default(0),
  limit: limit(1000, 100),
  /** Names of columns, as a JSON list. Default: all. */
  columns: z.string().max(100_000).optional(),
  /** The name of a column; with `-` before it, the largest value comes first. */
  sort: z.string().max(1000).optional(),
  /** Conditions as a JSON list: `[{ "column": "city", "is": "equal", "to": "Oslo" }]`. */
  where: z.string().max(100_000).optional(),
})

/** One condition on a column. */
export const condition = z
  .strictObject({
    column: z.string(),
    is: z.enum([
      'equal',
      'not_equal',
      'less',
      'at_most',
      'more',
      'at_least',
      'contains',
      'missing',
    ]),
    to: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
  })
  .refine(({ is, to }) => is === 'missing' || (to ?? null) !== null, {
    message: 'needs a value; for cells without a value, use missing',
    path: ['to'],
  })

/** A page of a table's rows. */
export const rowsPage = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(jsonObject),
  offset: z.int(),
  /** The `offset` of the next page, null at the end. Very long rows make a page shorter. */
  next: z.int().nullable(),
  /** Number of rows that match the conditions, on all pages. */
  total: z.int(),
})

/** `POST /api/query`: SQL over tables by their references. */
export const queryBody = z.strictObject({
  sql: z.string().min(1).max(100_000),
  /** Names that the SQL uses for references. */
  tables: z.record(z.string(), assetRef).optional(),
  name: z.string().max(1000).optional(),
})

/** One edit of a text, of JSON (RFC 6902), or of a table. */
const edit = z.union([
  z.strictObject({
    find: z.string(),
    replace: z.string(),
    occurrence: z.union([z.int().min(1), z.literal('all')]).optional(),
  }),
  z.strictObject({ insert: z.string(), before: z.string() }),
  z.strictObject({ insert: z.string(), after: z.string() }),
  z.strictObject({
    lines: z.tuple([z.int().min(1), z.int().min(1)]),
    firstLine: z.string(),
    replace: z.string(),
  }),
  z.strictObject({ op: z.enum(['add', 'replace', 'test']), path: z.string(), value: z.json() }),
  z.strictObject({ op: z.literal('remove'), path: z.string() }),
  z.strictObject({ op: z.enum(['move', 'copy']), path: z.string(), from: z.string() }),
  z.strictObject({ sql: z.string() }),
])

/** `POST /api/assets/:id/edit`: the edits of docs/reference/assets.md, and a field path as in the content's. */
export const editBody = z.strictObject({
  edits: z.array(edit).min(1).max(1000),
  path: z.string().max(10_000).optional(),
  /** Checks the edits and answers with the diff. Nothing is saved. */
  dryRun: z.boolean().default(false),
})

/** The new version of an edited asset. */
export const edited = z.object({
  asset: assetInfo,
  /** The reference of the new version, with the edited field. */
  ref: z.string(),
  previous: z.string(),
  changes: z.int(),
  diff: z.string(),
})

/** The versions of an asset, oldest first. */
export const versionsAnswer = z.object({ versions: z.array(assetInfo) })

/** `POST /api/assets/:id/sign` */
export const signBody = z.strictObject({
  /** In seconds, at most 7 days. Default: one hour. */
  expiresIn: z.int().min(1).max(604_800).default(3600),
  path: z.string().max(10_000).optional(),
  download: z.boolean().default(false),
})

/** A URL that needs no token until it expires. */
export const signed = z.object({ url: z.string(), expiresAt: time })

/** The number of assets in a namespace, and their bytes. */
export const usageAnswer = z.object({ assets: z.int(), bytes: z.int() })
