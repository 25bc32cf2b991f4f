import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Assets } from '../assets-contract.ts'
import { createAssets } from '../create-assets.ts'
import { createMemoryAssetStore } from '../stores/memory.ts'
import { sheetRows, workbook } from './fixtures/spreadsheet.ts'
import { queryTablesTool } from './query-tables-tool.ts'

const assets = createAssets()
const refs: Record<string, string> = {}

async function importCsv(name: string, text: string, into: Assets = assets): Promise<string> {
  const { table } = await into.importFile(Buffer.from(text), { name })
  return table?.ref ?? ''
}

/** The rows of a result. */
async function ask(sql: string, options = {}, from: Assets = assets): Promise<unknown[]> {
  const { ref } = await from.query({ sql }, options)
  return (await from.resolve(`${ref}/content/rows`)) as unknown[]
}

const failure = (sql: string, options = {}) =>
  ask(sql, options).then(
    () => null,
    (error) => error,
  )

beforeAll(async () => {
  refs.trips = await importCsv(
    'trips.csv',
    'city,day,at,n,big,amount\n1,2024-01-31,2024-01-31T10:00Z,5,9007199254740993,0.1234567890123456789\n2,2024-02-01,2024-02-01T11:00Z,7,9007199254740993,1\n1,2024-02-02,2024-02-02T00:00Z,1,1,2\n',
  )
  refs.cities = await importCsv('cities.csv', 'id,name,land\n1,Oslo,NO\n2,Bonn,DE\n')
  refs.lands = await importCsv('lands.csv', 'code,land\nNO,Norway\nDE,Germany\n')
})

