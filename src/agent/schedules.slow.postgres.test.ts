import { describe, expect, it } from 'vitest'
import { sharedSchedules } from '../../scripts/torture/schedules/schedules.ts'
import { createPostgresLog } from '../log/postgres-log.ts'
import { newSchema } from '../postgres/fixtures/schemas.ts'

// Short; the long run is `node --conditions=byref-source scripts/torture/schedules/schedules.ts postgres 10000`.
describe('runs under random schedules', () => {
  it('end, lose nothing and repeat nothing, on PostgreSQL', async () => {
    const schema = newSchema()
    const logs = [1, 2].map(() => createPostgresLog(schema))
    expect(await sharedSchedules(logs, { count: 40 })).toEqual([])
    for (const log of logs) await log.close()
  })
})
