import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { startLimit } from './timer.ts'

const ANSWER = `
const { parentPort, workerData } = require('node:worker_threads')
parentPort.postMessage('answer')
Atomics.store(workerData, 0, 1)
Atomics.notify(workerData, 0)
`

it('an answer that arrived while the process was busy is in time', async () => {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(ANSWER, { eval: true, workerData: cell })
  const { promise: limit, resolve } = Promise.withResolvers<string>()
  const stop = startLimit(100, () => resolve('too late'))
  const answer = once(worker, 'message').then(([message]) => message)
  setImmediate(() => {
    Atomics.wait(cell, 0, 0)
    Atomics.wait(cell, 0, 1, 300)
  })
  expect(await Promise.race([limit, answer])).toBe('answer')
  stop()
})

it('a limit ends while nothing else happens', async () => {
  await new Promise<void>((resolve) => void startLimit(10, resolve))
})
