import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/assets.ts'
import { createBoard } from '../content/board.ts'
import { resolveArguments } from './resolve-arguments.ts'
import { defineTool, type JsonSchema } from './tool.ts'

const assets = createAssets()
const board = createBoard([
  { type: 'state', state: { n: 7, list: [1, 2], nested: { deep: true }, dagger: '†state.n' } },
])
const read = (variable: string): unknown => board.read(variable)

const text = await assets.save(new TextEncoder().encode('{"a": [1, 2]}'), 'text/plain')
const bytes = await assets.save(new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 255]), 'image/png')
const table = await assets.saveAsset({
  content_type: 'application/json',
  content: { rows: [{ x: 1 }] },
})

/** What a tool with one parameter `p` of this schema is given for `value`. */
async function given(value: unknown, schema: JsonSchema, variables = true): Promise<unknown> {
  const inputSchema = { type: 'object', properties: { p: schema } }
  const tool = defineTool({ id: 't', description: '', inputSchema, variables, execute: () => null })
  return (await resolveArguments(tool, { p: value }, { assets, read })).p
}

const accepting = (schema: JsonSchema): JsonSchema => ({ ...schema, asset_ref_acceptable: true })

describe('resolveArguments', () => {
  it('puts the typed value in the place of a variable, at any depth', async () => {
    expect(await given('†state.n', { type: 'number' })).toBe(7)
    expect(await given([{ a: '†state.nested' }, 'plain'], {})).toEqual([
      { a: { deep: true } },
      'plain',
    ])
    expect(await given(' †state.none || †state.list[1] ', {})).toBe(2)
  })

  it('leaves text that is none, and takes the backslash off a literal dagger', async () => {
    for (const value of ['† 1540', '†1540', 'see †state.n', '']) {
      expect(await given(value, { type: 'string' })).toBe(value)
    }
    expect(await given('\\†state.n', { type: 'string' })).toBe('†state.n')
  })

  it('never scans what a reference gave', async () => {
    expect(await given('†state.dagger', { type: 'string' })).toBe('†state.n')
  })

  it('leaves variables alone where the tool forbids them', async () => {
    expect(await given('†state.n', { type: 'string' }, false)).toBe('†state.n')
  })

  it('resolves asset references only in accepting parameters', async () => {
    const rows = `${table.ref}/content/rows`
    expect(await given(rows, accepting({ type: 'array' }))).toEqual([{ x: 1 }])
    const object = { asset_id: table.assetId, field_path: ['content', 'rows', 0, 'x'] }
    expect(await given(object, accepting({ type: 'number' }))).toBe(1)
    expect(await given(rows, { type: 'string' })).toBe(rows)
    expect(await given(object, { type: 'object' })).toEqual(object)
  })

  it('resolves the reference that a variable gives', async () => {
    const own = createBoard([{ type: 'state', state: { file: table.ref } }])
    const inputSchema = { type: 'object', properties: { p: accepting({ type: 'object' }) } }
    const tool = defineTool({ id: 't', description: '', inputSchema, execute: () => null })
    const sources = { assets, read: (variable: string) => own.read(variable) }
    expect(await resolveArguments(tool, { p: '†state.file' }, sources)).toEqual({
      p: { rows: [{ x: 1 }] },
    })
  })

  it('converts what it resolves to what the schema asks for', async () => {
    const raw = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 255])
    expect(await given(text.ref, accepting({ type: 'string' }))).toBe('{"a": [1, 2]}')
    expect(await given(text.ref, accepting({ asset_ref_as: 'bytes' }))).toEqual(
      new TextEncoder().encode('{"a": [1, 2]}'),
    )
    expect(await given(bytes.ref, accepting({ type: 'string', contentEncoding: 'base64' }))).toBe(
      raw.toString('base64'),
    )
    expect(await given(bytes.ref, accepting({ type: 'string', format: 'data-url' }))).toBe(
      `data:image/png;base64,${raw.toString('base64')}`,
    )
    const blob = (await given(bytes.ref, accepting({ asset_ref_as: 'blob' }))) as Blob
    expect([blob.type, blob.size]).toEqual(['image/png', 9])
    const stream = (await given(bytes.ref, accepting({ asset_ref_as: 'stream' }))) as ReadableStream
    expect(new Uint8Array(await new Response(stream).arrayBuffer())).toEqual(new Uint8Array(raw))
  })

  it('says what does not fit', async () => {
    await expect(given(bytes.ref, accepting({ type: 'object' }))).rejects.toThrow(
      /image\/png, 9 bytes, and cannot be passed as object/,
    )
    await expect(given('asset://none', accepting({}))).rejects.toMatchObject({
      code: 'asset_not_found',
    })
    await expect(given('†state.m', {})).rejects.toMatchObject({ code: 'variable_not_found' })
    const deep = JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`)
    await expect(given(deep, {})).rejects.toThrow('deeper than 200')
  })

  it('keeps keys such as __proto__ as plain data', async () => {
    const value = JSON.parse('{"__proto__": {"polluted": "†state.n"}, "constructor": 1}')
    const result = (await given(value, {})) as object
    expect(Object.keys(result)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
