import { describe, expect, it } from 'vitest'
import { formatTime } from '../ui/format.ts'
import { markTwins } from './mark-twins.ts'

const at = (minute: number) => `2026-01-01T12:${String(minute).padStart(2, '0')}:00.000Z`
const one = (id: string, title: string | null, minute: number) => ({
  id,
  title,
  createdAt: at(minute),
})

describe('markTwins', () => {
  it('shows when conversations with the same title started, and numbers those from the same minute', () => {
    const marks = markTwins([
      one('c', 'hello', 5),
      one('b', 'hello', 5),
      one('a', 'hello', 1),
      one('d', 'other', 1),
    ])
    expect(Object.fromEntries(marks)).toEqual({
      a: formatTime(at(1)),
      b: formatTime(at(5)),
      c: `${formatTime(at(5))} (2)`,
    })
  })

  it('includes those without a title', () => {
    expect([...markTwins([one('a', null, 1), one('b', null, 2)]).keys()]).toEqual(['a', 'b'])
  })
})
