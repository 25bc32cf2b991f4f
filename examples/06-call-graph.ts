// Calls of one answer can depend on each other: each starts when the values that it reads are there.
import { setTimeout as sleep } from 'node:timers/promises'
import { createAgent, defineTool } from 'byref'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const started = Date.now()
const note = (text: string): void =>
  console.log(`${Math.round((Date.now() - started) / 50) * 50} ms`, text)

const fetchPrice = defineTool({
  id: 'fetch_price',
  description: 'Looks up a price',
  inputSchema: z.object({ of: z.string() }),
  idempotent: true,
  async execute({ of }) {
    note(`fetch ${of}`)
    await sleep(100)
    return { tea: 3, cake: 5, milk: 1 }[of] ?? 0
  },
})
const add = defineTool({
  id: 'add',
  description: 'Adds numbers',
  inputSchema: z.object({ numbers: z.array(z.number()) }),
  execute({ numbers }) {
    note(`add ${numbers.join(' + ')}`)
    return numbers.reduce((sum, number) => sum + number, 0)
  },
})
const model = scriptedModel([
  {
    calls: [
      { name: 'fetch_price', arguments: { of: 'tea', _outputPath: '†state.tea' } },
      { name: 'fetch_price', arguments: { of: 'cake', _outputPath: '†state.cake' } },
      {
        name: 'add',
        arguments: { numbers: ['†state.tea', '†state.cake'], _outputPath: '†state.sum' },
      },
      // A mapped call: it runs the tool once for each item.
      { name: 'fetch_price', arguments: { _each: ['tea', 'milk'], of: '†item' } },
    ],
  },
  'Tea and cake are 8.',
])
const agent = createAgent({ model, tools: [fetchPrice, add] })
const run = agent.run({ messages: [{ role: 'user', content: 'What do tea and cake cost?' }] })
console.log((await run.result).text)
for (const { content, metadata } of run.messages) {
  if (metadata.tool_result) console.log(JSON.stringify(content))
}
