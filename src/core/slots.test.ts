import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Slots } from './slots.ts'

/** Runs everything that does not wait for something else. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('Slots', () => {
  it('forgets a waiter whose signal aborts', async () => {
    const slots = new Slots(1)
    await slots.take()
    const stopped = new AbortController()
    const left = slots.take(stopped.signal)
    const next = slots.take()
    stopped.abort(new Error('stopped'))
    await expect(left).rejects.toThrow('stopped')
    await expect(slots.take(stopped.signal)).rejects.toThrow('stopped')
    slots.free()
    await next
    slots.free()
    expect(slots.tryTake()).toBe(true)
  })

  it('lets groups take turns', async () => {
    const slots = new Slots(1)
    await slots.take()
    const order: string[] = []
    const stopped = new AbortController()
    for (const group of ['a', 'a', 'a', 'b', 'c', 'b']) {
      void slots.take(undefined, group).then(() => order.push(group))
    }
    const left = slots.take(stopped.signal, 'd')
    stopped.abort(new Error('stopped'))
    await expect(left).rejects.toThrow('stopped')
    let group = ''
    for (let i = 0; i < 6; i++) {
      slots.free(group)
      await settle()
      group = order.at(-1) ?? ''
    }
    expect(order.join('')).toBe('abcaba')
    slots.free('a')
    expect(slots.tryTake()).toBe(true)
  })

  it('leaves slots of a busy group to the others', async () => {
    const slots = new Slots(3, 2)
    expect(['a', 'a', 'a', 'b', 'b'].map((group) => slots.tryTake(group))).toEqual([
      ...[true, true, false, true, false],
    ])
    const order: string[] = []
    for (const group of ['a', 'b', 'c']) {
      void slots.take(undefined, group).then(() => order.push(group))
    }
    slots.free('b')
    await settle()
    expect(order).toEqual(['b'])
    slots.free('a')
    await settle()
    expect(order).toEqual(['b', 'a'])
  })

  it('gives out the configured number of slots', () => {
    const slots = new Slots(2)
    expect([slots.tryTake(), slots.tryTake(), slots.tryTake()]).toEqual([true, true, false])
    slots.free()
    expect([slots.tryTake(), slots.tryTake()]).toEqual([true, false])
  })

  it('admits waiters in the order in which they came', async () => {
    const slots = new Slots(1)
    const order: number[] = []
    const waiting = [1, 2, 3].map((i) => slots.take().then(() => order.push(i)))
    await settle()
    expect(order).toEqual([1])
    slots.free()
    expect(slots.tryTake()).toBe(false)
    await settle()
    expect(order).toEqual([1, 2])
    slots.free()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])
    slots.free()
    expect(slots.tryTake()).toBe(true)
  })

  it('gives a free slot to a waiter before it gives it to tryTake', async () => {
    const slots = new Slots(1)
    slots.tryTake()
    const taken = slots.take()
    slots.free()
    expect(slots.tryTake()).toBe(false)
    await taken
  })

  it('is unlimited without a maximum', async () => {
    const slots = new Slots(Infinity)
    await Promise.all(Array.from({ length: 1000 }, () => slots.take()))
    slots.free()
    expect(slots.tryTake()).toBe(true)
  })

  it('never gives out more than it has, and never forgets a waiter', async () => {
    const work = fc.array(fc.nat(3), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), work, async (count, jobs) => {
        const slots = new Slots(count)
        let busy = 0
        let most = 0
        const run = async (turns: number): Promise<void> => {
          if (turns > 1 || !slots.tryTake()) await slots.take()
          most = Math.max(most, ++busy)
          for (let i = 0; i < turns; i++) await null
          busy--
          slots.free()
        }
        await Promise.all(jobs.map(run))
        expect(most).toBeLessThanOrEqual(count)
        expect(Array.from({ length: count }, () => slots.tryTake())).not.toContain(false)
        expect(slots.tryTake()).toBe(false)
      }),
    )
  })
})
