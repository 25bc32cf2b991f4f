import pg from 'pg'
import { newSchema } from '../postgres/fixtures/schemas.ts'
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
