import { describe, expect, it } from 'vitest'
import { FieldPathError, resolveFieldPath } from './field-path.ts'

class Chart {
  title = 'Rain'
  #secret = 'hidden'
  get area() {
    return this.#secret
  }
  draw() {
    return 'drawn'
  }
}

const asset = {
  asset_id: 'chart7',
  content_type: "<class 'dict'>",
  content: { series: [{ label: 'a' }, { label: null }], 'odd/key': { '': 1 } },
}

function failure(value: unknown, path: (string | number)[]): FieldPathError {
  try {
    resolveFieldPath(value, path)
  } catch (error) {
    if (error instanceof FieldPathError) return error
  }
  throw new Error(`${JSON.stringify(path)} did not fail`)
}

describe('resolveFieldPath', () => {
  it.each<[unknown, (string | number)[], unknown]>([
    [asset, [], asset],
    [asset, ['content', 'series', 0, 'label'], 'a'],
    [asset, ['content', 'series', '0', 'label'], 'a'],
    [asset, ['content', 'series', 1, 'label'], null],
    [asset, ['content', 'odd/key', ''], 1],
    [{ 0: 'zero' }, [0], 'zero'],
    [{ 0: 'zero' }, ['0'], 'zero'],
    [new Map<unknown, unknown>([['k', new Map([[0, 'zero']])]]), ['k', '0'], 'zero'],
    [new Map([['0', 'text']]), [0], 'text'],
    [new Float32Array([1.5, 2]), [1], 2],
    [new BigInt64Array([7n]), ['0'], 7n],
    [Buffer.from('AB'), [1], 66],
    [new Chart(), ['title'], 'Rain'],
    [Object.assign(Object.create(null), { a: 1 }), ['a'], 1],
    [JSON.parse('{"__proto__":{"constructor":1}}'), ['__proto__', 'constructor'], 1],
    [{ undefinedValue: undefined }, ['undefinedValue'], undefined],
  ])('%#: reads own data', (value, path, found) => {
    expect(resolveFieldPath(value, path)).toEqual(found)
  })

  it.each<[unknown, (string | number)[]]>([
    [{}, ['__proto__']],
    [{}, ['constructor']],
    [{}, ['toString']],
    [[], ['length']],
    [['a'], ['-1']],
    [['a'], [1]],
    [['a'], ['00']],
    [new Array(3), [0]],
    ['text', [0]],
    ['text', ['length']],
    [null, ['a']],
    [undefined, ['a']],
    [7, ['toFixed']],
    [new Chart(), ['area']],
    [new Chart(), ['draw']],
    [{ run() {} }, ['run']],
    [
      {
        get body() {
          throw new Error('a getter was run')
        },
      },
      ['body'],
    ],
    [Object.defineProperty({}, 'hidden', { value: 1 }), ['hidden']],
    [new Map(), ['size']],
    [new Set(['a']), ['a']],
    [new Uint8Array(2), ['buffer']],
    [new Uint8Array(2), [2]],
    [new DataView(new ArrayBuffer(2)), [0]],
    [new Date(0), ['getTime']],
    [Object.create({ inherited: 1 }), ['inherited']],
  ])('%#: reaches nothing else', (value, path) => {
    expect(() => resolveFieldPath(value, path)).toThrow(FieldPathError)
  })

  it('names the longest prefix that exists and the keys there', () => {
    const error = failure(asset, ['content', 'series', 0, 'lable'])
    expect(error.message).toBe('asset://chart7/content/series/0 has no "lable"; it has 1: "label".')
    expect(error).toMatchObject({
      code: 'field_not_found',
      path: ['content', 'series', 0, 'lable'],
      prefix: ['content', 'series', 0],
    })
    expect(failure(asset, ['content', 'series', 5]).message).toBe(
      'asset://chart7/content/series has no 5; it is a list of 2, from 0.',
    )
    expect(failure(asset, ['content', 'series', 0, 'label', 'x']).message).toBe(
      'asset://chart7/content/series/0/label is string and has no "x".',
    )
    expect(failure(asset, ['content', 'series', 1, 'label', 'x']).message).toContain('is null')
    expect(failure({}, ['a']).message).toBe('value has no "a"; it has 0.')
  })

  it('names keys of a Map that JSON does not have', () => {
    const keys = [1n, undefined, Symbol('x'), { a: 1 }]
    const error = failure({ a: new Map(keys.map((key) => [key, 1])) }, ['a', 'x'])
    expect(error.message).toBe('value/a has no "x"; it has 4: bigint, undefined, symbol, {"a":1}.')
  })

  it.each(['', 'x'])('splits no character of a long key: %j', (before) => {
    const key = `${before}${'😀'.repeat(100)}`
    expect(failure({ a: { [key]: 1 } }, ['a', 'x']).message.isWellFormed()).toBe(true)
  })

  it('names at most 20 keys, and how many there are', () => {
    const error = failure(
      { a: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i])) },
      ['a', 'x'],
    )
    expect(error.message).toContain('it has 1000: "k0", "k1"')
    expect(error.message).toContain('"k19", …')
  })

  it("reports what the reference's own URLs should have been", () => {
    const image = { asset_id: 'the_asset_id', content_type: 'x', content: { path: { to: 1 } } }
    expect(failure(image, ['path', 'to', 'the', 'image', 'object']).message).toContain(
      'Did you mean asset://the_asset_id/content/path/to/the/image/object?',
    )
    expect(failure(asset, ['series', 0]).message).toContain(
      'Did you mean asset://chart7/content/series/0?',
    )
    expect(failure(asset, ['content', 'x']).message).not.toContain('Did you mean')
  })

  it('formats paths as configured', () => {
    const format = (path: readonly (string | number)[]) => ['root', ...path].join(' > ')
    expect(() => resolveFieldPath({ a: {} }, ['a', 'b'], { format })).toThrow('root > a has no "b"')
  })
})
