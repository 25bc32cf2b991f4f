import { describe, expect, it } from 'vitest'
import { openApi, refusal } from './fixtures/api.ts'

interface Page {
  columns: { name: string; type: string }[]
  rows: Record<string, unknown>[]
  total: number
  next: number | null
}

async function table(csv: string) {
  const api = openApi()
  const made = await api.askJson<{ table: { assetId: string; ref: string } }>(
    '/api/assets?name=t.csv',
    {
      method: 'POST',
      body: csv,
      headers: { 'content-type': 'text/csv' },
    },
  )
  const path = `/api/assets/${made.table.assetId}/rows`
  const rows = (query: Record<string, unknown>) =>
    api.askJson<Page>(`${path}?${new URLSearchParams(query as Record<string, string>)}`)
  return { ...api, ref: made.table.ref, path, rows }
}

const CITIES = 'city,n,big\nOslo,3,9007199254740993\nBergen,,1\noslo,1,2\nRome,2,3\n'

describe('rows of a table', () => {
  it('are returned by pages, with selected columns', async () => {
    const { rows } = await table(CITIES)
    const page = await rows({ offset: 1, limit: 2, columns: '["city","n"]' })
    expect(page).toEqual({
      columns: [
        { name: 'city', type: expect.any(String) },
        { name: 'n', type: expect.any(String) },
      ],
      rows: [
        { city: 'Bergen', n: null },
        { city: 'oslo', n: 1 },
      ],
      offset: 1,
      next: 3,
      total: 4,
    })
    expect((await rows({ limit: 1 })).rows[0]?.big).toBe('9007199254740993')
    expect(await rows({ offset: 9 })).toMatchObject({ rows: [], next: null })
    expect(await rows({ offset: 2 })).toMatchObject({ next: null })
  })

  it('are sorted, with missing values last, and filtered', async () => {
    const { rows } = await table(CITIES)
    const cities = async (query: Record<string, unknown>) => {
      const { rows: found, total } = await rows(query)
      return [...found.map(({ city }) => city), total]
    }
    expect(await cities({ sort: 'n' })).toEqual(['oslo', 'Rome', 'Oslo', 'Bergen', 4])
    expect(await cities({ sort: '-n' })).toEqual(['Oslo', 'Rome', 'oslo', 'Bergen', 4])
    expect(await cities({ sort: 'n', offset: 1, limit: 1 })).toEqual(['Rome', 4])
    const where = (...conditions: unknown[]) => ({ where: JSON.stringify(conditions) })
    expect(await cities(where({ column: 'city', is: 'contains', to: 'OSL' }))).toEqual([
      ...['Oslo', 'oslo', 2],
    ])
    expect(await cities(where({ column: 'n', is: 'at_least', to: '2' }))).toEqual([
      'Oslo',
      'Rome',
      2,
    ])
    expect(await cities(where({ column: 'n', is: 'missing' }))).toEqual(['Bergen', 1])
    const long = { column: 'big', to: '9007199254740993' }
    expect(await cities(where({ ...long, is: 'equal' }))).toEqual(['Oslo', 1])
    expect(await cities(where({ ...long, is: 'not_equal' }))).toEqual(['Bergen', 'oslo', 'Rome', 3])
    expect(
      await cities({ ...where({ column: 'n', is: 'less', to: 3 }), sort: '-city', limit: 1 }),
    ).toEqual(['oslo', 2])
  })

  it('sort up to the supported depth', async () => {
    const numbers = Array.from({ length: 5000 }, (_, n) => (n * 7919) % 5000)
    const { rows } = await table(`n\n${numbers.join('\n')}\n`)
    const { rows: found } = await rows({ sort: '-n', offset: 10, limit: 3 })
    expect(found).toEqual([{ n: 4989 }, { n: 4988 }, { n: 4987 }])
  })

  it('are returned a few at a time if they are very long, in any order', async () => {
    const long = 'x'.repeat(900_000)
    const lines = Array.from({ length: 12 }, (_, n) => `${(n * 5) % 12},${long}`)
    const { rows } = await table(`n,text\n${lines.join('\n')}\n`)
    const seen: number[] = []
    let offset: number | null = 0
    while (offset !== null) {
      const page: Page = await rows({ sort: '-n', limit: 12, offset })
      expect(page.rows.length).toBeGreaterThan(0)
      expect(page.rows.length).toBeLessThan(12)
      seen.push(...page.rows.map(({ n }) => n as number))
      offset = page.next
    }
    expect(seen).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  it('are rejected for an invalid request', async () => {
    const { ask, path } = await table(CITIES)
    for (const [query, status, code] of [
      ['columns=["none"]', 422, 'invalid_arguments'],
      ['columns=city', 400, 'bad_request'],
      ['sort=none', 422, 'invalid_arguments'],
      ['sort=n&offset=100000', 422, 'invalid_arguments'],
      ['where=[{"column":"n","is":"odd"}]', 400, 'bad_request'],
      ['where=[{"column":"n","is":"equal"}]', 400, 'bad_request'],
      ['where=[{"column":"n","is":"not_equal","to":null}]', 400, 'bad_request'],
    ] as const) {
      expect([query, await refusal(await ask(`${path}?${query}`))]).toEqual([
        query,
        { status, code },
      ])
    }
  })
})

describe('SQL', () => {
  it('creates a table from tables', async () => {
    const { ask, askJson, ref } = await table(CITIES)
    const sql = `select count(*) as n from "${ref}"`
    const { asset } = await askJson<{ asset: { assetId: string } }>('/api/query', {
      method: 'POST',
      json: { sql },
    })
    const { rows } = await askJson<Page>(`/api/assets/${asset.assetId}/rows`)
    expect(rows).toEqual([{ n: 4 }])
    const wrong = await ask('/api/query', { method: 'POST', json: { sql: 'drop table x' } })
    expect(await refusal(wrong)).toEqual({ status: 422, code: 'invalid_arguments' })
  })
})
