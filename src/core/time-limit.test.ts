import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { withinTime } from './time-limit.ts'

const cell = new Int32Array(new SharedArrayBuffer(4))

/** Returns work during which the machine does something else for a time. */
function slowedBy(ms: number): () => { starts: number } {
  let starts = 0
  return () => {
    if (++starts > 10) throw new Error('it starts again and again')
    Atomics.wait(cell, 0, 0, ms)
    return { starts }
  }
}

it('gives work more time whenever a busy machine has stopped it', () => {
  expect(withinTime(20, slowedBy(100))?.starts).toBeGreaterThan(1)
})

it('stops work that takes long also on a busy machine', () => {
  const wait = slowedBy(100)
  const work = () => {
    wait()
    for (;;);
  }
  expect(withinTime(100, work)).toBeNull()
})

it('does not count the time of other threads', async () => {
  const busy = new Worker('for (;;);', { eval: true })
  await once(busy, 'online')
  expect(withinTime(50, slowedBy(100))).not.toBeNull()
  await busy.terminate()
})
