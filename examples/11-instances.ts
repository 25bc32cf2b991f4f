// 100 comments moderated in one request: each is an instance, and gets its own answer.
import { request } from 'byref'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const comments = Array.from({ length: 100 }, (_, i) => ({
  id: `c${i + 1}`,
  text: i % 10 === 3 ? 'BUY NOW, best prices!!!' : `I liked part ${i + 1} of the film.`,
}))

const { output, usage } = await request(
  {
    // A real model would read the comments. This script looks for exclamation marks.
    model: scriptedModel([
      {
        text: JSON.stringify({
          results: comments.map(({ id, text }) => {
            const spam = text.includes('!!!')
            return { _instance: id, output: spam ? { spam, why: 'advertising' } : { spam } }
          }),
        }),
        usage: { inputTokens: 4200, outputTokens: 1900 },
      },
    ]),
    instances: true,
  },
  z.object({ spam: z.boolean(), why: z.string().optional() }),
  [
    { type: 'text', text: 'Which comments are spam?' },
    ...comments.map(({ id, text }) => {
      return { type: 'data', kind: 'comment', _instance: id, data: { text } } as const
    }),
  ],
)
const spam = Object.entries(output).filter(([, verdict]) => verdict.spam)
console.log(`${spam.length} of ${Object.keys(output).length} are spam: ${spam.map(([id]) => id)}`)
console.log(`one request, ${usage.inputTokens} tokens in`)
