import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ContentSource, decodeContent } from './content-decoding.ts'
import { encodeContent } from './content-encoding.ts'
import { copyContent } from './copy-content.ts'

async function roundTrip(content: unknown): Promise<unknown> {
  const encoded = await encodeContent(content, { depth: 1000 })
  const source: ContentSource = {
    async bytes({ digest }) {
      const part = encoded.parts.find((one) => one.digest === digest)
      return part?.bytes ?? new Uint8Array()
    },
    object: async (index) => encoded.objects[index],
  }
  return decodeContent(JSON.parse(encoded.json), source)
}

describe('encodeContent and decodeContent', () => {
  it('do not change plain JSON', async () => {
    const content = { a: [1, 'x', null, { b: true }], c: {} }
    const encoded = await encodeContent(content, { depth: 10 })
    expect(encoded).toMatchObject({ json: JSON.stringify(content), marked: false, parts: [] })
  })

  it('restore every kind of value', async () => {
    const shared = new Uint8Array([1, 2, 3])
    const content = {
      arrays: [
        new Uint8Array([1]),
        new Uint8ClampedArray([300]),
        new Int16Array([-1]),
        new Float64Array([0.1]),
        new BigInt64Array([-5n]),
        ...(typeof Float16Array === 'function' ? [new Float16Array([1.5])] : []),
        new DataView(new ArrayBuffer(3)),
        new ArrayBuffer(2),
      ],
      view: new Uint8Array(shared.buffer, 1, 1),
      shared: [shared, shared],
      nothing: [undefined, null],
      map: new Map<unknown, unknown>([[{ key: 1 }, new Set([1n])]]),
      date: new Date(0),
    }
    const out = (await roundTrip(content)) as typeof content
    expect(out.arrays).toEqual(content.arrays)
    expect(out.arrays.map((one) => one.constructor)).toEqual(
      content.arrays.map((one) => one.constructor),
    )
    expect(out.view).toEqual(new Uint8Array([2]))
    expect(out.nothing).toEqual([null, null])
    expect(out.map).toEqual(content.map)
    expect(out.date).toEqual(content.date)
    const blob = (await roundTrip(new Blob(['x'], { type: 'text/css' }))) as Blob
    expect([blob.type, await blob.text()]).toEqual(['text/css', 'x'])
  })

  it('store equal leaves once, and treat a Buffer as bytes', async () => {
    const content = { a: Buffer.from('x'), b: new Uint8Array([120]) }
    const { parts, json } = await encodeContent(content, { depth: 10 })
    expect(parts).toHaveLength(1)
    expect(JSON.parse(json).a.as).toBe('Uint8Array')
  })

  it('keep keys with any name, and never set a prototype', async () => {
    const content = JSON.parse('{"__proto__":{"x":1},"constructor":2,"toJSON":3,"$byref":"bytes"}')
    content.date = new Date(1)
    const out = (await roundTrip(content)) as Record<string, unknown>
    expect(Object.getPrototypeOf(out)).toBe(Object.prototype)
    expect(Object.keys(out)).toEqual(['__proto__', 'constructor', 'toJSON', '$byref', 'date'])
    expect(Object.getOwnPropertyDescriptor(out, '__proto__')?.value).toEqual({ x: 1 })
  })

  it('name live objects by their path', async () => {
    class Chart {}
    const content = { 'a/b': [{ c: new Chart() }], f: () => 1, s: Symbol.iterator }
    const { objectPaths, objects } = await encodeContent(content, { depth: 10 })
    expect(objectPaths).toEqual(['/a~1b/0/c', '/f', '/s'])
    expect(objects[0]).toBe(content['a/b'][0]?.c)
  })

  it('name live objects in Maps and Sets, behind other content', async () => {
    const content = {
      first: [[1], { deep: { a: 1 } }],
      map: new Map([['key', { of: new WeakMap() }]]),
      set: new Set([{ one: new WeakSet() }]),
    }
    const { objectPaths } = await encodeContent(content, { depth: 10 })
    expect(objectPaths).toEqual(['/map/0/1/of', '/set/0/one'])
  })

  it('find a content in itself through Maps and Sets', async () => {
    const content = { map: new Map<string, unknown>(), beside: { set: new Set<unknown>() } }
    content.beside.set.add([content.beside])
    expect((await encodeContent(content, { depth: 10 })).objectPaths).toEqual(['/beside/set/0/0'])
  })

  it('treat content that contains itself as one live object', async () => {
    const content: Record<string, unknown> = { a: {} }
    ;(content.a as Record<string, unknown>).up = content
    const { objects, objectPaths } = await encodeContent(content, { depth: 10 })
    expect(objects).toEqual([content])
    expect(objectPaths).toEqual(['/a/up'])
    expect(await roundTrip(content)).toBe(content)
    const twice = { same: 1 }
    expect(await roundTrip([twice, twice])).toEqual([twice, twice])
  })

  it('use the content as it is at the time of the call', async () => {
    const inner = { rows: [1, 2], bytes: new Uint8Array([1]) }
    const content = { inner, blob: new Blob(['x']), last: [0] }
    const encoding = encodeContent(content, { depth: 10 })
    inner.rows.push(3)
    inner.bytes.fill(9)
    content.last.push(1)
    const { json, parts } = await encoding
    const { inner: kept, blob, last } = JSON.parse(json)
    expect([kept.rows, last]).toEqual([[1, 2], [0]])
    expect(parts.map(({ bytes }) => [...bytes])).toEqual([[1], [120]])
    expect(blob).toMatchObject({ $byref: 'bytes', as: 'Blob', size: 1 })
  })

  it('report content that is too deep for Node itself', async () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    await expect(encodeContent(deep, { depth: Infinity })).rejects.toMatchObject({
      code: 'too_deep',
    })
    let at = copyContent(deep)
    for (let i = 0; i < 100_000; i++) at = (at as unknown[])[0]
    expect(at).toBe(1)
  })

  it('restore any mixture', async () => {
    const leaf = fc.oneof(
      fc.jsonValue(),
      fc.uint8Array({ maxLength: 20 }),
      fc.bigInt(),
      fc.double(),
      fc.date({ noInvalidDate: true }),
    )
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$byref', '__proto__')), tie('tree'), {
          maxKeys: 3,
          noNullPrototype: true,
        }),
        fc.array(fc.tuple(fc.string(), tie('tree')), { maxLength: 2 }).map((all) => new Map(all)),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, async (content) => {
        expect(await roundTrip(content)).toEqual(content)
        const copy = copyContent(content)
        expect(copy).toEqual(content)
        if (typeof content === 'object' && content !== null) expect(copy).not.toBe(content)
      }),
      { numRuns: 300 },
    )
  })
})
