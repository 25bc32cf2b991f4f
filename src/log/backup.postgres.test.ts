import pg from 'pg'
import { expect, it } from 'vitest'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { problemsOf, writeOn } from './fixtures/write-on.ts'
import { createPostgresLog } from './postgres-log.ts'

it('a PostgreSQL log that is backed up during writes is complete when it is restored', async () => {
  const place = newSchema()
  const log = createPostgresLog(place)
  const writing = writeOn(log)
  await expect.poll(writing.most).toBeGreaterThan(50)
  // Like pg_dump: all tables as they are at one moment.
  const client = new pg.Client(place)
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const tables = new Map<string, string>()
  for (const table of ['conversations', 'records', 'debug', 'notices', 'leftovers']) {
    const { rows } = await client.query(
      `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM "${place.schema}".${table} t`,
    )
    tables.set(table, rows[0].rows)
    const before = writing.most()
    await expect.poll(writing.most).toBeGreaterThan(before)
  }
  await client.query('COMMIT')
  const written = await writing.stop()
  await log.close()

  const to = newSchema()
  const restored = createPostgresLog(to)
  await restored.list()
  for (const [table, rows] of tables) {
    await client.query(
      `INSERT INTO "${to.schema}".${table} OVERRIDING SYSTEM VALUE
       SELECT * FROM json_populate_recordset(NULL::"${to.schema}".${table}, $1::json)`,
      [rows],
    )
  }
  await client.end()
  expect(await problemsOf(restored, written)).toEqual([])
  await restored.close()
})
