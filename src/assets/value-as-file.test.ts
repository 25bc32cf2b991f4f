import { describe, expect, it } from 'vitest'
import { valueAsFile } from './value-as-file.ts'

const TEXT = 'text/plain; charset=utf-8'

async function body(value: unknown): Promise<[text: string, mime: string]> {
  const { bytes, mime } = await valueAsFile(value)
  return [Buffer.from(bytes).toString(), mime]
}

describe('valueAsFile', () => {
  it.each<[string, unknown, string, string]>([
    ['text', 'ö', 'ö', TEXT],
    [
      'bytes',
      new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>').subarray(0),
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'image/svg+xml',
    ],
    [
      'a view of bytes',
      new DataView(Buffer.from('abc').buffer.slice(0, 0)),
      '',
      'application/octet-stream',
    ],
    ['a Blob', new Blob(['a,b'], { type: 'text/csv' }), 'a,b', 'text/csv'],
    ['a bigint', 12345678901234567890n, '12345678901234567890', TEXT],
    ['an infinity', -Infinity, '-Infinity', TEXT],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z', TEXT],
    ['a date that is none', new Date(Number.NaN), 'Invalid Date', TEXT],
    ['a URL', new URL('https://a.org'), 'https://a.org/', TEXT],
    ['a number', 1.5, '1.5', 'application/json'],
    ['null', null, 'null', 'application/json'],
    ['nothing', undefined, 'null', 'application/json'],
    [
      'JSON',
      { a: [1, undefined, null], b: undefined, c: '' },
      '{"a":[1,null,null],"c":""}',
      'application/json',
    ],
    [
      'scalars further down',
      [1n, Number.NaN, new Date(0)],
      '["1","NaN","1970-01-01T00:00:00.000Z"]',
      'application/json',
    ],
    [
      'a Map',
      new Map<string, unknown>([
        ['a', new Set([1])],
        ['__proto__', 2],
      ]),
      '{"a":[1],"__proto__":2}',
      'application/json',
    ],
    ['a Map by other keys', new Map([[1, 'a']]), '[[1,"a"]]', 'application/json'],
    [
      'numbers in arrays of their own',
      [new Float32Array([1.5]), new BigInt64Array([1n])],
      '[[1.5],["1"]]',
      'application/json',
    ],
    ['what says itself', [{ toJSON: () => new Map([['a', 1]]) }], '[{"a":1}]', 'application/json'],
  ])('knows %s', async (_, value, text, mime) => {
    expect(await body(value)).toEqual([text, mime])
  })

  class Chart {
    title = 'x'
  }
  const cycle: Record<string, unknown> = {}
  cycle.up = [cycle]

  it.each<[string, unknown, string]>([
    ['bytes further down', { a: [new Uint8Array(1)] }, 'the Uint8Array at a/0'],
    ['a Blob further down', new Map([['k', new Blob([])]]), 'the Blob at k'],
    ['a function', { f: () => 1 }, 'the Function at f'],
    ['a live object', new Chart(), 'A live Chart has no bytes'],
    ['a live object further down', [new Chart()], 'the Chart at 0'],
    ['a cycle', cycle, 'the cycle at up/0'],
  ])('refuses %s and names it', async (_, value, message) => {
    await expect(valueAsFile(value)).rejects.toMatchObject({
      code: 'asset_unsupported',
      message: expect.stringContaining(message),
    })
  })

  it('puts references at unsupported values, as configured', async () => {
    const refOf = (path: readonly unknown[]) => `asset://x/content/${path.join('/')}`
    const value = { images: [new Uint8Array(1)], draw: () => 1, chart: new Chart(), n: 1 }
    const { bytes } = await valueAsFile(value, { refOf })
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({
      images: ['asset://x/content/images/0'],
      draw: 'asset://x/content/draw',
      chart: 'asset://x/content/chart',
      n: 1,
    })
    await expect(valueAsFile(new Chart(), { refOf })).rejects.toThrow('A live Chart')
    await expect(valueAsFile(cycle, { refOf })).rejects.toThrow('the cycle at up/0')
  })

  it('reports a value that is nested too deep for the process', async () => {
    let deep: unknown = 1
    for (let i = 0; i < 20_000; i++) deep = [deep]
    const written = await valueAsFile(deep).then(
      ({ bytes }) => bytes.length,
      ({ code }) => code,
    )
    // JSON.stringify has no limit of depth since Node 26.
    const [major = 0] = process.versions.node.split('.').map(Number)
    expect(written).toBe(major < 26 ? 'too_deep' : 40_001)
  })
})
