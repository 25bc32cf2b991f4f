import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import {
  mayHoldReference,
  plainTool,
  resolveReferences,
  resultByReference,
  shownSchema,
  withGuide,
} from './plain-tools.ts'

describe('mayHoldReference', () => {
  it('finds references in texts and objects, at any depth', () => {
    expect(mayHoldReference('see <|asset://a|>')).toBe(true)
    expect(mayHoldReference({ rows: [{ file: 'asset://a/content' }] })).toBe(true)
    expect(mayHoldReference([{ asset_id: 'a' }])).toBe(true)
    expect(mayHoldReference({ rows: [{ file: 'a' }], asset: null, id: 5n })).toBe(false)
  })

  it('ends for a value that contains itself', () => {
    const value: Record<string, unknown> = { name: 'a' }
    value.self = value
    expect(mayHoldReference(value)).toBe(false)
  })
})

describe('resultByReference', () => {
  const rows = Array.from({ length: 2_000 }, (_, n) => ({ n, city: `city ${n}` }))
  const text = (value: string) => ({ type: 'text', text: value })
  const long = text(JSON.stringify({ rows }))

  it.each([
    ['JSON', long.text],
    ['a block', long],
    ['a list of one block', [long]],
    ['a result of MCP', { content: [long], isError: false }],
  ])('stores the data in the only text of a result: %s', async (_, result) => {
    const assets = createAssets()
    const shown = await resultByReference(result, { assets, tool: 't', toolCallId: 'c' })
    const { assetRef } = shown as { assetRef: string }
    expect(await assets.resolve(`${assetRef}/content/rows/1999/n`)).toBe(1999)
  })

  it('does not change short results, and those of several parts', async () => {
    const how = { assets: createAssets(), tool: 't', toolCallId: 'c' }
    const results = [text('{"a":1}'), [text('a'), text('b')], { content: [text('a')], more: 1 }]
    for (const result of results) expect(await resultByReference(result, how)).toBe(result)
  })
})

describe('resolveReferences', () => {
  const schema = {
    type: 'object',
    properties: { any: {}, open: { type: 'object' }, list: { items: {} }, rows: { type: 'array' } },
  }
  const tool = plainTool('t', schema)

  it.each(['native', 'base64'] as const)(
    'gives parameters without a type text, or base64 of other files (%s)',
    async (bytes) => {
      const assets = createAssets()
      const { ref: image } = await assets.save(Uint8Array.of(137, 80, 78, 71), 'image/png')
      const { ref: text } = await assets.save(Buffer.from('Hello'), 'text/plain')
      const { ref: data } = await assets.saveAsset({
        content_type: 'application/json',
        content: { image: Uint8Array.of(1, 2) },
      })
      const args = { any: image, open: { a: text }, list: [image], more: `${data}/content/image` }
      const base64 = 'iVBORw=='
      expect(await resolveReferences(tool, args, { assets, bytes })).toEqual({
        any: base64,
        open: { a: 'Hello' },
        list: [base64],
        more: 'AQI=',
      })
    },
  )

  it('says that a file which is not text cannot become a list', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Uint8Array.of(1, 2), 'application/x-own')
    await expect(resolveReferences(tool, { rows: ref }, { assets })).rejects.toThrow(
      /is application\/x-own, 2 bytes and cannot be converted to array/,
    )
  })
})

describe('shownSchema', () => {
  it.each([
    { enum: ['a', 'b'] },
    { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] },
    { oneOf: [{ const: 'a' }, { const: 3 }, { type: 'boolean' }] },
    { type: ['boolean', 'null'] },
  ])('does not widen parameters with few possible values: %j', (few) => {
    const schema = { type: 'object', properties: { few } }
    expect(shownSchema(plainTool('t', schema)).properties).toEqual({ few })
  })

  it('widens a union with a type of many values', () => {
    const open = { anyOf: [{ type: 'number' }, { type: 'null' }] }
    const schema = { type: 'object', properties: { open } }
    expect(JSON.stringify(shownSchema(plainTool('t', schema)))).toContain('(or asset://…)')
  })
})

describe('withGuide', () => {
  it.each(['Be brief.', undefined, { role: 'system', content: 'Be brief.' }, [['One.']]])(
    'adds the guide once to %j',
    (instructions) => {
      const once = withGuide(instructions)
      expect(JSON.stringify(once)).toContain('## References')
      expect(withGuide(once)).toEqual(once)
    },
  )
})
