import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NotJsonError } from '../json/json-walker.ts'
import { leafPieces } from './leaf-pieces.ts'
import { type Piece, pathOf } from './line-pieces.ts'

type Leaf = [path: (string | number)[], text: string]

/** The pieces of a text that arrives in chunks of these lengths, repeated. */
function piecesOf(text: string, lengths: readonly number[]): Piece[] {
  const reader = leafPieces()
  const pieces: Piece[] = []
  for (let at = 0, i = 0; at < text.length; i++) {
    const length = lengths[i % lengths.length] ?? text.length
    pieces.push(...reader.read(text.slice(at, at + length)))
    at += length
  }
  return [...pieces, ...reader.end()]
}

/** The leaves of a value, in order. Null is not a leaf. */
function leavesOf(value: unknown, path: (string | number)[] = []): Leaf[] {
  if (value === null) return []
  if (typeof value !== 'object') return [[path, String(value)]]
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  return keys.flatMap((key) =>
    leavesOf((value as Record<string | number, unknown>)[key], [...path, key]),
  )
}

describe('leafPieces', () => {
  it('yields every leaf at its path, for any chunks and spelling', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
    const space = fc.integer({ min: 0, max: 2 })
    const everyLeaf = fc.property(fc.jsonValue(), lengths, space, (value, lengths, space) => {
      const text = JSON.stringify(value, null, space)
      const leaves = piecesOf(text, lengths).filter(({ isKey }) => !isKey)
      const found = leaves.map(({ field, text }): Leaf => [pathOf(field), text])
      const expected = leavesOf(JSON.parse(text))
      // A text with a line break has more than one piece.
      expect(found.filter(([, one]) => one !== '')).toEqual(
        expected.flatMap(([path, all]) =>
          all
            .split(/\r?\n|\r$/)
            .filter((one) => one !== '')
            .map((one) => [path, one]),
        ),
      )
    })
    fc.assert(everyLeaf)
  })

  it('yields the lines of long texts, also with backslashes at the end of a chunk', () => {
    const value = { text: `one\n${'\\'.repeat(7)}"two`, other: '\\' }
    for (const length of [1, 2, 3, 5, 100]) {
      const pieces = piecesOf(JSON.stringify(value), [length]).filter(({ isKey }) => !isKey)
      expect(pieces.map(({ text, line }) => [line, text])).toEqual([
        [1, 'one'],
        [2, `${'\\'.repeat(7)}"two`],
        [null, '\\'],
      ])
    }
  })

  it('yields each key once', () => {
    const rows = [
      { a: 1, b: { a: 2 } },
      { a: 3, c: 4 },
    ]
    const keys = piecesOf(JSON.stringify(rows), [4]).filter(({ isKey }) => isKey)
    expect(keys.map(({ field }) => pathOf(field))).toEqual([
      [0, 'a'],
      [0, 'b'],
      [1, 'c'],
    ])
  })

  it('rejects text that is not JSON', () => {
    const wrong = ['', '{', '[1,]', '{"a"}', '{"a":1,}', '[1 2]', '1 2', '{a:1}', '[1}', '"a']
    for (const text of [...wrong, '[nul]', '["\\x"]', '{"a":1]', ':', ',', '[tru', 'NaN']) {
      expect(() => piecesOf(text, [2]), text).toThrow(NotJsonError)
    }
  })
})
