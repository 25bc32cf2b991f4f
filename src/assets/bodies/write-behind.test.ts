import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writeBehind } from './write-behind.ts'

describe('writeBehind', () => {
  it('writes every byte once and in order, one block at a time, of chunks whose memory is used again', async () => {
    const sizes = fc.array(fc.nat(40), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 16 }), async (sizes, size) => {
        const written: number[] = []
        let atOnce = 0
        const blocks = writeBehind(size, async (block) => {
          expect(++atOnce).toBe(1)
          await setImmediate()
          written.push(...block)
          atOnce--
        })
        const chunk = new Uint8Array(40)
        let next = 0
        for (const length of sizes) {
          for (let i = 0; i < length; i++) chunk[i] = next++
          await blocks.add(chunk.subarray(0, length))
        }
        await blocks.end()
        expect(written).toEqual(Array.from({ length: next }, (_, i) => i % 256))
      }),
      { numRuns: 50 },
    )
  })

  it('rejects with what a write failed with, and settles all the same', async () => {
    const full = new Error('full')
    const blocks = writeBehind(2, async () => {
      throw full
    })
    await blocks.add(Uint8Array.of(1, 2))
    await expect(blocks.add(Uint8Array.of(3, 4))).rejects.toBe(full)
    await blocks.settled()
    const last = writeBehind(4, async () => {
      throw full
    })
    await last.add(Uint8Array.of(1))
    await expect(last.end()).rejects.toBe(full)
  })
})