describe('Assets.query', () => {
  it('reads CSV whose type nobody named, such as the text that a tool returned', async () => {
    const text = 'city;note\nOslo;"wet; cold"\nBonn;dry'
    const { ref } = await assets.save(Buffer.from(text), 'text/plain')
    expect(await ask(`SELECT note FROM "${ref}" WHERE city = 'Oslo'`)).toEqual([
      { note: 'wet; cold' },
    ])
    const stated = await assets.save(Buffer.from('sep=|\na|b|c\n1|2|3'), 'text/plain')
    expect(await ask(`SELECT c FROM "${stated.ref}"`)).toEqual([{ c: 3 }])
    const lines = ['one line', 'a, b\nc', 'a,b', '']
    for (const other of lines) {
      const { ref } = await assets.save(Buffer.from(other), 'text/plain')
      expect(await failure(`SELECT * FROM "${ref}"`)).toMatchObject({
        message: expect.stringContaining('text/plain and not a table'),
      })
    }
  })

  it('joins tables by their references, and returns a table', async () => {
    const sql = `select l.land, sum(t.n) as n from "${refs.trips}" t join "${refs.cities}/content/rows" c on c.id = t.city
      join "${refs.lands}" l on l.code = c.land group by 1 order by 2 desc`
    const result = await assets.query({ sql }, { name: 'by land' })
    expect(result).toMatchObject({ name: 'by land', table: { rows: 2, columns: 2, source: null } })
    expect(await assets.resolve(`${result.ref}/content`)).toEqual({
      columns: [
        { name: 'land', type: 'string', missing: 0 },
        { name: 'n', type: 'number', missing: 0 },
      ],
      rows: [
        { land: 'Germany', n: 7 },
        { land: 'Norway', n: 6 },
      ],
      source: null,
    })
    const { rows } = (await assets.meta(result.ref)).content as { rows: unknown[] }
    expect(rows).toHaveLength(2)
  })

  it('accepts names for references, and results as tables', async () => {
    const { ref } = await assets.query({
      sql: 'select city, max(n) as n from trips group by 1',
      tables: { trips: refs.trips ?? '' },
    })
    expect(await ask(`select sum(n) as n from "${ref}"`)).toEqual([{ n: 12 }])
  })

  it('supports dates, times, long numbers and decimals, and loses no digit', async () => {
    expect(
      await ask(`select date_trunc('month', day)::date as month, month("at") as m, sum(big) as big, sum(amount) as amount
        from "${refs.trips}" group by 1, 2 order by 1`),
    ).toEqual([
      { month: '2024-01-01', m: 1, big: 9007199254740993n, amount: '0.1234567890123456789' },
      { month: '2024-02-01', m: 2, big: 9007199254740994n, amount: '3.0000000000000000000' },
    ])
    expect(await ask(`select day from "${refs.trips}" limit 1`)).toEqual([{ day: '2024-01-31' }])
  })

  it('returns times and decimals that a query, and other programs, can compute with', async () => {
    const { ref } = await assets.query({
      sql: `select timestamp '2024-01-31 10:00:00.5' as t, timestamptz '2024-01-31 10:00:00+02' as utc,
        unnest([12345678901234567890.10, 0.05])::decimal(38,2) as amount`,
    })
    const { bytes } = await assets.get(ref)
    const { table } = await assets.importFile(bytes, { name: 'result.parquet' })
    for (const one of [ref, table?.ref]) {
      expect(
        await ask(
          `select any_value(typeof(t)) as t, hour(any_value(utc)) as h, sum(amount) as amount from "${one}"`,
        ),
      ).toEqual([{ t: 'TIMESTAMP', h: 8, amount: '12345678901234567890.15' }])
    }
  })

  it('reads columns without values as any type', async () => {
    const jan = await importCsv('jan.csv', 'id,discount,day\n1,0.5,2024-01-01\n')
    const feb = await importCsv('feb.csv', 'id,discount,day\n2,,\n')
    expect(await ask(`select * from "${jan}" union all select * from "${feb}"`)).toEqual([
      { id: 1, discount: 0.5, day: '2024-01-01' },
      { id: 2, discount: null, day: null },
    ])
    expect(await ask(`select sum(discount) as n from "${feb}"`)).toEqual([{ n: null }])
  })

  it.each(['where false', 'where id = 1', 'order by id'])(
    'keeps the types of a result whose first rows have no values: %s',
    async (some) => {
      const long = await assets.query({
        sql: `select id, if(id > 30000, id / 2, null)::double as v, if(id > 30000, id, null) as n,
          if(id > 30000, 1.5::decimal(30,2), null) as p, if(id > 30000, true, null) as b,
          if(id > 30000, date '2024-01-01', null) as d, if(id > 30000, timestamp '2024-01-01 10:00:00', null) as t,
          if(id > 30000, timestamptz '2024-01-01 10:00:00+00', null) as z from range(1, 40001) r(id) ${some}`,
      })
      const { columns } = await assets.rows(long.ref)
      const types = ['number', 'number', 'number', 'number', 'boolean', 'date', 'date', 'date']
      expect(columns.map(({ type }) => type).slice(1)).toEqual(types.slice(1))
      const sums = `select sum(v) as v, sum(n) as n, sum(p) as p, bool_or(b) as b,
        max(date_trunc('month', d))::date as d, max(date_trunc('day', t)) as t, max(date_trunc('day', z)) as z from "${long.ref}"`
      const [found] = await ask(sums)
      const full = { v: 175002500, n: 350005000, p: 15000, b: true, d: '2024-01-01' }
      const times = { t: '2024-01-01T00:00:00', z: '2024-01-01T00:00:00Z' }
      const none = { v: null, n: null, p: null, b: null, d: null, t: null, z: null }
      expect(found).toEqual(some.startsWith('where') ? none : { ...full, ...times })
    },
  )

  it('finds columns whose names differ in case', async () => {
    const ref = await importCsv('x.csv', 'id,ID\n1,2\n')
    const { columns } = (await assets.resolve(ref)) as { columns: { name: string }[] }
    const names = columns.map(({ name }) => `"${name}"`)
    expect(await ask(`select ${names.join(', ')} from "${ref}"`)).toEqual([{ id: 1, ID_2: 2 }])
  })

  it.each([
    ['1 as a, 2 as a, 3 as "a:1"', { a: 1, a_2: 2, 'a:1': 3 }],
    ['1 as a, 2 as A, 3 as a_2, 4 as " a"', { a: 1, A_3: 2, a_2: 3, ' a': 4 }],
    [
      '3 as constructor, 4 as constructor, 5 as constructor, 6 as "valueOf"',
      { constructor: 3, constructor_2: 4, constructor_3: 5, valueOf: 6 },
    ],
    [
      '1 as __proto__, 2 as __proto__',
      Object.fromEntries([
        ['__proto__', 1],
        ['__proto___2', 2],
      ]),
    ],
  ])('gives each column its own name: select %s', async (columns, row) => {
    const { ref } = await assets.query({ sql: `select ${columns}` })
    const content = (await assets.resolve(ref)) as { columns: { name: string }[]; rows: object[] }
    expect(content.columns.map(({ name }) => name)).toEqual(Object.keys(row))
    expect(Object.entries(content.rows[0] ?? {})).toEqual(Object.entries(row))
  })

  it('keeps lists of whole numbers and decimals', async () => {
    const lists = 'list(n) as n, list(big) as big, list(amount) as amount'
    expect(await ask(`select ${lists} from "${refs.trips}" where city = 1`)).toEqual([
      {
        n: [5, 1],
        big: ['9007199254740993', 1],
        amount: ['0.1234567890123456789', '2.0000000000000000000'],
      },
    ])
    const counts = await ask(`select list(count) as counts from (
      select count(*) as count from "${refs.trips}" group by city order by 1)`)
    expect(counts).toEqual([{ counts: [1, 2] }])
  })

  it('has maps as objects, and times in lists as ISO 8601', async () => {
    const sql = `select map {'a': [timestamptz '2024-01-01 08:00:00+00']} as m,
      [timestamp '2024-01-01 08:00:00.5', null] as l, {'d': date '2024-01-01'} as o`
    expect(await ask(sql)).toEqual([
      {
        m: { a: ['2024-01-01T08:00:00Z'] },
        l: ['2024-01-01T08:00:00.5', null],
        o: { d: '2024-01-01' },
      },
    ])
  })

  it('reads JSON as values, and keeps the digits of its numbers', async () => {
    expect(
      await ask(`select to_json({ a: big }) as a, '[1]'::json->0 as one, list(to_json(n)) as l
        from "${refs.trips}" where city = 2 group by 1`),
    ).toEqual([{ a: { a: '9007199254740993' }, one: 1, l: [7] }])
  })

  it('keeps numbers that JSON does not have, and times with a zone', async () => {
    const { ref } = await assets.query({
      sql: `select unnest([1.5, 'nan'::double, 1 / 0.0]) as x, timestamptz '2024-01-01 08:00:00+00' as t`,
    })
    const { columns, rows } = (await assets.resolve(ref)) as { columns: object[]; rows: object[] }
    expect(columns).toMatchObject([{ type: 'number' }, { type: 'date' }])
    const t = '2024-01-01T08:00:00Z'
    expect(rows).toEqual([
      { x: 1.5, t },
      { x: Number.NaN, t },
      { x: Infinity, t },
    ])
  })

  it('compares times with different offsets', async () => {
    const times = ['10:00+02:00', '09:00:00Z', '09:30:00.5+01:00', '11:00', '07:00:00-05:30']
    const lines = times.map((time) => `2024-01-01T${time}\n`).join('')
    const ref = await importCsv('times.csv', `t,n\n${lines.replaceAll('\n', ',1\n')}`)
    const found = await ask(`select strftime(t, '%H:%M') as t from "${ref}" order by 1`)
    expect(found).toEqual(['08:00', '08:30', '09:00', '11:00', '12:30'].map((t) => ({ t })))
  })

  it('reads quoted names, and ignores comments and texts', async () => {
    const odd = await importCsv('odd.csv', '"a ""b"" ; --c",A,a\n1,2,3\n')
    expect(await ask(`select * from "${odd}" -- "asset://nothing"`)).toEqual([
      { 'a "b" ; --c': 1, A: 2, a_2: 3 },
    ])
    expect(
      await ask(
        `/* "asset://nothing" */ select '"asset://nothing"' as x, "a ""b"" ; --c" as y from "${odd}"`,
      ),
    ).toEqual([{ x: '"asset://nothing"', y: 1 }])
    const named = await assets.query({
      sql: 'select 1 as one from "my ""odd"" name"',
      tables: { 'my "odd" name': odd },
    })
    expect(named.table?.rows).toBe(1)
  })

  it('can access only the tables that it names', async () => {
    const file = join(tmpdir(), `byref-secret-${process.pid}.csv`)
    await writeFile(file, 'a\nsecret\n')
    onTestFinished(() => rm(file))
    const body = `"${refs.cities}"`
    for (const sql of [
      `select * from read_csv('${file}')`,
      `select * from '${file}'`,
      `select content from read_text('${file}')`,
      `select * from glob('/*')`,
      `select * from parquet_metadata('/etc/passwd')`,
      `select * from "https://example.com/x.csv"`,
      `select * from sniff_csv('${file}')`,
      `copy (select 1) to '${file}.out'`,
      `copy ${body} to '${file}.out'`,
      `select 1; copy (select 1) to '${file}.out'`,
      'install httpfs',
      'load json',
      "attach '/tmp/y.db' as y",
      "attach ':memory:' as y",
      "set memory_limit='10GB'",
      'set enable_external_access=true',
      'reset lock_configuration',
      'pragma memory_limit="1GB"',
      `create table t as select * from ${body}`,
      `insert into ${body} values (1)`,
      `drop view ${body}`,
      "export database '/tmp/x'",
      'checkpoint',
      '',
    ]) {
      const error = await failure(sql)
      expect([sql, error?.code, error?.message.includes('secret\n')]).toEqual([
        sql,
        'invalid_arguments',
        false,
      ])
    }
  })

  it('lists the named tables of a query if one is unknown', async () => {
    const query = { sql: 'select * from towns', tables: { t: refs.cities ?? '' } }
    const error = await assets.query(query).catch((reason: Error) => reason)
    expect(Object(error).message).toMatch(/towns.*The tables of this query are "t"\.$/s)
    const { message } = await failure('select * from tables')
    expect(message).toMatch(/tables does not exist!\s+LINE 1/)
  })

  it('reports an option that is passed with the SQL', async () => {
    const query = { sql: 'select 1', rows: 10 }
    await expect(assets.query(query)).rejects.toThrow(
      '"rows" belongs to the second argument: assets.query({ sql }, { rows })',
    )
  })

  it('reports errors in a query', async () => {
    expect((await failure(`select nam from "${refs.cities}"`)).message).toMatch(/nam.*name/s)
    expect((await failure('selec 1')).message).toMatch(/syntax error/)
    const pivot = `pivot "${refs.cities}" on land using count(*)`
    expect((await failure(pivot)).message).toMatch(/PIVOT needs its values.* in \('a', 'b'\)/)
    expect((await failure('-- select 1')).message).toMatch(/no statement; write one SELECT/)
    expect((await failure(`select * from ${refs.cities}`)).message).toMatch(/in double quotes/)
    const { ref } = await assets.save(new Blob(['no table']), 'text/plain')
    expect((await failure(`select * from "${ref}"`)).message).toMatch(
      /is text.plain and not a table/,
    )
  })

  it.each(['drop table x', 'insert into x values (1)', 'pragma database_list', 'explain select 1'])(
    'rejects %s, which is no SELECT',
    async (sql) => {
      expect((await failure(sql)).message).toMatch(/Only SELECT is allowed/)
    },
  )

  it('stops endless queries, and queries whose signal aborts', async () => {
    const endless =
      'select count(*) from range(10000000) a, range(10000000) b where a.range * b.range % 7 = 3'
    expect((await failure(endless, { timeoutMs: 300 })).code).toBe('tool_timeout')
    const stop = new AbortController()
    setTimeout(() => stop.abort(new Error('enough')), 200)
    expect((await failure(endless, { signal: stop.signal })).message).toBe('enough')
    const deep =
      'with recursive t(n) as (select 1 union all select n + 1 from t) select sum(n) from t'
    expect((await failure(deep, { timeoutMs: 300 })).code).toMatch(/tool_timeout|invalid_arguments/)
  })

  it('reports a text that does not fit into memory', async () => {
    expect(await failure("select repeat('x', 40_000_000) as x")).toMatchObject({
      code: 'result_too_large',
    })
    expect(await failure("select error('Failed to allocate memory')")).toMatchObject({
      code: 'invalid_arguments',
    })
  })

  it('limits rows, characters and memory', async () => {
    expect((await failure('select * from range(10000000)')).message).toMatch(
      /more than 100,000 rows: aggregate/,
    )
    expect((await ask('select * from range(1000)', { rows: 1000 })).length).toBe(1000)
    expect((await ask('select * from range(1000)', { rows: Infinity })).length).toBe(1000)
    const long = "select repeat('x', 10000000) as x from range(100)"
    expect((await failure(long)).code).toMatch(/result_too_large|invalid_arguments/)
    const hungry = 'select list(range) as l from range(200000000) group by range % 2'
    expect((await failure(hungry, { timeoutMs: 8_000 })).code).toMatch(/too_large|tool_timeout/)
  })

  it('finds no table of another namespace, and no deleted one', async () => {
    const walled = createAssets({ config: { namespacing: { mode: 'context' } } })
    const theirs = await importCsv('x.csv', 'a\n1\n', walled.scoped({ namespace: 'b' }))
    const mine = walled.scoped({ namespace: 'a' })
    await expect(ask(`select * from "${theirs}"`, {}, mine)).rejects.toMatchObject({
      code: 'asset_not_found',
    })
    const own = await walled.query({ sql: `select * from "${theirs}"` }, { namespace: 'b' })
    expect(own).toMatchObject({ namespace: 'b', table: { rows: 1 } })
    const gone = await importCsv('gone.csv', 'a\n1\n')
    const running = ask(`select count(*) as n from "${gone}", range(100000000)`)
    await new Promise((go) => setTimeout(go, 100))
    await assets.delete(gone)
    expect(await running.catch(({ code }) => code)).toSatisfy(
      (result) => result === 'asset_not_found' || JSON.stringify(result) === '[{"n":100000000}]',
    )
    expect((await failure(`select * from "${gone}"`)).code).toBe('asset_not_found')
  })

  it('queries lists of rows in JSON, by their field or as the only list', async () => {
    const rows = [
      { city: 'Oslo', n: 2 },
      { city: 'Lima', n: 3, note: 'wet' },
      { city: 'Oslo', n: 5 },
    ]
    const saved = async (content: object) =>
      (await assets.saveAsset({ content_type: 'application/json', content })).ref
    const only = await saved({ at: 'today', rows })
    const file = await assets.save(
      Buffer.from(JSON.stringify({ data: { rows } })),
      'application/json',
    )
    for (const name of [only, `${only}/content/rows`, `${file.ref}/content/data/rows`]) {
      const sql = `select city, sum(n)::int as n from "${name}" group by 1 order by 2 desc`
      expect(await ask(sql)).toEqual([
        { city: 'Oslo', n: 7 },
        { city: 'Lima', n: 3 },
      ])
    }
    const both = `select count(*)::int as n from "${only}" a join "${refs.cities}" b on a.city = b.name`
    expect(await ask(both)).toEqual([{ n: 2 }])
  })

  it('keeps the digits of long whole numbers in a file of JSON', async () => {
    const ids = ['1234567890123456300', '1234567890123456789', '7']
    const text = `[${ids.map((id) => `{"id":${id}}`).join(',')}]`
    const { table } = await assets.importFile(Buffer.from(text), { name: 'ids.json' })
    const found = await ask(`select id::text as id from "${table?.ref}"`)
    expect(found).toEqual(ids.map((id) => ({ id })))
  })

  it('reports JSON without a list of rows, or with several', async () => {
    const saved = async (content: object) =>
      (await assets.saveAsset({ content_type: 'application/json', content })).ref
    const two = await saved({ a: [{ x: 1 }], b: [{ x: 2 }] })
    expect((await failure(`select * from "${two}"`)).message).toContain(
      `${two}/content/a, ${two}/content/b`,
    )
    for (const content of [{ a: 1 }, { a: [] }, { a: [1, 2] }, { a: [{ x: 1 }, 2] }]) {
      const ref = await saved(content)
      const { code, message } = await failure(`select * from "${ref}"`)
      expect({ code, message }).toMatchObject({ code: 'invalid_arguments' })
      expect(message).toContain('not a table')
    }
  })

  it.each(['', ' '])(
    'is described by the first characters of a long statement%s',
    async (space) => {
      const { description } = await assets.query({
        sql: `${space}select '${'😀'.repeat(300)}' as x`,
      })
      expect(description?.isWellFormed()).toBe(true)
    },
  )

  it('accepts a table without rows', async () => {
    const none = await importCsv('none.csv', 'a,b\n')
    expect(await ask(`select count(*) as n from "${none}"`)).toEqual([{ n: 0 }])
    const { ref, table } = await assets.query({ sql: `select * from "${none}"` })
    expect(table?.rows).toBe(0)
    expect(await assets.resolve(`${ref}/content/rows`)).toEqual([])
  })
})

