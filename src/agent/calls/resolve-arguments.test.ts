import { describe, expect, it } from 'vitest'
import { createAssets } from '../../assets/assets.ts'
import { createBoard } from '../../content/board.ts'
import { defineTool, type JsonSchema, type Tool } from '../tools/tool.ts'
import { resolveAssets, resolveVariables } from './resolve-arguments.ts'

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

/** A tool with one parameter `p` of this schema. */
function toolOf(schema: JsonSchema, variables = true): Tool {
  const inputSchema = { type: 'object', properties: { p: schema } }
  const tool = { id: 't', description: '', inputSchema, variables, execute: () => null }
  return defineTool(tool) as Tool
}

const variable = (p: unknown, variables?: boolean): unknown =>
  resolveVariables(toolOf({}, variables), { p }, read).p

/** What the tool is given where a parameter of this schema is `p`. */
const given = async (p: unknown, schema: JsonSchema): Promise<unknown> =>
  (await resolveAssets(toolOf(schema), { p }, () => assets)).p

const accepting = (schema: JsonSchema): JsonSchema => ({ ...schema, asset_ref_acceptable: true })

const nested = (levels: number): unknown =>
  JSON.parse(`${'['.repeat(levels)}"†state.n"${']'.repeat(levels)}`)

describe('resolveVariables', () => {
  it('puts the typed value in the place of a variable, at any depth', () => {
    expect(variable('†state.n')).toBe(7)
    expect(variable([{ a: '†state.nested' }, 'plain', null, 1])).toEqual([
      { a: { deep: true } },
      ...['plain', null, 1],
    ])
    expect(variable(' †state.none || †state.list[1] ')).toBe(2)
  })

  it('leaves text that is none, and takes the backslash off a literal dagger', () => {
    for (const value of ['† 1540', '†1540', 'see †state.n', '']) {
      expect(variable(value)).toBe(value)
    }
    expect(variable('\\†state.n')).toBe('†state.n')
  })

  it('never scans what a variable gave', () => {
    expect(variable('†state.dagger')).toBe('†state.n')
  })

  it('leaves everything alone where the tool forbids variables', () => {
    const args = { p: ['†state.n', '\\†state.n'] }
    expect(resolveVariables(toolOf({}, false), args, read)).toBe(args)
  })

  it('says what there is not', () => {
    expect(() => variable(['†state.m'])).toThrow(
      expect.objectContaining({ code: 'variable_not_found' }),
    )
  })

  it('refuses arguments that are nested too deep', () => {
    expect(() => variable(nested(300))).toThrow('deeper than 200')
    expect(() => variable(nested(200_000))).toThrow('deeper than 200')
    expect(JSON.stringify(variable(nested(100)))).toContain('7')
  })

  it('keeps keys such as __proto__ as plain data', () => {
    const value = JSON.parse('{"__proto__": {"polluted": "†state.n"}, "constructor": 1}')
    const result = variable(value) as object
    expect(Object.keys(result)).toEqual(['__proto__', 'constructor'])
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":7},"constructor":1}')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('does not change what the model sent', () => {
    const args = { p: ['†state.n', { q: '†state.list' }] }
    const before = structuredClone(args)
    resolveVariables(toolOf({}), args, read)
    expect(args).toEqual(before)
  })
})

describe('resolveAssets', () => {
  it('resolves references only in accepting parameters', async () => {
    const rows = `${table.ref}/content/rows`
    expect(await given(rows, accepting({ type: 'array' }))).toEqual([{ x: 1 }])
    const object = { asset_id: table.assetId, field_path: ['content', 'rows', 0, 'x'] }
    expect(await given(object, accepting({ type: 'number' }))).toBe(1)
    expect(await given(rows, { type: 'string' })).toBe(rows)
    expect(await given(object, { type: 'object' })).toEqual(object)
  })

  it('finds the parameters below lists and objects', async () => {
    const n = accepting({ type: 'number' })
    const ref = `${table.ref}/content/rows/0/x`
    const listed = { type: 'array', items: { type: 'object', properties: { n } } }
    expect(await given([{ n: ref, m: ref }], listed)).toEqual([{ n: 1, m: ref }])
    expect(await given({ any: ref }, { type: 'object', additionalProperties: n })).toEqual({
      any: 1,
    })
  })

  it('gives the arguments as they are where nothing accepts references', async () => {
    const args = { p: { deep: [table.ref] } }
    const open = (): never => {
      throw new Error('no assets are needed')
    }
    expect(await resolveAssets(toolOf({ type: 'object' }), args, open)).toBe(args)
  })

  it('leaves variables, and what is no reference, as they are', async () => {
    expect(await given('†state.n', accepting({ type: 'string' }))).toBe('†state.n')
    expect(await given('plain', accepting({ type: 'string' }))).toBe('plain')
  })

  it('resolves the reference that a variable gave', async () => {
    const own = createBoard([{ type: 'state', state: { file: table.ref } }])
    const tool = toolOf(accepting({ type: 'object' }))
    const args = resolveVariables(tool, { p: '†state.file' }, (one) => own.read(one))
    expect(await resolveAssets(tool, args, () => assets)).toEqual({ p: { rows: [{ x: 1 }] } })
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
    await expect(given(nested(300), accepting({}))).rejects.toThrow('deeper than 200')
  })

  it('keeps keys such as __proto__ as plain data', async () => {
    const value = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 1}')
    expect(JSON.stringify(await given(value, accepting({})))).toBe(JSON.stringify(value))
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
