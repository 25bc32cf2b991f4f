import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAssets } from '../../../assets/create-assets.ts'
import { saveBody } from '../assets-for-clients.ts'
import { shortenResult } from './shorten-result.ts'

const assets = createAssets()
const save = (body: object, name: string) => saveBody({ ...body }, assets, { name })
const readingTools = { fetch: 'fetch_asset', search: 'search_asset' }
const shorten = (result: object, maxChars: number) =>
  shortenResult({ ...result }, 'x', {
    save,
    maxChars,
    maxBytes: maxChars,
    showImages: false,
    readingTools,
  })

const text = fc.string({ maxLength: 60 })
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('image'), data: fc.base64String(), mimeType: text }),
  fc.record({ type: fc.constant('resource'), resource: fc.record({ uri: text, text }) }),
  fc.record({ uri: text, blob: fc.base64String() }),
  fc.jsonValue(),
)
const results = fc.record(
  {
    content: fc.oneof(fc.array(block), fc.jsonValue()),
    contents: fc.oneof(fc.array(block), fc.jsonValue()),
    messages: fc.array(fc.oneof(fc.record({ role: text, content: block }), fc.jsonValue())),
    structuredContent: fc.jsonValue(),
    isError: fc.boolean(),
  },
  { requiredKeys: [] },
)

describe('shortenResult', () => {
  it('returns a small result as the same object', async () => {
    await fc.assert(
      fc.asyncProperty(results, async (result) => {
        const small = { ...result }
        const options = { save, maxChars: 1e6, maxBytes: 1e6, showImages: false, readingTools }
        expect(await shortenResult(small, 'x', options)).toBe(small)
      }),
    )
  })

  it('accepts any value, returns JSON, and keeps its form', async () => {
    await fc.assert(
      fc.asyncProperty(results, fc.integer({ min: 0, max: 20 }), async (result, max) => {
        const changed = await shorten(result, max)
        expect(JSON.parse(JSON.stringify(changed))).toEqual(JSON.parse(JSON.stringify(changed)))
        expect(Object.keys(changed).sort()).toEqual(Object.keys(result).sort())
        for (const key of ['contents', 'messages'] as const) {
          if (!Array.isArray(result[key])) expect(changed[key]).toEqual(result[key])
          else expect(changed[key]).toHaveLength(result[key].length)
        }
      }),
    )
  })

  it('stores the bytes of a block once, also if short structured content repeats them', async () => {
    const data = Buffer.alloc(60).toString('base64')
    const names: string[] = []
    const noted = (body: object, name: string) => {
      names.push(name)
      return save(body, name)
    }
    const options = { save: noted, maxChars: 1_000, maxBytes: 50, showImages: false, readingTools }
    const content = [{ type: 'image', data, mimeType: 'image/png' }]
    const structuredContent = { list: [{ data }], other: data.slice(4) }
    const changed = await shortenResult({ content, structuredContent }, 'x', options)
    const [note] = changed.content as { text: string }[]
    expect(changed.structuredContent).toEqual({
      list: [{ data: note?.text }],
      other: data.slice(4),
    })
    expect(names).toEqual(['x'])
  })

  it('stores structured content with its own texts, not with the notices that replace them', async () => {
    const structuredContent = { rows: [1, 2, 3], note: 'N'.repeat(3_000) }
    const { structuredContent: shown } = await shorten({ structuredContent }, 100)
    const { assetRef, preview } = Object(shown)
    expect(await assets.resolve(`${assetRef}/content`)).toEqual(structuredContent)
    expect(preview.note).toContain('replaces a value that is too large to show')
  })
})
