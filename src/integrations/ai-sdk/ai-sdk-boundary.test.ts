import { generateText, isStepCount, jsonSchema, type ModelMessage, tool } from 'ai'
import { describe, it } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { testBoundary } from '../../testing/boundary.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { byReference } from './by-reference.ts'

describe('byReference', () => {
  testBoundary(async (plain) => {
    const assets = createAssets()
    const refs = byReference({ assets })
    const tools = Object.fromEntries(
      plain.map(({ name, parameters, run }) => {
        const inputSchema = jsonSchema<Record<string, unknown>>(parameters)
        return [name, tool({ inputSchema, execute: (input) => run(input) })]
      }),
    )
    const messages: ModelMessage[] = [{ role: 'user', content: 'Go' }]
    return {
      assets,
      async call(name, args) {
        const id = `c${messages.length}`
        const model = scriptedModel([{ calls: [{ id, name, arguments: args as never }] }, 'Done.'])
        const given = { model: refs.model(model), tools: refs.tools(tools), messages }
        const result = await generateText({ ...given, stopWhen: isStepCount(3) })
        messages.push(...result.responseMessages)
        const results = model.requests.at(-1)?.prompt.filter(({ role }) => role === 'tool')
        return JSON.stringify(results?.at(-1)?.content)
      },
    }
  }, it)
})
