import { describe, expect, it } from 'vitest'
import { findJsonProblem } from './json-problem.tsx'

describe('findJsonProblem', () => {
  it.each([
    ['', 1, 1, 'value expected'],
    ['hello', 1, 1, 'invalid symbol'],
    ['{"a": 1', 1, 8, 'close brace expected'],
    ['{\n  "a": 1,\n}', 3, 1, 'property name expected'],
    ['[1, 2\n3]', 2, 1, 'comma expected'],
    ['{"a": "b\n"}', 1, 7, 'unexpected end of string'],
    ['// no\n1', 1, 1, 'invalid comment token'],
    ['{} {}', 1, 4, 'end of file expected'],
  ])('finds the place in %j', (text, line, column, what) => {
    expect(findJsonProblem(text)).toMatchObject({ line, column, what })
  })

  it('finds none in JSON', () => {
    for (const text of ['{"a": [1, null]}', ' 0 ', '"x"']) expect(findJsonProblem(text)).toBeNull()
  })
})
