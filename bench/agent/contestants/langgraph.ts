import { join } from 'node:path'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'
import { add, type Contestant, checkAnswer } from './contestant.ts'

class InstantModel extends BaseChatModel {
  readonly #steps: number
  #turn = 0

  constructor(steps: number) {
    super({})
    this.#steps = steps
  }

  override _llmType() {
    return 'instant'
  }

  override bindTools() {
    return this as never
  }

  override async _generate() {
    const k = this.#turn++
    const message =
      k < this.#steps
        ? new AIMessage({
            content: '',
            tool_calls: [{ id: `c${k}`, name: 'add', args: { a: k, b: 1 }, type: 'tool_call' }],
          })
        : new AIMessage('done')
    return { generations: [{ text: message.text, message }] }
  }
}

const tools = [
  tool(async (input) => add(input), {
    name: 'add',
    description: 'add',
    schema: z.object({ a: z.number(), b: z.number() }),
  }),
]

/** A new saver and a new agent for each run. */
export function langgraph(): Contestant {
  return { run: (steps) => runIn(new MemorySaver(), steps, 't') }
}

/** One saver for all runs. */
export function langgraphSqlite(folder: string): Contestant {
  const file = join(folder, 'langgraph.db')
  const saver = SqliteSaver.fromConnString(file)
  let runs = 0
  return {
    file,
    run: (steps) => runIn(saver, steps, `t${runs++}`),
    async close() {
      saver.db.close()
    },
  }
}

async function runIn(
  checkpointer: BaseCheckpointSaver,
  steps: number,
  thread_id: string,
): Promise<void> {
  const agent = createAgent({ model: new InstantModel(steps), tools, checkpointer })
  const { messages } = await agent.invoke(
    { messages: [{ role: 'user', content: 'go' }] },
    { recursionLimit: 2 * steps + 10, configurable: { thread_id } },
  )
  checkAnswer(messages.at(-1)?.content)
}
