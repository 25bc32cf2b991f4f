import { describe, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { defineTool, type Tool } from '../boundary/tool.ts'
import { testBoundary } from '../testing/boundary.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

describe('createAgent', () => {
  testBoundary(async (plain) => {
    const assets = createAssets()
    const turns: ScriptedTurn[] = []
    const model = scriptedModel(turns)
    const tools = plain.map(({ name, parameters, run }) =>
      defineTool({
        id: name,
        description: name,
        inputSchema: parameters,
        execute: (input) => run(input as Record<string, unknown>),
      }),
    ) as Tool[]
    const agent = createAgent({ model, assets, tools })
    return {
      assets,
      async call(name, args) {
        turns.push({ calls: [{ name, arguments: args }] }, 'Done.')
        await agent.run({ conversation: 'c', messages: 'Go' }).result
        const results = model.requests.at(-1)?.prompt.filter(({ role }) => role === 'tool')
        return JSON.stringify(results?.at(-1)?.content)
      },
    }
  }, it)
})
