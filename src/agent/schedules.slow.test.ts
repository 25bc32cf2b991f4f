import { describe, expect, it } from 'vitest'
import { memorySchedules, sqliteSchedules } from '../../scripts/torture/schedules/schedules.ts'

// Short; the long run is `node --conditions=byref-source scripts/torture/schedules/schedules.ts memory 10000`.
describe('runs under random schedules', () => {
  it('end, lose nothing and repeat nothing, in memory', async () => {
    expect(await memorySchedules({ count: 200 })).toEqual([])
  })

  it('end if a cancellation and an interrupted answer are appended together', async () => {
    expect(await memorySchedules({ count: 1, first: 61353 })).toEqual([])
  })

  it('end, lose nothing and repeat nothing, on SQLite', async () => {
    expect(await sqliteSchedules({ count: 60 })).toEqual([])
  })
})
