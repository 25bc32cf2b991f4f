import { describe, expect, it } from 'vitest'
import { loadDuckdb, withDuckdb } from './duckdb.ts'

describe('withDuckdb', () => {
  it('ends what begins when the signal has come between two statements', async () => {
    const duckdb = await loadDuckdb()
    if (!duckdb) throw new Error('DuckDB is installed')
    const stop = new AbortController()
    const scope = { memory: '64MB', files: null, signal: stop.signal }
    const asked = withDuckdb(duckdb, scope, async (connection) => {
      await connection.run('select 1')
      stop.abort(new Error('enough'))
      await connection.run(
        'select count(*) from range(10000000) a, range(10000000) b where a.range * b.range % 7 = 3',
      )
    })
    await expect(asked).rejects.toThrow('enough')
  })
})
