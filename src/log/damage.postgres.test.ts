import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { chat } from '../testing/conversation-log/events.ts'
import { testDamage } from './fixtures/test-damage.ts'
import { createPostgresLog } from './postgres-log.ts'

testDamage(async () => {
  const place = newSchema()
  const log = createPostgresLog(place)
  const { upkeep } = log
  if (!upkeep) throw new Error('There is no upkeep')
  const { connectionString, schema } = place
  const client = new pg.Client({ connectionString, options: `-c search_path=${schema}` })
  await client.connect()
  return {
    log: { ...log, upkeep },
    again: () => createPostgresLog(place),
    sql: (text) => client.query(text),
    async close() {
      await client.end()
      await log.close()
    },
  }
})

it('finds the record in a damaged page, also for a writer who is behind', async () => {
  const place = newSchema()
  const log = createPostgresLog(place)
  const { connectionString, schema } = place
  const client = new pg.Client({ connectionString, options: `-c search_path=${schema}` })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await log.close()
  })
  await log.append('c', [chat('a'), chat('b'), chat('c')])
  // The error of PostgreSQL for a page that cannot be read.
  await client.query(`
    CREATE FUNCTION unreadable() RETURNS text LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'invalid page' USING ERRCODE = 'XX001'; END $$;
    ALTER TABLE records RENAME TO sound;
    CREATE VIEW records AS SELECT conversation, position, at,
      CASE WHEN position = 2 THEN unreadable() ELSE event END AS event, sum FROM sound`)
  const damage = { code: 'conversation_damaged', damage: { position: 2 } }
  await expect(log.read('c')).rejects.toMatchObject(damage)
  await expect(log.append('c', [chat('d')], { after: 1 })).rejects.toMatchObject(damage)
})
