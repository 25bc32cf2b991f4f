import { describe, expect, it } from 'vitest'
import { memorySchedules, sqliteSchedules } from '../../scripts/torture/schedules/schedules.ts'

// Short; the long run is `node --conditions=byref-source scripts/torture/schedules/schedules.ts memory 10000`.
describe('runs under random schedules', () => {
  it('end, lose nothing and do nothing twice, in memory', async () => {
    expect(await memorySchedules({ count: 200 })).toEqual([])
  })

  it('end, lose nothing and do nothing twice, on SQLite', async () => {
    expect(await sqliteSchedules({ count: 60 })).toEqual([])
  })
})
