import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { add, type Contestant, checkAnswer } from './contestant.ts'
import { instantModel } from './instant-model.ts'

const tools = {
  add: createTool({
    id: 'add',
    description: 'add',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async (input) => add(input),
  }),
}

/** A new agent for each run. It has no memory, which would need a store of its own. */
export function mastra(): Contestant {
  return {
    async run(steps) {
      // It accepts models of interface version 3, whose parts are the same here.
      const model = { ...instantModel(steps), specificationVersion: 'v3' } as never
      const agent = new Agent({ id: 'a', name: 'a', instructions: 'x', model, tools })
      const { text } = await agent.generate('go', { maxSteps: steps + 1 })
      checkAnswer(text)
    },
  }
}
