import { Agent, type Model, run, setTracingDisabled, tool, Usage } from '@openai/agents'
import { z } from 'zod'
import { add, type Contestant, checkAnswer } from './contestant.ts'

const tools = [
  tool({
    name: 'add',
    description: 'add',
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: async (input) => add(input),
  }),
]

/** A new agent for each run, without tracing. */
export function openaiAgents(): Contestant {
  setTracingDisabled(true)
  return {
    async run(steps) {
      const agent = new Agent({ name: 'a', instructions: 'x', model: instantModel(steps), tools })
      const { finalOutput } = await run(agent, 'go', { maxTurns: steps + 1 })
      checkAnswer(finalOutput)
    },
  }
}

function instantModel(steps: number): Model {
  let turn = 0
  return {
    async getResponse() {
      const k = turn++
      return {
        usage: new Usage({ inputTokens: 1, outputTokens: 1, totalTokens: 2 }),
        output: [
          k < steps
            ? {
                type: 'function_call',
                id: `f${k}`,
                callId: `c${k}`,
                name: 'add',
                status: 'completed',
                arguments: JSON.stringify({ a: k, b: 1 }),
              }
            : {
                type: 'message',
                id: `m${k}`,
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: 'done' }],
              },
        ],
      }
    },
    // biome-ignore lint/correctness/useYield: the interface asks for it; only getResponse is called
    async *getStreamedResponse() {
      throw new Error('not used')
    },
  }
}
