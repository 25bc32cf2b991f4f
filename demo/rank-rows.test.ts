import { describe, expect, it } from 'vitest'
import { createAssets } from '../src/assets/create-assets.ts'
import { listRows } from '../src/assets/tables/table-rows.ts'
import { rankRows } from './rank-rows.ts'
import { summarize } from './summarize.ts'

/** A table with more than one group of rows. */
async function longTable() {
  const lines = Array.from({ length: 120_000 }, (_, i) => `${i},${(i * 7919) % 120_000},c${i % 3}`)
  const assets = createAssets({ config: { limits: { valueBytes: 1_000_000 } } })
  const csv = Buffer.from(`n,value,city\n${lines.join('\n')}\n`)
  const { table } = await assets.importFile(csv, { name: 'long.csv' })
  return assets.rows(table?.ref ?? '')
}

describe('rankRows and summarize over a table that is too large to be one value', () => {
  it('read its rows one by one, and report progress', async () => {
    const rows = await longTable()
    const told: string[] = []
    const progress = (message: string) => void told.push(message)
    const context = { progress, signal: new AbortController().signal } as never
    const ranked = await rankRows.execute(
      { rows, by: 'value', order: 'highest', limit: 2 },
      context,
    )
    expect(ranked.rows.map((row) => row.value)).toEqual([119_999, 119_998])
    expect(ranked.of).toBe(120_000)
    expect(told).toEqual(['Ranking 120,000 rows', 'Ranking 100,000 of 120,000 rows'])
    const summary = await summarize(rows, { groupBy: 'city', value: 'n', measure: 'count' })
    expect(summary.rows).toEqual(['c0', 'c1', 'c2'].map((city) => ({ city, count: 40_000 })))
  })

  it('name the existing columns', async () => {
    const rows = await longTable()
    const context = { progress() {} } as never
    const input = { rows, by: 'size', order: 'highest', limit: 1 } as const
    await expect(rankRows.execute(input, context)).rejects.toThrow(
      'There is no column "size"; the 3 columns are n, value, city',
    )
  })

  it('count the rows that tie with the last one of the result', async () => {
    const rows = listRows(
      [5, 5, 7, 5, null].map((n) => ({ n })),
      'rows',
    )
    const context = { progress() {}, signal: new AbortController().signal } as never
    const ranked = await rankRows.execute({ rows, by: 'n', order: 'highest', limit: 2 }, context)
    expect(ranked).toMatchObject({ rows: [{ n: 7 }, { n: 5 }], ties: 2, empty: 1, of: 5 })
  })
})
