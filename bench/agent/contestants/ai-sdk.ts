import { generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'
import { add, type Contestant, checkAnswer } from './contestant.ts'
import { instantModel } from './instant-model.ts'

const tools = {
  add: tool({
    description: 'add',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async (input) => add(input),
  }),
}

/** It stores nothing: the caller does. */
export function aiSdkGenerate(): Contestant {
  return {
    async run(steps) {
      const { text } = await generateText({
        model: instantModel(steps),
        tools,
        prompt: 'go',
        stopWhen: isStepCount(steps + 1),
      })
      checkAnswer(text)
    },
  }
}

/** The same, with the model's stream. */
export function aiSdkStream(): Contestant {
  return {
    async run(steps) {
      const { text } = streamText({
        model: instantModel(steps),
        tools,
        prompt: 'go',
        stopWhen: isStepCount(steps + 1),
      })
      checkAnswer(await text)
    },
  }
}
