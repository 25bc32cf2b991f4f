import { describe, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { errorMessage } from '../core/errors.ts'
import { testBoundary } from '../testing/boundary.ts'
import { createBoundary } from './boundary.ts'
import { defineTool, type Tool } from './tool.ts'
import { createResultSource } from './value-source.ts'

describe('createBoundary', () => {
  testBoundary(async (tools) => {
    const assets = createAssets()
    const boundary = createBoundary({ assets })
    const history: unknown[] = []
    return {
      assets,
      async call(name, args) {
        const plain = tools.find((one) => one.name === name)
        const inputSchema = plain?.parameters ?? {}
        const tool = defineTool({ id: name, description: '', inputSchema }) as Tool
        const call = { tool: name, toolCallId: `c${history.length}` }
        try {
          const values = createResultSource(history, assets)
          const resolved = await boundary.resolve({ tool, arguments: args }, values)
          const result = await boundary.withInput(
            { tool, arguments: resolved.arguments },
            (input) => plain?.run(input as Record<string, unknown>),
          )
          const { value } = await boundary.offload(call, await boundary.store(call, result))
          history.push(value)
          const { item } = boundary.show({ id: '', name }, value, history.length)
          return JSON.stringify(item.output.value)
        } catch (error) {
          return errorMessage(error)
        }
      },
    }
  }, it)
})
