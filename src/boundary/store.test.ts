import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import type { AssetEvent } from '../core/events/events.ts'
import { restoreBytes } from './resolve.ts'
import { jsonLength, offload, storeArguments } from './store.ts'

describe('jsonLength', () => {
  it('is the length of small JSON, except for a comma', () => {
    expect(jsonLength('text', 100)).toBe(6)
    expect([true, false, null, -1.5].map((value) => jsonLength(value, 100))).toEqual([4, 5, 4, 4])
    expect([[], {}].map((value) => jsonLength(value, 100))).toEqual([2, 2])
    expect(jsonLength([1, 22], 100)).toBe(JSON.stringify([1, 22]).length + 1)
    expect(jsonLength({ a: 1 }, 100)).toBe(JSON.stringify({ a: 1 }).length + 1)
  })

  it('is off by at most one comma for each list and object, if nothing is escaped', () => {
    const plain = fc.stringMatching(/^[a-z]*$/)
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        plain,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(plain, tie('value')),
      ),
    }))
    fc.assert(
      fc.property(value, (one) => {
        const { length } = JSON.stringify(one)
        const containers = JSON.stringify(one).match(/[[{]/g)?.length ?? 0
        const counted = jsonLength(one, Infinity)
        expect(counted).toBeGreaterThanOrEqual(length)
        expect(counted).toBeLessThanOrEqual(length + containers)
      }),
    )
  })

  it('stops counting at the limit', () => {
    let asked = 0
    const item = (): object => ({
      get text() {
        asked++
        return 'x'.repeat(100)
      },
    })
    const list = Array.from({ length: 1000 }, item)
    const length = jsonLength(list, 1000)
    expect(length).toBeGreaterThan(1000)
    expect(length).toBeLessThan(1300)
    expect(asked).toBeLessThan(12)
  })
})

describe('offload', () => {
  it('keeps all of a large result in its asset, and little of it in the record', async () => {
    const assets = createAssets()
    const value = Array.from({ length: 1_000 }, (_, id) => ({ id, note: 'n'.repeat(100) }))
    const call = { tool: 'rows', toolCallId: 'c' }
    const stored = await offload<{ value: unknown; events: unknown[] }>(
      call,
      { value, events: [] },
      () => assets,
    )
    const { assetRef } = stored.value as { assetRef: string }
    expect(await assets.resolve(`${assetRef}/content`)).toEqual(value)
    expect(JSON.stringify(await assets.meta(assetRef)).length).toBeLessThan(1_500)
  })

  it('keeps a long text as a text file, unless UTF-8 would change it', async () => {
    const assets = createAssets()
    const keep = async (value: string) => {
      const call = { tool: 'page', toolCallId: 'c', maxResultChars: 5 }
      const stored = await offload<{ value: unknown; events: unknown[] }>(
        call,
        { value, events: [] },
        () => assets,
      )
      const { assetRef, mimeType, size } = stored.value as Record<
        'assetRef' | 'mimeType',
        string
      > & {
        size: number
      }
      const { bytes, mime } = await assets.get(assetRef)
      expect([mime, bytes.byteLength]).toEqual([mimeType, size])
      expect(await assets.resolve(`${assetRef}/content`)).toBe(value)
      return { mime, text: Buffer.from(bytes).toString() }
    }
    const text = 'say "é"\n'
    expect(await keep(text)).toEqual({ mime: 'text/plain', text })
    for (const odd of ['\ud800 half', '\ufeffmark']) {
      expect(await keep(odd)).toEqual({ mime: 'application/json', text: JSON.stringify(odd) })
    }
  })
})

describe('storeArguments', () => {
  /** Stores arguments. Returns them in the form of the log and in that of the tool. */
  async function storedAndRestored(args: Record<string, unknown>) {
    const all = createAssets()
    const refs = new Set<string>()
    const onEvent = ({ type, payload }: AssetEvent) => {
      if (type === 'ASSET_CREATED') refs.add(payload.ref)
    }
    const { logged } = await storeArguments({ tool: 't', toolCallId: 'c', onEvent }, args, all)
    const restored = await restoreBytes(logged, refs, all)
    return { logged: JSON.stringify(logged), restored }
  }

  const image = PNG.toString('base64')
  const part = PNG.subarray(0, 60).toString('base64')
  const longer = Buffer.concat([PNG.subarray(0, 60), Buffer.alloc(300, 5)]).toString('base64')
  it.each([
    ['a header in capitals', { html: `<img src="data:image/png;BASE64,${image}">` }],
    ['a space in the header', { url: `data:image/png; base64,${image}` }],
    ['white space around it', { image: ` ${image}\n` }],
    ['the same base64 in a sentence', { image, note: `${image} is a picture` }],
    ['the same base64 in JSON text', { image, body: JSON.stringify({ image }) }],
    ['an image that begins like another', { first: part, second: longer }],
  ])('restores exactly what was written: %s', async (_, args) => {
    const { logged, restored } = await storedAndRestored(args)
    expect(restored).toEqual(args)
    expect(logged).toContain('<|asset://')
    expect(logged).not.toContain(part)
    expect(logged).not.toContain('BQUFBQUF')
  })

  it('restores a data URL of text in a longer text as one with base64', async () => {
    const url = 'data:image/svg+xml,%3Csvg/%3E'
    const { restored } = await storedAndRestored({ html: `<img src="${url}">, an image` })
    const encoded = `data:image/svg+xml;base64,${btoa('<svg/>')}`
    expect(restored).toEqual({ html: `<img src="${encoded}">, an image` })
  })
})
