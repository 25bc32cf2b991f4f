import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAssets } from '../create-assets.ts'
import { treeMemory } from '../fixtures/tree-memory.ts'
import { REACH_OUT, TAKE_MEMORY, TAKE_TIME } from './fixtures/hostile-sql.ts'
import { spreadsheet } from './fixtures/spreadsheet.ts'

const GIGABYTE = 1_000_000_000
const assets = createAssets()
let ref = ''

/** Only folders of tasks are created there. */
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-tasks-'))
  process.env.TMPDIR = folder
  const { table } = await assets.importFile(Buffer.from('a,b\n1,x\n2,y\n'), { name: 'x.csv' })
  ref = table?.ref ?? ''
})
afterAll(async () => {
  delete process.env.TMPDIR
  await rm(folder, { recursive: true, force: true })
})

/** The result of a query: its rows as JSON, or its error. */
async function ask(sql: string, options: Parameters<typeof assets.query>[1] = {}) {
  try {
    const result = await assets.query({ sql }, { timeoutMs: 20_000, ...options })
    const text = JSON.stringify(await assets.resolve(`${result.ref}/content/rows`), (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    )
    await assets.delete(result.ref)
    return { code: 'done', text }
  } catch (error) {
    const { code, message } = error as Error & { code: string }
    return { code, text: message }
  }
}

describe.runIf(process.platform === 'linux')('the memory of queries', () => {
  it('is less than a gigabyte in total, whatever the queries are', async () => {
    let most = 0
    const idle = treeMemory(process.pid)
    const watch = setInterval(() => {
      most = Math.max(most, treeMemory(process.pid) - idle)
    }, 10)
    const left = TAKE_MEMORY.filter((_, i) => i % 3 === 0)
    const codes = new Set<string>()
    const take = async (): Promise<void> => {
      for (let sql = left.pop(); sql !== undefined; sql = left.pop()) {
        codes.add((await ask(sql, { timeoutMs: 1_500 })).code)
      }
    }
    await Promise.all([take(), take(), take(), take()])
    clearInterval(watch)
    expect(most).toBeLessThan(GIGABYTE)
    const known = ['done', 'invalid_arguments', 'result_too_large', 'tool_timeout']
    expect([...codes].filter((code) => !known.includes(code))).toEqual([])
    expect(await ask(`select sum(a) as n from "${ref}"`)).toEqual({
      code: 'done',
      text: '[{"n":3}]',
    })
  })
})

describe('the memory of files', () => {
  it.runIf(process.platform === 'linux')(
    'is limited in the same way, whatever they unpack to',
    async () => {
      let most = 0
      const bytes = spreadsheet(
        Buffer.concat([
          Buffer.from('<row r="1"><c r="A1" t="inlineStr"><is><t>'),
          Buffer.alloc(800_000_000, 'x'),
          Buffer.from('</t></is></c></row>'),
        ]),
      )
      expect(bytes.byteLength).toBeLessThan(1_000_000)
      const idle = treeMemory(process.pid)
      const watch = setInterval(() => {
        most = Math.max(most, treeMemory(process.pid) - idle)
      }, 10)
      const [first, second] = await Promise.allSettled(
        [1, 2].map((n) => assets.importFile(bytes, { name: `${n}.xlsx` })),
      )
      clearInterval(watch)
      expect(most).toBeLessThan(GIGABYTE)
      for (const one of [first, second]) {
        expect(one).toMatchObject({
          status: 'rejected',
          reason: { code: 'table_invalid', reason: expect.stringContaining('too large') },
        })
      }
    },
  )
})

describe('a query', () => {
  it('that takes too long is stopped, even while it waits for others', async () => {
    const [endless = ''] = TAKE_TIME
    const all = await Promise.all([1, 2, 3].map(() => ask(endless, { timeoutMs: 300 })))
    expect(new Set(all.map(({ code }) => code))).toEqual(new Set(['tool_timeout']))
  })

  it('frees its place when its signal aborts, even before its turn', async () => {
    const [endless = ''] = TAKE_TIME
    const stop = new AbortController()
    const asked = [1, 2, 3].map(() => ask(endless, { signal: stop.signal }))
    stop.abort(new Error('enough'))
    expect(await Promise.all(asked)).toEqual([1, 2, 3].map(() => ({ text: 'enough' })))
    expect((await ask('select 1 as one')).text).toBe('[{"one":1}]')
    expect((await readdir(folder)).filter((name) => name.startsWith('byref-'))).toEqual([])
  })

  it('leaves no file if it is stopped while it writes a long result', async () => {
    const stop = new AbortController()
    const sql = 'select uuid()::varchar || range as x from range(5000000)'
    // On a busy machine, the first rows take a long time.
    const timeout = 120_000
    const asked = ask(sql, { rows: 5_000_000, signal: stop.signal, timeoutMs: timeout })
    const files = () => readdir(folder, { recursive: true })
    const isWriting = async () => (await files()).some((name) => /table$/.test(name))
    await vi.waitUntil(isWriting, { timeout })
    stop.abort(new Error('enough'))
    expect((await asked).text).toBe('enough')
    expect((await files()).filter((name) => name.startsWith('byref-'))).toEqual([])
  })

  it('can take any time', async () => {
    for (const timeoutMs of [Infinity, 2 ** 32 - 1]) {
      expect(await ask('select 1 as one', { timeoutMs })).toMatchObject({ code: 'done' })
    }
  })

  it.each(REACH_OUT)('is rejected if it accesses anything outside: %s', async (sql) => {
    const { code, text } = await ask(sql)
    expect([code, text.includes(basename(folder))]).toEqual(['invalid_arguments', false])
  })

  it('sees no path in any function or view', async () => {
    const functions = `select distinct function_name as f from duckdb_functions() where function_type like '%table%' or len(parameters) = 0`
    const names = [
      'duckdb_settings',
      'current_setting',
      'pg_settings',
      'duckdb_views',
      'duckdb_logs',
    ]
    expect((await ask(functions)).code).toBe('invalid_arguments')
    for (const name of [...names, ...names.map((one) => `main.${one}`)]) {
      for (const sql of [`select * from ${name}()`, `select * from ${name}`, `select ${name}()`]) {
        const { text } = await ask(sql)
        expect([sql, text.includes(basename(folder))]).toEqual([sql, false])
      }
    }
    const { text } = await ask(`select sql from sqlite_master, "${ref}"`)
    expect(text).not.toContain(basename(folder))
  })
})
