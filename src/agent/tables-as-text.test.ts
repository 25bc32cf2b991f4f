import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { defineTool } from '../boundary/tool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

const ROWS = [
  { id: 1, name: 'Ann "A", B', at: '2026-01-02', sum: 1.5, tags: ['x', 'y'], ok: true },
  { id: 2, name: ' padded ', at: '2026-02-03', sum: null, tags: [], ok: false },
  { id: 3, name: 'two\nlines', at: '2026-03-04', sum: 9007199254740993n, tags: null, ok: null },
]
const json = JSON.stringify(ROWS, (_, value) => (typeof value === 'bigint' ? 'BIG' : value))
const TABLE = json.replace('"BIG"', '9007199254740993')
const CSV = `id,name,at,sum,tags,ok
1,"Ann ""A"", B",2026-01-02,1.5,"[""x"",""y""]",true
2," padded ",2026-02-03,,[],false
3,"two
lines",2026-03-04,9007199254740993,,
`

async function taken(
  properties: Record<string, object>,
  text?: (ref: string) => string,
  content = TABLE,
) {
  const assets = createAssets()
  const { table } = await assets.importFile(Buffer.from(content), { name: 'people.json' })
  const ref = table?.ref ?? ''
  let given: unknown
  const take = defineTool({
    id: 'take',
    description: 'Takes a text',
    inputSchema: { type: 'object', properties },
    execute(input) {
      given = input.text
    },
  })
  const call = { name: 'take', arguments: { text: text?.(ref) ?? ref } }
  const model = scriptedModel([{ calls: [call] }, 'Done.'])
  await createAgent({ model, assets, tools: [take] }).run({ messages: 'Go' }).result
  return { given, ref, assets }
}

describe('a table', () => {
  it.each([
    ['a text parameter', { text: { type: 'string' } }],
    ['a marked text parameter', { text: { type: 'string', asset_ref_acceptable: true } }],
  ])('is CSV in %s', async (_, properties) => {
    expect((await taken(properties)).given).toBe(CSV)
  })

  it('is CSV inside a longer text', async () => {
    const { given } = await taken({ text: { type: 'string' } }, (ref) => `Rows:\n<|${ref}|>End`)
    expect(given).toBe(`Rows:\n${CSV}End`)
  })

  it('has a line for an empty row of one column that readers do not skip', async () => {
    const content = '[{"n":1},{"n":null},{"n":2}]'
    const { given } = await taken({ text: { type: 'string' } }, undefined, content)
    expect(given).toBe('n\n1\n""\n2\n')
  })

  it('has quotes around other separators, so that readers do not split cells at them', async () => {
    const content = '[{"a;b":"x|y"}]'
    const { given } = await taken({ text: { type: 'string' } }, undefined, content)
    expect(given).toBe('"a;b"\n"x|y"\n')
  })

  it('stays a file in a parameter for base64', async () => {
    const { given } = await taken({ text: { type: 'string', description: 'A file as base64' } })
    expect(Buffer.from(String(given), 'base64').subarray(0, 4).toString()).toBe('PAR1')
  })

  it('has the same rows when its CSV is imported', async () => {
    const { given, ref, assets } = await taken({ text: { type: 'string' } })
    const { table } = await assets.importFile(Buffer.from(String(given)), { name: 'again.csv' })
    const [first, second] = await Promise.all(
      [ref, table?.ref ?? ''].map(async (one) => {
        const rows: unknown[] = []
        const part = { columns: ['id', 'name', 'at', 'sum', 'ok'] }
        for await (const row of (await assets.rows(one)).select(part)) rows.push(row)
        return rows
      }),
    )
    expect(first).toHaveLength(3)
    expect(second).toEqual(first)
  })
})
