import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import type { Database, Query } from './database.ts'

/** Tables that are migrated together. */
export interface Tables {
  /** The part of the schema, such as `log`. */
  part: string
  /** For messages, such as `The log`. */
  name: string
  /** The code of the error if the tables have a later version. */
  code: ByrefErrorCode
  /** Each step migrates from its index to the next version. Never change a step; add one that older versions tolerate. */
  steps: readonly (readonly string[])[]
}

/** One lock for all migrations in a database, because extensions belong to the database and not to a schema. */
const LOCK = 7_211_036_520_431

/**
 * Migrates tables to the last version, all steps in one transaction. Other processes wait for the first.
 *
 * @throws ByrefError with the code of the tables if they have a later version
 */
export async function migrate(
  { schema, query, transaction }: Database,
  tables: Tables,
): Promise<void> {
  const last = tables.steps.length
  if ((await versionOf(query, schema, tables)) === last) return
  await transaction(async (inside) => {
    await inside('SELECT pg_advisory_xact_lock($1)', [LOCK])
    // A user without the right to create schemas may use an existing one.
    const { rows } = await inside('SELECT to_regnamespace($1) IS NOT NULL AS there', [schema])
    if (!rows[0]?.there) await inside(`CREATE SCHEMA "${schema}"`)
    await inside(
      'CREATE TABLE IF NOT EXISTS byref.parts (part text PRIMARY KEY, version integer NOT NULL)',
    )
    const version = await versionOf(inside, schema, tables)
    for (const statements of tables.steps.slice(version)) await inside(statements.join(';\n'))
    await inside(
      `INSERT INTO byref.parts (part, version) VALUES ($1, $2)
       ON CONFLICT (part) DO UPDATE SET version = excluded.version`,
      [tables.part, last],
    )
  })
}

async function versionOf(query: Query, schema: string, tables: Tables): Promise<number> {
  const { part, name, code, steps } = tables
  const found = await query('SELECT to_regclass($1) IS NOT NULL AS there', [`"${schema}".parts`])
  if (!found.rows[0]?.there) return 0
  const { rows } = await query('SELECT version FROM byref.parts WHERE part = $1', [part])
  const version = Number(rows[0]?.version ?? 0)
  if (version <= steps.length) return version
  throw new ByrefError(
    code,
    `${name} in the schema "${schema}" has version ${version}, and this byref supports versions up to ${steps.length}. Update byref, or use another schema.`,
  )
}
