import { describe, expect, it } from 'vitest'
import { compareTexts, type LinePart, markWords, type TextDifference } from './compare-texts.ts'

/** Restores the two texts from their difference. */
function textsOf({ blocks }: TextDifference): { before: string; after: string } {
  const lines = (side: 'before' | 'after') =>
    blocks.flatMap((block) =>
      block.type === 'same'
        ? block.lines
        : block.rows.flatMap((row) => (row[side] ? [row[side].text] : [])),
    )
  return { before: lines('before').join('\n'), after: lines('after').join('\n') }
}

const marked = (parts: readonly LinePart[]) =>
  parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')

function words(before: string, after: string): string[] {
  const parts = markWords(before, after)
  return [marked(parts.before), marked(parts.after)]
}

describe('compareTexts', () => {
  it('finds a changed, a removed and an added line, with their numbers', () => {
    const found = compareTexts('a\nb\nc\nd\ne', 'a\nB\nc\ne\nf')
    expect(found.blocks).toEqual([
      { type: 'same', before: 1, after: 1, lines: ['a'] },
      {
        type: 'changed',
        rows: [{ before: { number: 2, text: 'b' }, after: { number: 2, text: 'B' } }],
      },
      { type: 'same', before: 3, after: 3, lines: ['c'] },
      { type: 'changed', rows: [{ before: { number: 4, text: 'd' }, after: null }] },
      { type: 'same', before: 5, after: 4, lines: ['e'] },
      { type: 'changed', rows: [{ before: null, after: { number: 5, text: 'f' } }] },
    ])
    expect([found.added, found.removed, found.isCoarse]).toEqual([2, 2, false])
  })

  it.each([
    ['', ''],
    ['', 'a'],
    ['a\n', 'a'],
    ['a\nb', 'a\r\nb'],
    ['x\nx\nx', 'x\nx'],
    ['one\ntwo\nthree\n', 'zero\ntwo\nthree\nfour\n'],
  ])('loses nothing of %j and %j', (before, after) => {
    const found = compareTexts(before, after)
    expect(textsOf(found)).toEqual({ before, after })
    expect(found.blocks.some(({ type }) => type === 'changed')).toBe(before !== after)
  })

  it('finds one change in a text of 5 MB', () => {
    const line = 'The rain of this day was measured at noon.'
    const lines = Array.from({ length: 120_000 }, (_, at) => `${at}: ${line}`)
    const before = lines.join('\n')
    const after = lines.toSpliced(70_000, 1, 'changed').join('\n')
    const found = compareTexts(before, after)
    expect(before.length).toBeGreaterThan(5_000_000)
    expect([found.added, found.removed, found.blocks.length]).toEqual([1, 1, 3])
  })

  it('reports that it did not match the lines of texts that differ everywhere', () => {
    const of = (word: string) => Array.from({ length: 3_000 }, (_, at) => `${word}${at}`).join('\n')
    const found = compareTexts(of('a'), of('b'))
    expect([found.added, found.removed, found.isCoarse]).toEqual([3_000, 3_000, true])
    expect(textsOf(found)).toEqual({ before: of('a'), after: of('b') })
  })
})

describe('markWords', () => {
  it('marks whole words and numbers, in any script', () => {
    expect(words('the sum is 17 mm', 'the sum is 170 mm')).toEqual([
      'the sum is [17] mm',
      'the sum is [170] mm',
    ])
    expect(words('a red and a blue car', 'a green and a grey car')).toEqual([
      'a [red] and a [blue] car',
      'a [green] and a [grey] car',
    ])
    expect(words('stands next to the mill', 'stands behind the mill')).toEqual([
      'stands [next to] the mill',
      'stands [behind] the mill',
    ])
    expect(words('هطل المطر في يناير', 'هطل المطر في مارس')).toEqual([
      'هطل المطر في [يناير]',
      'هطل المطر في [مارس]',
    ])
    expect(words('well done 👍🏽 team', 'well done 👍🏻 team')).toEqual([
      'well done [👍🏽] team',
      'well done [👍🏻] team',
    ])
  })

  it('marks added words, and nothing in lines that have little in common', () => {
    expect(words('port: 80', 'port: 80 # new')).toEqual(['port: 80', 'port: 80[ # new]'])
    expect(words('alpha beta', 'one two three')).toEqual(['alpha beta', 'one two three'])
  })

  it('finds a change in a line of a megabyte', () => {
    const part = '{"day":1,"rain":0.5},'.repeat(50_000)
    const [before = '', after = ''] = words(`${part}"end":1,${part}`, `${part}"end":2,${part}`)
    expect(before).toBe(`${part}"end":[1],${part}`)
    expect(after).toBe(`${part}"end":[2],${part}`)
  })
})
