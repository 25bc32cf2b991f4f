import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../assets/create-assets.ts'
import { createBoard } from '../core/board/board.ts'
import { ByrefError } from '../core/errors.ts'
import type { Asset } from '../core/messages/asset-meta.ts'
import { createResults } from '../core/messages/results.ts'
import { createBoundary } from './boundary.ts'
import { defineTool, type Tool } from './tool.ts'
import { ConversationSource } from './value-source.ts'

const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 255])
const assets = createAssets()
const table = await assets.saveAsset({
  content_type: 'application/json',
  asset_name: 'table',
  content: { rows: [{ n: 1 }], n: 5 },
})
const picture = await assets.save(PNG, 'image/png', { name: 'p.png' })
const ref = `${table.ref}/content/rows`

const boundary = createBoundary({ assets })
const values = new ConversationSource(
  {
    board: createBoard([{ type: 'state', state: { rows: [{ n: 2 }], ref, picture: picture.ref } }]),
    results: createResults(),
    assets,
  },
  { id: 'c' },
)

type Inputs = Parameters<Tool['execute']>[0]

/** The input of `execute` for these arguments, through the whole path of a call. */
async function inputOf(inputSchema: Tool['inputSchema'], args: object): Promise<Inputs> {
  const tool = { id: 't', description: '', inputSchema, execute: () => null } as Tool
  const call = { tool, arguments: args as Record<string, unknown> }
  const resolved = await boundary.resolve(call, values)
  return boundary.withInput({ tool, arguments: resolved.arguments }, (input) => input)
}

const rows = z.array(z.object({ n: z.number() })).meta({ asset_ref_acceptable: true })
const named = z.object({ rows, note: z.string().optional() }).meta({ id: 'Named' })

interface Tree {
  rows: { n: number }[]
  kids: Tree[]
}

const tree: z.ZodType<Tree> = z.object({
  rows,
  get kids() {
    return z.array(tree)
  },
})

/** A schema that contains rows, and a value for it with rows in any form. */
const SHAPES: [string, z.ZodType, (rows: unknown) => unknown][] = [
  ['.nullable()', rows.nullable(), (r) => r],
  ['.nullable() that says it', rows.nullable().meta({ asset_ref_acceptable: true }), (r) => r],
  ['.optional()', z.object({ rows: rows.optional() }), (r) => ({ rows: r })],
  ['.default()', z.object({ rows: rows.default([]) }), (r) => ({ rows: r })],
  [
    '.meta({ id }) twice',
    z.object({ a: named, b: named }),
    (r) => ({ a: { rows: r }, b: { rows: r } }),
  ],
  ['recursion', tree, (r) => ({ rows: r, kids: [{ rows: r, kids: [{ rows: r, kids: [] }] }] })],
  ['a tuple', z.tuple([z.string(), rows]), (r) => [ref, r]],
  ['a tuple with a rest', z.tuple([z.string()], rows), (r) => [ref, r, r]],
  [
    'a union of objects',
    z.union([z.object({ url: z.string() }), z.object({ rows, by: z.string() })]),
    (r) => ({ rows: r, by: ref }),
  ],
  [
    'a discriminated union',
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('text'), rows: z.string() }),
      z.object({ kind: z.literal('table'), rows }),
    ]),
    (r) => ({ kind: 'table', rows: r }),
  ],
  ['a record', z.record(z.string(), rows), (r) => ({ a: r, b: r })],
  [
    'an intersection',
    z.intersection(z.object({ rows }), z.object({ a: z.number() })),
    (r) => ({ rows: r, a: 1 }),
  ],
]

describe.each(SHAPES)('withInput of %s', (_, shape, make) => {
  const schema = z.object({ p: z.array(shape) })
  const first = [{ n: 1 }]
  const second = [{ n: 2 }]

  it.each<[string, unknown[], unknown[]]>([
    ['a reference', [make(ref)], [make(first)]],
    ['a variable', [make('†state.rows')], [make(second)]],
    ['a variable that holds a reference', [make('†state.ref')], [make(first)]],
    [
      'a list of both',
      [make(ref), make('†state.rows'), make([])],
      [make(first), make(second), make([])],
    ],
    ['rows of both', [make([{ n: '†state.rows[0].n' }])], [make(second)]],
    ['a plain value', [make(second)], [make(second)]],
  ])('takes %s', async (_, given, expected) => {
    expect(await inputOf(schema, { p: given })).toEqual({ p: expected })
  })
})