describe('queryTablesTool', () => {
  it('shows the first rows, and the reference of all', async () => {
    const sql = 'select range as n from range(1000)'
    const shown = (await queryTablesTool.execute({ sql }, { assets })) as Record<string, unknown>
    expect(shown).toMatchObject({ rowCount: 1000, more: 980 })
    expect(shown.firstRows).toHaveLength(20)
    expect(await assets.resolve(`${shown.assetRef}/content/rows/999`)).toEqual({ n: 999 })
  })

  it('reports missing and invalid arguments', async () => {
    await expect(queryTablesTool.execute({}, { assets })).rejects.toThrow('sql is missing')
    await expect(
      queryTablesTool.execute({ sql: 'select 1', tables: 'x' }, { assets }),
    ).rejects.toThrow('tables must map names to references')
  })
})

describe('a file that was saved and not imported', () => {
  it('is imported once, even by another process and by several queries at once', async () => {
    const store = createMemoryAssetStore()
    const [one, other] = [createAssets({ store }), createAssets({ store })]
    const { ref } = await one.save(new Blob(['n\n1\n2\n']), 'text/csv', { name: 'n.csv' })
    const sql = `select sum(n) as n from "${ref}"`
    for (const from of [one, other]) {
      expect(await Promise.all([ask(sql, {}, from), ask(sql, {}, from)])).toEqual([
        [{ n: 3 }],
        [{ n: 3 }],
      ])
    }
    const made = (await one.list()).assets.filter(({ table }) => table?.source === ref)
    expect(made.map(({ name }) => name)).toEqual(['n.csv'])
  })

  it('is imported by each of several queries at once, whatever their number', async () => {
    const assets = createAssets()
    const answers = [1, 2, 3].map(async (n) => {
      const { ref } = await assets.save(workbook({ A: sheetRows([['n'], [n]]) }), null, {
        name: 'x.xlsx',
      })
      return ask(`select n from "${ref}"`, { timeoutMs: 10_000 }, assets)
    })
    expect(await Promise.all(answers)).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
  })

  it('expires with its file', async () => {
    const assets = createAssets()
    const expiresAt = new Date(Date.now() + 3_600_000)
    const { ref } = await assets.save(Buffer.from('a\n1\n'), 'text/csv', { expiresAt })
    await assets.query({ sql: `select * from "${ref}"` })
    const table = await assets.info(`${ref}-table`)
    expect(table.expiresAt).toBe(expiresAt.toISOString())
  })

  it('reports the names of the sheets of a workbook', async () => {
    const own = createAssets()
    const rows = sheetRows([['n'], [1], [2]])
    const file = workbook({ Empty: sheetRows([]), 'First one': rows, Second: rows })
    const { ref, assetId } = await own.save(file, null, { name: 'x.xlsx' })
    const named = `"First one" is ${ref}-2, "Second" is ${ref}-3.`
    for (const asked of [ref, ref, `${ref}-workbook`]) {
      const sql = `select * from "${asked}"`
      await expect(ask(sql, {}, own)).rejects.toMatchObject({
        code: 'invalid_arguments',
        message: expect.stringContaining(named),
      })
    }
    expect(await ask(`select sum(n) as n from "${ref}-3"`, {}, own)).toEqual([{ n: 3 }])
    expect(await own.info(`${assetId}-3`)).toMatchObject({
      name: 'x.xlsx/Second',
      table: { rows: 2, source: ref },
    })
    expect(await own.resolve(`${ref}-workbook/content`)).toEqual({
      sheets: { 'First one': 2, Second: 3 },
      source: ref,
    })
    const content = { sheets: { A: 1 } }
    const other = await own.saveAsset({ content_type: 'application/json', content })
    await expect(ask(`select * from "${other.ref}"`, {}, own)).rejects.toThrow('not a table')
  })

  it('has rows', async () => {
    const own = createAssets()
    const read = async (ref: string) => {
      const found = []
      for await (const row of await own.rows(ref)) found.push(row)
      return found
    }
    const { ref } = await own.save(new Blob(['n\n1\n2\n']), 'text/csv', { name: 'n.csv' })
    for (const one of [ref, ref, `${ref}/content/rows`])
      expect(await read(one)).toEqual([{ n: 1 }, { n: 2 }])
    const rows = sheetRows([['n'], [1]])
    const book = await own.save(workbook({ First: rows, Second: rows }), null, { name: 'x.xlsx' })
    await expect(read(book.ref)).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: `${book.ref} is a workbook; name one of its sheets: "First" is ${book.ref}-1, "Second" is ${book.ref}-2`,
    })
    expect(await read(`${book.ref}-2`)).toEqual([{ n: 1 }])
    await expect(read(`${book.ref}-workbook`)).rejects.toThrow(
      `is a workbook; name one of its sheets: "First" is ${book.ref}-1`,
    )
    const content = [{ n: 3 }]
    const list = await own.saveAsset({
      asset_id: 'my-workbook',
      content_type: 'application/json',
      content,
    })
    expect(await read(list.ref)).toEqual(content)
    const { ref: text } = await own.save(new Blob(['n']), 'text/plain')
    await expect(read(text)).rejects.toThrow('neither a table nor a list of objects')
  })

  it('with one sheet is its table', async () => {
    const own = createAssets()
    const file = workbook({ Only: sheetRows([['n'], [4]]), Empty: sheetRows([]) })
    const { table, workbook: none } = await own.importFile(file, { name: 'x.xlsx' })
    expect([table?.name, none]).toEqual(['x.xlsx', null])
    const { ref } = await own.save(file, null, { name: 'x.xlsx' })
    expect(await ask(`select n from "${ref}"`, {}, own)).toEqual([{ n: 4 }])
  })
})
