import { describe, expect, it } from 'vitest'
import { linePieces } from './line-pieces.ts'
import { createMatcher } from './matcher.ts'

const slow = { query: '(a+)+$', regex: true }
const hard = linePieces().read(`${'a'.repeat(50)}!\n`)
const easy = linePieces().read(`${'a'.repeat(12)}!\n`)

describe('createMatcher', () => {
  it('has a limit for one block, and for all together', async () => {
    const one = await createMatcher(slow, { blockMs: 1 })
    await expect(one.match(hard, 1)).rejects.toMatchObject({ code: 'tool_timeout' })
    await one.close()
    const all = await createMatcher(slow, { blockMs: 60_000, totalMs: 60_000 })
    expect(await all.match(easy, 1)).toEqual([])
    await all.close()
    const short = await createMatcher(slow, { totalMs: 1 })
    await expect(short.match(hard, 1)).rejects.toMatchObject({ code: 'tool_timeout' })
    await short.close()
  })

  it('finds at most the requested number of matches', async () => {
    const matcher = await createMatcher({ query: 'x' })
    const pieces = linePieces().read('x\n-\n-x\nx\n')
    expect(await matcher.match(pieces, 2)).toEqual([
      { index: 0, start: 0, length: 1 },
      { index: 2, start: 1, length: 1 },
    ])
    await matcher.close()
  })
})
