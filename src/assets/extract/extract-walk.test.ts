import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssetEvent } from '../../core/events/events.ts'
import { createAssets } from '../create-assets.ts'
import { extract, JPEG, jpeg, PNG, png, pngBytes, pngUrl } from './fixtures/extracted.ts'

describe('extractAssets, on its way through a value', () => {
  it('handles depth and cycles', async () => {
    let deep: unknown = pngBytes
    for (let i = 0; i < 20_000; i++) deep = { deep }
    await expect(extract(deep)).rejects.toMatchObject({ code: 'too_deep' })
    const limits = { depth: 100_000 }
    let { value: at } = await extract(deep, { config: { limits } })
    for (let i = 0; i < 20_000; i++) at = (at as { deep: unknown }).deep
    expect(at).toEqual(png)
    const cycle: Record<string, unknown> = { image: pngBytes, list: [] }
    cycle.self = cycle
    ;(cycle.list as unknown[]).push(cycle)
    const { value } = await extract(cycle)
    const copy = value as Record<string, unknown>
    expect(copy).not.toBe(cycle)
    expect(copy.image).toEqual(png)
    expect(copy.self).toBe(copy)
    expect((copy.list as unknown[])[0]).toBe(copy)
    const still: Record<string, unknown> = {}
    still.self = still
    expect((await extract(still)).value).toBe(still)
  })

  it('keeps Date, Map and Set, and shares unchanged parts', async () => {
    const at = new Date()
    const rows = [{ a: 1 }, { b: 2 }]
    const { value } = await extract({
      at,
      rows,
      map: new Map<unknown, unknown>([
        ['image', pngBytes],
        [7, 'seven'],
      ]),
      set: new Set<unknown>([pngBytes, 'x']),
      big: 5n,
    })
    const out = value as Record<string, unknown>
    expect(out.at).toBe(at)
    expect(out.rows).toBe(rows)
    expect(out.map).toEqual(
      new Map<unknown, unknown>([
        ['image', png],
        [7, 'seven'],
      ]),
    )
    expect([...(out.set as Set<unknown>)]).toEqual([png, 'x'])
    expect(out.big).toBe(5n)
  })

  it('finds several assets in one object', async () => {
    const { value } = await extract({
      mimeType: 'image/png',
      dataBase64: PNG,
      thumbnail: { dataUrl: `data:image/jpeg;base64,${JPEG}` },
      more: [pngUrl],
    })
    expect(value).toEqual({ ...png, thumbnail: jpeg, more: [png] })
  })

  it('treats names of prototype properties as plain keys', async () => {
    const value = JSON.parse(`{"__proto__":{"dataUrl":"${pngUrl}"},"constructor":{"a":1}}`)
    const { value: out } = await extract(value)
    expect(Object.keys(out as object)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(out)).toBe(Object.prototype)
    expect(Object.getOwnPropertyDescriptor(out, '__proto__')?.value).toEqual(png)
  })

  it('writes origins as JSON Pointers', async () => {
    const { created } = await extract({ 'a/b': { 'c~d': [0, { dataUrl: pngUrl }] } })
    expect(created[0]?.origin).toBe('/a~1b/c~0d/1')
    expect((await extract(pngUrl)).created[0]?.origin).toBe('')
  })

  it('notifies handlers, which can read the body but do not receive it', async () => {
    const seen: unknown[] = []
    const assets = createAssets({
      onEvent: async (event) => {
        await new Promise((go) => setTimeout(go, 1))
        const payload = event.payload as unknown as { base64: string; dataUrl: string }
        seen.push([event.type, payload.base64, payload.dataUrl, JSON.stringify(event)])
      },
    })
    await extract({ mimeType: 'image/png', dataBase64: PNG }, { assets })
    expect(seen).toEqual([['ASSET_CREATED', PNG, pngUrl, expect.not.stringContaining(PNG)]])
  })

  it('reads every field once, and returns what it read', async () => {
    const fresh = {
      get image() {
        return { mimeType: 'image/png', dataBase64: PNG }
      },
      get dataUrl() {
        return pngUrl
      },
    }
    const list: unknown[] = [{ dataUrl: pngUrl }]
    const growing = { list, map: new Map<string, unknown>([['a', { dataUrl: pngUrl }]]), fresh }
    const assets = createAssets({
      onEvent() {
        list.push({ dataUrl: pngUrl })
        growing.map.set('b', { dataUrl: pngUrl })
      },
    })
    const { value } = await extract(growing, { assets })
    expect(value).toEqual({
      list: [png],
      map: new Map([['a', png]]),
      fresh: { ...png, image: png },
    })
  })

  it('overwrites existing keys of the same name', async () => {
    const { value } = await extract([
      { assetRef: null, mimeType: 'image/png', dataBase64: PNG, kind: 'chart', a: 1 },
      { mimeType: 'image/png', dataBase64: '***', assetError: 'mine', data: [{ b: 2 }] },
    ])
    expect(value).toEqual([
      { ...png, a: 1 },
      {
        assetError: { code: 'asset_invalid', message: expect.any(String) },
        mimeType: 'image/png',
        data: [{ b: 2 }],
      },
    ])
    expect(Object.keys((value as object[])[0] as object)).toEqual([
      'assetRef',
      'mimeType',
      'kind',
      'a',
    ])
  })

  it('gives a stream at several places one reference and one event', async () => {
    const stream = new Blob([pngBytes]).stream()
    const response = new Response(pngBytes)
    const { value, created, errors } = await extract({
      a: stream,
      b: { again: stream },
      c: { mimeType: 'image/png', data: stream, caption: 'kept' },
      d: [response, response, response.body],
    })
    expect(errors).toEqual([])
    expect(created.map(({ origin }) => origin)).toEqual(['/a', '/d/0'])
    const { a, b, c, d } = value as Record<string, Record<string, unknown>>
    expect(b?.again).toEqual(a)
    expect(c).toEqual({ ...a, caption: 'kept' })
    expect(d).toEqual([d?.[0], d?.[0], d?.[0]])
  })

  it('reports assets in the order of the walk, although they are saved concurrently', async () => {
    let running = 0
    let most = 0
    const slow = (ms: number) =>
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          most = Math.max(most, ++running)
          await new Promise((go) => setTimeout(go, ms))
          running--
          controller.enqueue(new Uint8Array([ms]))
          controller.close()
        },
      })
    const events: AssetEvent[] = []
    const bad = { mimeType: 'image/png', dataBase64: '***' }
    const text = `${pngUrl} and data:a/b;base64,A`
    await extract([slow(9), bad, slow(3), slow(6), text, slow(1)], { events })
    expect(events.map(({ type, payload }) => `${type} ${payload.origin}`)).toEqual([
      'ASSET_CREATED /0',
      'ASSET_ERROR /1',
      'ASSET_CREATED /2',
      'ASSET_CREATED /3',
      'ASSET_CREATED /4',
      'ASSET_ERROR /4',
      'ASSET_CREATED /5',
    ])
    expect(most).toBe(4)
  })

  it('handles an object at 200,000 places', async () => {
    const shared = { image: pngBytes }
    const { value } = await extract(Array.from({ length: 200_000 }, () => ({ shared })))
    const [first, last] = [(value as unknown[])[0], (value as unknown[]).at(-1)] as [
      { shared: unknown },
      { shared: unknown },
    ]
    expect(first.shared).toEqual({ image: png })
    expect(last.shared).toBe(first.shared)
  })

  it('takes linear time for hostile text', async () => {
    const { value } = await extract([
      'data:'.repeat(200_000),
      'data:image/png;base64,'.repeat(1),
      `data:${'a'.repeat(500_000)}`,
      'data:a/b;'.repeat(100_000),
    ])
    expect(value).toHaveLength(4)
  })

  it('returns JSON without data URLs unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (json) => {
        expect((await extract(json)).value).toBe(json)
      }),
      { numRuns: 200 },
    )
  })

  it('finds every body at any place', async () => {
    const leaf = fc.oneof(
      fc.constant({ dataUrl: pngUrl }),
      fc.constant({ mimeType: 'image/png', dataBase64: PNG }),
      fc.constant(pngUrl),
    )
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.integer(),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c/d', '~'), tie('tree'), { maxKeys: 3 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        const { value: out, created } = await extract(value)
        const before = JSON.stringify(value) ?? ''
        expect(created).toHaveLength(before.split(PNG).length - 1)
        expect(JSON.stringify(out) ?? '').not.toContain(PNG)
        for (const { origin, ref: name } of created) {
          const keys = (origin ?? '').split('/').slice(1)
          const at = keys.reduce(
            (found, key) =>
              (found as Record<string, unknown>)[key.replace(/~1/g, '/').replace(/~0/g, '~')],
            out,
          )
          expect(at).toMatchObject({ assetRef: name })
        }
      }),
      { numRuns: 200 },
    )
  })
})
