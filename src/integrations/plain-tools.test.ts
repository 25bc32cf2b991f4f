import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { mayHoldReference, resultByReference } from './plain-tools.ts'

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
