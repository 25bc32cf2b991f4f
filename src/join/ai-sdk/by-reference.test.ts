import { generateText, isStepCount, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PNG } from '../../assets/fixtures/stores.ts'
import { byReference } from './by-reference.ts'
import { answeringModel, calls } from './fixtures/models.ts'

const rows = Array.from({ length: 3000 }, (_, i) => ({ id: i, name: `Row number ${i}` }))

describe('try', () => {
  it('works', async () => {
    const refs = byReference({ capabilities: { takes: ['image/*'] } })
    const seen: unknown[] = []
    const tools = refs.tools({
      weather: tool({
        inputSchema: z.object({ city: z.string() }),
        execute: ({ city }) => ({ city, temperature: 21 }),
      }),
      table: tool({ inputSchema: z.object({}), execute: () => rows }),
      photo: tool({
        inputSchema: z.object({}),
        execute: () => ({ caption: 'x', image: new Uint8Array(PNG) }),
      }),
      look: tool({
        inputSchema: z.object({
          rows: z.array(z.unknown()),
          n: z.number(),
          image: z.custom<Uint8Array>().meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' }),
        }),
        execute: (input) => {
          seen.push(input)
          return 'ok'
        },
      }),
    })
    const model = answeringModel([
      calls(['weather', { city: 'Oslo' }], ['table', {}], ['photo', {}]),
      calls(['look', { rows: '†result#2', n: '†result#1.temperature', image: '†result#3.image.assetRef' }]),
      'Done.',
    ])
    const { text, steps } = await generateText({
      model: refs.model(model),
      tools,
      prompt: 'go',
      stopWhen: isStepCount(5),
    })
    console.log(text, JSON.stringify(model.requests.at(-1)?.prompt, null, 1).slice(0, 9000))
    console.log(JSON.stringify(model.requests.map((r) => r.tools)).slice(0, 5000))
    console.log(seen[0] && Object.keys(seen[0]), (seen[0] as any)?.rows?.length, (seen[0] as any)?.image)
  })
})
