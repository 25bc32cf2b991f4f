import { z } from 'zod'
import type { BenchTool, Task } from '../play.ts'
import { found, prose } from '../words.ts'

const lines = prose(200_000)
lines[lines.length >> 1] = 'The Enterprise plan costs $4,200 a year for up to 50 seats.'
const page = lines.join('\n')
const fetchPage: BenchTool = {
  id: 'fetch_page',
  description: 'Fetches a web page as text',
  input: z.object({ url: z.string() }),
  execute: () => page,
}
const says = [{ role: 'user', content: 'What does the Enterprise plan of example.com cost?' }]
const call = { calls: [{ name: 'fetch_page', arguments: { url: 'https://example.com/pricing' } }] }
const ANSWER = 'The Enterprise plan costs $4,200 a year, for up to 50 seats.'

/** The model needs one line of a page. */
export const longPage: Task = {
  name: 'long page',
  about: 'one line of a page of 200 kB',
  isLarge: true,
  byref: () => ({
    tools: [fetchPage],
    says,
    answers: [
      call,
      (options) => ({
        calls: [
          {
            name: 'search_asset',
            arguments: { ref: found(options, /(asset:\/\/\w{20,})/), query: 'Enterprise plan' },
          },
        ],
      }),
      ANSWER,
    ],
  }),
  value: () => ({ tools: [fetchPage], says, answers: [call, ANSWER] }),
}
