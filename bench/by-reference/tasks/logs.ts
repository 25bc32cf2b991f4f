import { z } from 'zod'
import type { BenchTool, Task } from '../play.ts'
import { found } from '../words.ts'

const log = Array.from({ length: 5000 }, (_, i) => {
  const time = new Date(Date.UTC(2026, 0, 1) + i * 17_000).toISOString()
  const event =
    i % 613 === 400
      ? 'ERROR payment failed: card declined'
      : `INFO request ${i} served in ${(i * 37) % 300} ms`
  return `${time} ${event}`
}).join('\n')
const readLog: BenchTool = {
  id: 'read_log',
  description: 'Reads the log of a service for a day',
  input: z.object({ service: z.string(), day: z.string() }),
  execute: () => log,
}
const says = [
  { role: 'user', content: 'How often did a payment fail on January 1st, and when first?' },
]
const call = {
  calls: [{ name: 'read_log', arguments: { service: 'payments', day: '2026-01-01' } }],
}
const ANSWER = 'Payments failed 8 times, first at 01:53:20 UTC.'

/** Finds a few lines among thousands. */
export const logs: Task = {
  name: 'logs',
  about: 'eight lines of a log of 5,000 (270 kB)',
  isLarge: true,
  byref: () => ({
    tools: [readLog],
    says,
    answers: [
      call,
      (options) => ({
        calls: [
          {
            name: 'search_asset',
            arguments: { ref: found(options, /(asset:\/\/\w{20,})/), query: 'payment failed' },
          },
        ],
      }),
      ANSWER,
    ],
  }),
  value: () => ({ tools: [readLog], says, answers: [call, ANSWER] }),
}
