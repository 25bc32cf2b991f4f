import { describe, expect, it } from 'vitest'
import { tableShape } from './table-shape.ts'

const columns = { 'content/columns/0/name': 'a', 'content/columns/1/name': 'b' }

describe('tableShape', () => {
  it('takes the number of rows from the note about the cut, else counts them', () => {
    const cut = { ...columns, 'content/rows': "<class 'list'>", 'content/rows/0': "<class 'dict'>" }
    expect(tableShape({ ...cut, 'content/rows/1': '<cut from 1461 items>' })).toBe(
      '1,461 rows × 2 columns',
    )
    expect(tableShape(cut)).toBe('1 row × 2 columns')
    expect(tableShape({ ...columns, 'content/rows': "<class 'list'>" })).toBe('0 rows × 2 columns')
  })

  it('counts the columns of a wide table by the mark of the cut', () => {
    const cut = { ...columns, 'content/columns/2': '<cut from 200 items>' }
    expect(tableShape({ ...cut, 'content/rows': "<class 'list'>" })).toBe('0 rows × 200 columns')
  })

  it('is null for anything else', () => {
    expect(tableShape({ content: "<class 'Uint8Array'>" })).toBeNull()
  })
})