describe('withInput', () => {
  it('resolves only in the branch that matches the value', async () => {
    const p = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('text'), rows: z.string() }),
      z.object({ kind: z.enum(['table']), rows }),
    ])
    expect(await inputOf(z.object({ p }), { p: { kind: 'text', rows: ref } })).toEqual({
      p: { kind: 'text', rows: ref },
    })
  })

  it('supports patterns and tuples of JSON Schema', async () => {
    const n = { type: 'number', asset_ref_acceptable: true }
    const one = `${table.ref}/content/n`
    const schema = {
      type: 'object',
      patternProperties: { '^n': n },
      additionalProperties: { type: 'array', prefixItems: [{ type: 'string' }], items: n },
    }
    expect(await inputOf(schema, { n1: one, list: [one, one], n2: 3 })).toEqual({
      n1: 5,
      list: [one, 5],
      n2: 3,
    })
  })

  it('passes a reference on without a keyword, and rejects it if the keyword is false', async () => {
    const schema = (flag: object): Tool['inputSchema'] => {
      return { type: 'object', properties: { p: { ...flag } } }
    }
    expect(await inputOf(schema({}), { p: ref })).toEqual({ p: ref })
    const args = { p: [{ asset_id: table.assetId, field_path: null }] }
    const items = schema({ items: { asset_ref_acceptable: false } })
    await expect(inputOf(items, args)).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('/p/0 does not take references'),
    })
    expect(await inputOf(items, { p: ['text'] })).toEqual({ p: ['text'] })
  })

  it('accepts one reference for all parameters if the schema itself allows it', async () => {
    const schema = {
      type: 'object',
      asset_ref_acceptable: true,
      properties: { n: { type: 'number' } },
    }
    const whole = { asset_id: table.assetId, field_path: ['content'] }
    expect(await inputOf(schema, whole)).toEqual({ rows: [{ n: 1 }], n: 5 })
    await expect(inputOf(schema, { n: '†state.ref' })).rejects.toThrow('/n must be number')
  })

  it('stops at cyclic references of a schema', async () => {
    const schema = {
      type: 'object',
      properties: { p: { $ref: '#/$defs/a' } },
      $defs: {
        a: { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/a' }] },
        b: { oneOf: [{ $ref: '#/$defs/a' }, { type: 'array', asset_ref_acceptable: true }] },
      },
    }
    const tool = { id: 't', description: '', inputSchema: schema, execute: () => null } as Tool
    const resolved = await boundary.resolve({ tool, arguments: { p: `<|${ref}|>` } }, values)
    expect(resolved.arguments).toEqual({ p: ref })
  })

  it('handles 100,000 items with a few references among them', async () => {
    const item = z.union([
      z.object({ kind: z.literal('a'), n: z.number().meta({ asset_ref_acceptable: true }) }),
      z.object({ kind: z.literal('b'), n: z.string() }),
    ])
    const list = Array.from({ length: 100_000 }, (_, i) =>
      i % 2
        ? { kind: 'b', n: `${i}` }
        : { kind: 'a', n: i % 10_000 ? i : `${table.ref}/content/n` },
    )
    const { p } = (await inputOf(z.object({ p: z.array(item) }), { p: list })) as {
      p: { n: unknown }[]
    }
    expect([p[0]?.n, p[1]?.n, p[2]?.n, p[20_000]?.n]).toEqual([5, '1', 2, 5])
  })
})

