import {
  BaseLlm,
  type BaseLlmConnection,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  type LlmResponse,
  LogLevel,
  setLogLevel,
} from '@google/adk'
import { z } from 'zod'
import { add, type Contestant, checkAnswer } from './contestant.ts'

class InstantModel extends BaseLlm {
  readonly #steps: number
  #turn = 0

  constructor(steps: number) {
    super({ model: 'instant' })
    this.#steps = steps
  }

  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    const k = this.#turn++
    const part =
      k < this.#steps
        ? { functionCall: { id: `c${k}`, name: 'add', args: { a: k, b: 1 } } }
        : { text: 'done' }
    yield { content: { role: 'model', parts: [part] } }
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error('not used')
  }
}

const tools = [
  new FunctionTool({
    name: 'add',
    description: 'add',
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: async (input) => add(input),
  }),
]

/** A new runner, with its services in memory, for each run. */
export function googleAdk(): Contestant {
  setLogLevel(LogLevel.ERROR)
  return {
    async run(steps) {
      const agent = new LlmAgent({
        name: 'a',
        model: new InstantModel(steps),
        instruction: 'x',
        tools,
      })
      const runner = new InMemoryRunner({ agent, appName: 'app' })
      const { id } = await runner.sessionService.createSession({ appName: 'app', userId: 'u' })
      let text: unknown
      for await (const event of runner.runAsync({
        userId: 'u',
        sessionId: id,
        newMessage: { role: 'user', parts: [{ text: 'go' }] },
        runConfig: { maxLlmCalls: steps + 1 },
      })) {
        text = event.content?.parts?.[0]?.text
      }
      checkAnswer(text)
    },
  }
}
