import { expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

const assets = createAssets()
const { ref } = await assets.save(Buffer.from('the whole text'), 'text/plain')

it.each([
  { name: 'fetch_asset', arguments: { ref } },
  { name: 'search_asset', arguments: { ref, query: 'whole' } },
  { name: 'save_asset', arguments: { name: 'a.txt', text: 'the whole text' } },
  { name: 'query_tables', arguments: { sql: 'select 1 as one' } },
] as const)('runs $name again if a crash interrupted it', async (call) => {
  const tools = [call.name]
  const whole = createMemoryLog()
  const first = createAgent({
    model: scriptedModel([{ calls: [call] }, 'Done.']),
    tools,
    assets,
    log: whole,
  })
  await first.run({ conversation: 'c', messages: 'go' }).result
  const events = (await whole.read('c')).map(({ event }) => event)
  const started = events.findIndex(({ type }) => type === 'TOOL_STARTED')

  const log = createMemoryLog()
  await log.append('c', events.slice(0, started + 1), { after: 0 })
  const second = createAgent({ model: scriptedModel(['Done.']), tools, assets, log })
  await second.resume('c').result
  const { messages = [] } = (await second.conversation('c')) ?? {}
  const results = messages.flatMap(({ metadata }) => metadata.tool_result ?? [])
  expect(results).toHaveLength(1)
  expect(results[0]?.error).toBeUndefined()
})