describe('asset_ref_as', () => {
  const as = (form: string) => ({ asset_ref_acceptable: true, asset_ref_as: form })

  it('passes bytes, a Blob, a stream or the asset, typed and checked', async () => {
    const tool = defineTool({
      id: 't',
      description: '',
      inputSchema: z.object({
        bytes: z.instanceof(Uint8Array).meta(as('bytes')),
        blob: z.instanceof(Blob).meta(as('blob')).optional(),
        stream: z.instanceof(ReadableStream).nullable().meta(as('stream')),
        asset: z.custom<Asset>().meta(as('asset')),
      }),
      execute({ bytes, blob, stream, asset }) {
        expectTypeOf(bytes).toExtend<Uint8Array>()
        expectTypeOf(blob).toEqualTypeOf<Blob | undefined>()
        expectTypeOf(stream).toExtend<ReadableStream | null>()
        expectTypeOf(stream).not.toBeAny()
        expectTypeOf(asset).toEqualTypeOf<Asset>()
        return null
      },
    })
    const p = picture.ref
    const args = { bytes: '†state.picture', blob: p, stream: p, asset: `${table.ref}/content` }
    const given = await boundary.resolve({ tool: tool as Tool, arguments: args }, values)
    const read = await boundary.withInput(
      { tool: tool as Tool, arguments: given.arguments },
      async (input) => {
        const { bytes, blob, stream, asset } = input as Record<string, unknown>
        const streamed = await new Response(stream as ReadableStream).bytes()
        return { bytes, type: (blob as Blob).type, streamed, asset }
      },
    )
    expect(read).toEqual({
      bytes: PNG,
      type: 'image/png',
      streamed: PNG,
      asset: {
        asset_id: table.assetId,
        asset_name: 'table',
        content_type: 'application/json',
        content: { rows: [{ n: 1 }], n: 5 },
      },
    })
  })

  it('passes them even if the schema says text, and keeps the other values of the schema', async () => {
    const image = z.string().meta(as('bytes'))
    const schema = z.object({ images: z.array(z.object({ image, scale: z.number().default(2) })) })
    const args = { images: [{ image: picture.ref }, { image: '†state.picture', scale: 1 }] }
    expect(await inputOf(schema, args)).toEqual({
      images: [
        { image: PNG, scale: 2 },
        { image: PNG, scale: 1 },
      ],
    })
    const json = {
      type: 'object',
      properties: { image: { type: 'string', ...as('bytes') } },
      required: ['image'],
    } as const
    expect(await inputOf(json, { image: picture.ref })).toEqual({ image: PNG })
  })

  it('accepts bytes that a model wrote as a data URL, and no other text', async () => {
    const schema = z.object({ image: z.instanceof(Uint8Array).meta(as('bytes')) })
    expect(await inputOf(schema, { image: 'data:text/plain;base64,aGk=' })).toEqual({
      image: new TextEncoder().encode('hi'),
    })
    await expect(inputOf(schema, { image: 'a cat' })).rejects.toThrow(
      '/image takes a reference to an asset, such as asset://id. "a cat" is not a reference.',
    )
    const open = z.object({ image: z.union([schema.shape.image, z.string()]) })
    expect(await inputOf(open, { image: 'a cat' })).toEqual({ image: 'a cat' })
  })

  it('loads a stream only when it is read, and cancels one that is not read', async () => {
    const ended: string[] = []
    const opened = { ...assets } as typeof assets
    opened.open = async (one, options) => {
      const body = await assets.open(one, options)
      const stream = new ReadableStream({ cancel: () => void ended.push('ended') })
      return { ...body, stream }
    }
    const schema = z.object({ p: z.instanceof(ReadableStream).meta(as('stream')), n: z.number() })
    const tool = {
      id: 't',
      description: '',
      inputSchema: schema,
      execute: () => null,
    } as unknown as Tool
    const use = (args: Record<string, unknown>) =>
      createBoundary({ assets: opened }).withInput({ tool, arguments: args }, () => 'used')
    await expect(use({ p: picture.ref })).rejects.toThrow('/n')
    expect(ended).toEqual(['ended'])
    expect(await use({ p: picture.ref, n: 1 })).toBe('used')
    expect(ended).toEqual(['ended', 'ended'])
  })

  it('requires whole assets for these types', async () => {
    const schema = z.object({ p: z.custom<Asset>().meta(as('asset')) })
    await expect(inputOf(schema, { p: ref })).rejects.toThrow(`Pass ${table.ref}`)
  })

  it('rejects a type that JSON Schema cannot express', () => {
    const define = (p: z.ZodType): unknown =>
      defineTool({ id: 'bad', description: '', inputSchema: z.object({ p }), execute: () => null })
    for (const p of [z.custom<Blob>(), z.date(), z.array(z.instanceof(Blob)), z.bigint()]) {
      expect(() => define(p)).toThrow(ByrefError)
      expect(() => define(p)).toThrow(
        /"bad" has a type that JSON Schema cannot express \(properties\/p.*asset_ref_as/,
      )
    }
    expect(() => define(z.custom<Blob>().meta({ asset_ref_as: 'blob' }))).toThrow(
      'JSON Schema cannot express',
    )
  })
})

describe('store', () => {
  it('passes more texts than a function may have arguments', async () => {
    const list = [...Array.from({ length: 150_000 }, () => 'a'), picture.ref]
    const schema = { type: 'object', properties: { list: { asset_ref_acceptable: true } } }
    expect(await inputOf(schema, { list })).toMatchObject({ list: { length: 150_001 } })
  })

  it('stores the last value of a generator', async () => {
    async function* values() {
      yield { n: 1 }
      yield { n: 2, picture: PNG }
    }
    const stored = await boundary.store({ tool: 't', toolCallId: 'c' }, values())
    expect(stored.value).toMatchObject({ n: 2, picture: { mimeType: 'image/png' } })
  })
})
