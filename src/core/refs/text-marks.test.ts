import { describe, expect, it } from 'vitest'
import { findTextMarks, variablesInText } from './text-marks.ts'

/** Returns what is found, as types and texts. */
const found = (text: string): string[] =>
  findTextMarks(text).map(({ type, start, end }) => `${type} ${text.slice(start, end)}`)

describe('findTextMarks', () => {
  it('finds variables and assets between marks, in their order', () => {
    expect(found('a <|†state.total|> b <| †a.x || †b["|>"] |> c <|asset://t/content|>')).toEqual([
      'variable <|†state.total|>',
      'variable <| †a.x || †b["|>"] |>',
      'asset <|asset://t/content|>',
    ])
    expect(variablesInText('<|†a.x && †b|> and †c')).toEqual(['†a.x && †b'])
  })

  it('finds variables without marks, to their full length', () => {
    expect(found('The sum is †state.items[0]["odd key"]. See (†user#a.name), †user.')).toEqual([
      'bare †state.items[0]["odd key"]',
      'bare †user#a.name',
      'bare †user',
    ])
    expect(found('born †1540, † 1600')).toEqual([])
  })

  it('ignores incomplete marks', () => {
    expect(found('<|†state.total and <†state.total|>')).toEqual([
      'bare †state.total',
      'bare †state.total',
    ])
    expect(found('<|†state\n|>')).toEqual(['bare †state'])
  })

  it('ignores code and what a backslash makes literal', () => {
    expect(found('`<|†state|>` and ~~~\n')).toEqual([])
    expect(found('```\n<|†state|> †state\n```\n<|†state|>')).toEqual(['variable <|†state|>'])
    expect(found('a \\†state b')).toEqual(['escape \\'])
    expect(found('\\<|†state|>')).toEqual(['bare †state'])
  })

  it('finds nothing inside a reference to an asset', () => {
    const ref = '<|{"asset_id": "a", "field_path": ["content", "†state `"]}|>'
    expect(found(`${ref} <|†a|> \``)).toEqual([`asset ${ref}`, 'variable <|†a|>'])
  })

  it('takes linear time for hostile text', () => {
    for (const piece of ['<|†a', '†a["', '\\†', '<|†a || ', '`†a', '<|{"asset_id":"†']) {
      expect(findTextMarks(piece.repeat(100_000)).length).toBeLessThanOrEqual(100_000)
    }
  })
})
