import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import type { JsonSchema } from './describe-schema.ts'
import type { Codec } from './describe-tool.ts'
import { resolveAssets } from './resolve-assets.ts'
import { defineTool, type Tool } from './tool.ts'

const assets = createAssets()

const text = await assets.save(new TextEncoder().encode('{"a": [1, 2]}'), 'text/plain')
const bytes = await assets.save(new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 255]), 'image/png')
const table = await assets.saveAsset({
  content_type: 'application/json',
  content: { rows: [{ x: 1 }] },
})

/** A tool with one parameter `p` of this schema. */
function toolOf(schema: JsonSchema): Tool {
  const inputSchema = { type: 'object', properties: { p: schema } }
  const tool = { id: 't', description: '', inputSchema, execute: () => null }
  return defineTool(tool) as Tool
}

/** The input of the tool if a parameter with this schema is `p`. */
const given = async (p: unknown, schema: JsonSchema, codec?: Codec): Promise<unknown> =>
  (await resolveAssets(toolOf(schema), { p }, () => assets, codec)).args.p

const accepting = (schema: JsonSchema): JsonSchema => ({ ...schema, asset_ref_acceptable: true })

const nested = (levels: number): unknown =>
  JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`)

describe('resolveAssets', () => {
  it('resolves references only in accepting parameters', async () => {
    const rows = `${table.ref}/content/rows`
    expect(await given(rows, accepting({ type: 'array' }))).toEqual([{ x: 1 }])
    const object = { asset_id: table.assetId, field_path: ['content', 'rows', 0, 'x'] }
    expect(await given(object, accepting({ type: 'number' }))).toBe(1)
    const both = {
      type: 'object',
      properties: { a: accepting({ type: 'array' }), b: { type: 'string' } },
    }
    expect(await given({ a: rows, b: rows }, both)).toEqual({ a: [{ x: 1 }], b: rows })
  })

  it('takes references as text in every typed place of a tool that declares none', async () => {
    const rows = `${table.ref}/content/rows`
    expect(await given(rows, { type: 'string' })).toBe('[{"x":1}]')
    expect(await given(rows, { type: 'array' })).toEqual([{ x: 1 }])
    expect(await given(rows, { type: ['number', 'array'] })).toEqual([{ x: 1 }])
    const { base64 } = await assets.getBase64(bytes.ref)
    expect(await given(bytes.ref, { type: 'string' })).toBe(base64)
    const described = { type: 'string', description: 'The picture, as a data URL' }
    expect(await given(bytes.ref, described)).toBe(`data:image/png;base64,${base64}`)
  })

  it('leaves references in data, and in tools that read references themselves', async () => {
    const object = { asset_id: table.assetId, field_path: ['content', 'rows', 0, 'x'] }
    expect(await given(object, { type: 'object' })).toEqual(object)
    for (const schema of [{}, { enum: [table.ref, 'b'] }]) {
      expect(await given(table.ref, schema)).toBe(table.ref)
    }
    const tool: Tool = { ...toolOf({ type: 'string' }), references: 'declared' }
    const { args } = await resolveAssets(tool, { p: bytes.ref }, () => assets)
    expect(args.p).toBe(bytes.ref)
  })

  it('accepts the description of a body in a result as its reference', async () => {
    const body = { assetRef: bytes.ref, mimeType: 'image/png', kind: 'image' }
    const base64 = accepting({ type: 'string', contentEncoding: 'base64' })
    expect(await given(body, base64)).toBe((await assets.getBase64(bytes.ref)).base64)
    expect(await given(body, { type: 'object' })).toEqual(body)
    const forbidden = { type: 'object', asset_ref_acceptable: false }
    expect(await given(body, forbidden)).toEqual(body)
  })

  it('gives the file that a field of an asset holds', async () => {
    const file = { assetRef: bytes.ref, mimeType: 'image/png', kind: 'image' }
    const content = { rows: [], image: file, text: { ...file, assetRef: text.ref } }
    const { ref } = await assets.saveAsset({ content_type: 'application/json', content })
    const { base64 } = await assets.getBase64(bytes.ref)
    const image = `${ref}/content/image`
    expect(await given(image, { type: 'string' })).toBe(base64)
    expect(await given(image, { type: 'string', format: 'uri' })).toBe(
      `data:image/png;base64,${base64}`,
    )
    expect(await given(`${ref}/content/text`, accepting({ type: 'string' }))).toBe('{"a": [1, 2]}')
    expect(await given(image, accepting({ asset_ref_as: 'bytes' }))).toEqual(
      new Uint8Array(Buffer.from(base64, 'base64')),
    )
    expect(await given(image, { type: 'object' })).toEqual(file)
    expect(await given(image, accepting({}))).toEqual(file)
    await expect(given(image, accepting({ type: 'string' }))).rejects.toThrow(
      `${bytes.ref} is image/png, 9 bytes and cannot be converted to text`,
    )
  })

  it('finds the parameters inside lists and objects', async () => {
    const n = accepting({ type: 'number' })
    const ref = `${table.ref}/content/rows/0/x`
    const listed = { type: 'array', items: { type: 'object', properties: { n } } }
    expect(await given([{ n: ref, m: ref }], listed)).toEqual([{ n: 1, m: ref }])
    expect(await given({ any: ref }, { type: 'object', additionalProperties: n })).toEqual({
      any: 1,
    })
  })

  it('returns the arguments unchanged if nothing accepts references', async () => {
    const args = { p: { deep: [table.ref] } }
    const open = (): never => {
      throw new Error('no assets are needed')
    }
    expect((await resolveAssets(toolOf({ type: 'object' }), args, open)).args).toBe(args)
  })

  it('leaves variables, and texts that are not references', async () => {
    expect(await given('†state.n', accepting({ type: 'string' }))).toBe('†state.n')
    expect(await given('plain', accepting({ type: 'string' }))).toBe('plain')
  })

  it('converts values to the type that the schema requires', async () => {
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

  it('gives a whole number to a parameter that takes text or an integer', async () => {
    const number = `${table.ref}/content/rows/0/x`
    const types = [{ type: 'string' }, { type: 'integer' }]
    expect(await given(number, { anyOf: types })).toBe(1)
    expect(await given(number, accepting({ type: ['string', 'integer'] }))).toBe(1)
    expect(await given(number, { type: 'string' })).toBe('1')
  })

  it('returns the reference itself if the schema requires it', async () => {
    const ref = accepting({ type: 'string', asset_ref_as: 'ref' })
    expect(await given(bytes.ref, ref)).toBe(bytes.ref)
    expect(await given({ asset_id: bytes.assetId }, ref)).toBe(bytes.ref)
  })

  it('passes the file of a result as base64 if a tool accepts only text', async () => {
    const { base64 } = await assets.getBase64(bytes.ref)
    const file = { assetRef: bytes.ref, mimeType: 'image/png', kind: 'image' }
    expect(await given(file, { type: 'string' })).toBe(base64)
    expect(await given(file, { type: 'string', format: 'uri' })).toBe(
      `data:image/png;base64,${base64}`,
    )
    expect(await given({ deep: [file] }, { type: 'object' })).toEqual({ deep: [file] })
    expect(await given(file, { type: ['string', 'object'] })).toEqual(file)
    expect(await given(file, {})).toEqual(file)
  })

  it('passes files as base64 or a data URL to tools that do not know references', async () => {
    const { base64 } = await assets.getBase64(bytes.ref)
    const url = `data:image/png;base64,${base64}`
    expect(await given(bytes.ref, { type: 'string' })).toBe(base64)
    expect(await given(bytes.ref, { type: 'string', format: 'uri' })).toBe(url)
    const described = { type: 'string', description: 'The picture, as a data URL' }
    expect(await given(bytes.ref, described)).toBe(url)
    expect(await given(text.ref, { type: 'string' })).toBe('{"a": [1, 2]}')
    expect(await given(text.ref, { type: 'object' })).toEqual({ a: [1, 2] })
    const encoded = { type: 'string', description: 'The Base64-encoded content' }
    const note = await assets.save(Buffer.from('a note'), 'text/markdown')
    for (const [ref, content] of [
      [text.ref, '{"a": [1, 2]}'],
      [note.ref, 'a note'],
      [`${note.ref}/content`, 'a note'],
    ] as const) {
      expect(await given(ref, encoded)).toBe(Buffer.from(content).toString('base64'))
    }
    expect(await given(note.ref, described)).toBe('data:text/markdown;base64,YSBub3Rl')
    expect(await given(note.ref, { ...encoded, asset_ref_acceptable: true })).toBe('a note')
    await expect(given(bytes.ref, accepting({ type: 'string' }))).rejects.toThrow(
      `${bytes.ref} is image/png, 9 bytes and cannot be converted to text. Pass it to a parameter that accepts files.`,
    )
  })

  it('passes a file as text or base64 by its type, or else by its bytes', async () => {
    const words = Buffer.from('words, \t\u001b[1m\r\n')
    const control = Buffer.from([1, 2, 3, 65])
    const passed = async (bytes: Uint8Array, mime: string) => {
      const { ref } = await assets.save(bytes, mime)
      const value = await given(ref, { type: 'string' })
      if (value === Buffer.from(bytes).toString('base64')) return 'base64'
      return value === Buffer.from(bytes).toString() ? 'text' : value
    }
    const binary = ['image/png', 'audio/wav', 'application/zip', 'application/x-protobuf']
    for (const mime of binary) expect([mime, await passed(words, mime)]).toEqual([mime, 'base64'])
    const texts = ['application/yaml', 'application/x-sh', 'application/javascript', 'model/obj']
    for (const mime of [...texts, 'application/octet-stream', 'text/x-log']) {
      expect([mime, await passed(words, mime)]).toEqual([mime, 'text'])
    }
    for (const mime of ['application/octet-stream', 'application/yaml']) {
      expect([mime, await passed(control, mime)]).toEqual([mime, 'base64'])
    }
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
    expect(await passed(svg, 'image/svg+xml')).toBe('text')
    const { ref } = await assets.save(words, 'image/png')
    await expect(given(ref, accepting({ type: 'string' }))).rejects.toThrow(
      'image/png, 14 bytes and cannot be converted to text',
    )
  })

  it('gives the rows of a table to a parameter that takes a list', async () => {
    const csv = new Blob(['city,km\nOslo,1\nBergen,2\n'], { type: 'text/csv' })
    const { table, asset } = await assets.importFile(csv, { name: 'trips.csv' })
    const saved = await assets.save(csv, 'text/csv')
    const untyped = await assets.save(csv, 'text/plain')
    const rows = [
      { city: 'Oslo', km: 1 },
      { city: 'Bergen', km: 2 },
    ]
    for (const ref of [table?.ref, `${table?.ref}/content`, asset.ref, saved.ref, untyped.ref]) {
      for (const schema of [{ type: 'array' }, accepting({ type: ['array', 'null'] })]) {
        expect(await given(ref, schema)).toEqual(rows)
      }
    }
    expect(await given(table?.ref, { type: ['array', 'object'] })).toMatchObject({ rows })
    const text = await given(table?.ref, accepting({ type: 'string' }))
    expect(text).toContain('Oslo')
    expect(await given(`${table?.ref}/content`, accepting({ type: 'string' }))).toBe(text)
    const prose = await assets.save(Buffer.from('Dear Anna,\nsee you.\n'), 'text/plain')
    await expect(given(prose.ref, { type: 'array' })).rejects.toThrow('text that is not JSON')
    await expect(given(bytes.ref, { type: 'array' })).rejects.toThrow(
      'cannot be converted to array',
    )
  })

  it('gives the asset of an object that names one to a parameter that takes only assets', async () => {
    const { table } = await assets.importFile(new Blob(['n\n1\n2\n']), { name: 'n.csv' })
    const result = { assetRef: table?.ref, rowCount: 2, rows: [{ n: 1 }] }
    const rows = accepting({ asset_ref_as: 'rows' })
    expect(await given(result, rows)).toMatchObject({ count: 2, columns: [{ name: 'n' }] })
    expect(await given(result, accepting({ type: 'string', asset_ref_as: 'ref' }))).toBe(table?.ref)
    expect(await given(result, { anyOf: [rows, { type: 'object' }] })).toBe(result)
    for (const value of [{ n: 1 }, { assetRef: 'no reference' }]) {
      await expect(given(value, rows)).rejects.toMatchObject({
        code: 'invalid_arguments',
        message: expect.stringMatching(/^\/p takes a reference to an asset, such as asset:\/\/id/),
      })
    }
  })

  it('gives the asset that an object names to a parameter that takes text or a list', async () => {
    const { base64 } = await assets.getBase64(bytes.ref)
    const photos = {
      type: 'array',
      items: { type: 'object', properties: { data: { type: 'string' } } },
    }
    const named = { assetRef: bytes.ref }
    expect(await given([{ data: named }], photos)).toEqual([{ data: base64 }])
    expect(await given(named, { type: 'object' })).toBe(named)
    expect(await given(named, { type: ['string', 'object'] })).toBe(named)
    expect(await given(named, {})).toBe(named)
    await expect(given(named, accepting({ type: 'string' }))).rejects.toThrow(
      'cannot be converted to text',
    )
    const saved = await assets.save(new Blob(['n\n1\n2\n'], { type: 'text/csv' }))
    const { table } = await assets.importFile(new Blob(['n\n1\n2\n']), { name: 'n.csv' })
    const rows = [{ n: 1 }, { n: 2 }]
    const list = { type: 'array', items: { type: 'object' } }
    const marked = accepting({ type: 'array' })
    const other = { type: 'object', properties: { p: list, q: accepting({ type: 'string' }) } }
    for (const value of [
      { assetRef: saved.ref, mimeType: 'text/csv', kind: 'file' },
      { assetRef: table?.ref, rowCount: 2, columns: [], rows: [{ n: 1 }] },
    ]) {
      expect(await given(value, list)).toEqual(rows)
      expect(await given(value, marked)).toEqual(rows)
      expect(await given({ p: value }, other)).toEqual({ p: rows })
      expect(await given(value, { type: 'string' })).toBe('n\n1\n2\n')
    }
    await expect(given(named, list)).rejects.toThrow('cannot be converted to array')
  })

  it('limits the values of one call together, because many references can name one file', async () => {
    const small = createAssets({ config: { limits: { valueBytes: 1_000 } } })
    const { ref } = await small.save(Buffer.from('x'.repeat(400)), 'text/plain')
    const tool = toolOf({ type: 'array', items: { type: 'string' } })
    const read = (count: number) => resolveAssets(tool, { p: Array(count).fill(ref) }, () => small)
    expect((await read(2)).args.p).toEqual(['x'.repeat(400), 'x'.repeat(400)])
    await expect(read(3)).rejects.toMatchObject({ code: 'asset_too_large' })
  })

  it('reports values of the wrong type', async () => {
    await expect(given(bytes.ref, accepting({ type: 'object' }))).rejects.toThrow(
      /image\/png, 9 bytes and cannot be converted to object/,
    )
    await expect(given('asset://none', accepting({}))).rejects.toMatchObject({
      code: 'asset_not_found',
    })
    const deep = [nested(300), bytes.ref]
    await expect(given(deep, accepting({}))).rejects.toThrow('deeper than 200')
  })

  it('keeps keys such as __proto__ as plain data', async () => {
    const value = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 1}')
    expect(JSON.stringify(await given(value, accepting({})))).toBe(JSON.stringify(value))
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
