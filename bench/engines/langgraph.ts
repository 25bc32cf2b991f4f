// Agents of LangChain with LangGraph's SQLite saver.
import { join } from 'node:path'
import type { BindToolsInput } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { DeltaValue, MessagesDeltaValue, StateSchema } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { createAgent, fakeModel, tool } from 'langchain'
import { z } from 'zod'
import { byReference } from '../../src/integrations/langchain/index.ts'
import { byrefOptions, callOf, type Engine, type Outcome, type RunOptions } from './engine.ts'

const FILE = 'threads.sqlite'

/**
 * Deltas are an option of LangGraph: checkpoints contain only new messages. By default, every hundredth or thousandth
 * update stores all messages again. Deltas need version 1 of its tool node, because version 2 stores the state with
 * each call.
 */
const { valueSchema, inputSchema, reducer } = MessagesDeltaValue
const deltaState = new StateSchema({
  messages: new DeltaValue(valueSchema, { inputSchema, reducer, snapshotFrequency: 5_000 }),
})

interface Way {
  byref: boolean
  deltas: boolean
}

export const langgraph: readonly Engine[] = [
  engine('bare', 0, { byref: false, deltas: false }),
  engine('byref', 3, { byref: true, deltas: false }),
  engine('bare, deltas', 6, { byref: false, deltas: true }),
  engine('byref, deltas', 9, { byref: true, deltas: true }),
]

function engine(way: string, linesChanged: number, how: Way): Engine {
  const packages = ['langchain', '@langchain/langgraph', '@langchain/langgraph-checkpoint-sqlite']
  const run = (options: RunOptions) => runAgent(how, options)
  return {
    name: `LangGraph, ${way}`,
    linesChanged,
    packages,
    stored: FILE,
    hasLongThreads: true,
    run,
  }
}

async function runAgent(
  { byref, deltas }: Way,
  { workload, folder, onStep, resumes }: RunOptions,
): Promise<Outcome> {
  const work = tool(
    ({ step }) => {
      onStep(step)
      return workload.result(step) as Record<string, unknown>
    },
    { name: 'work', description: 'Works', schema: z.object({ step: z.number() }) },
  )
  const model = fakeModel()
  let tools: readonly BindToolsInput[] = []
  const bindTools = model.bindTools.bind(model)
  model.bindTools = (given) => {
    tools = given
    return bindTools(given)
  }
  // The thread determines the next step, so that a process can continue where another one was killed.
  for (let i = 0; i <= workload.steps; i++)
    model.respond((messages) => answer(messages, workload.steps))
  const refs = byref ? byReference(byrefOptions(folder)) : null
  const agent = createAgent({
    model,
    tools: [work],
    checkpointer: SqliteSaver.fromConnString(join(folder, FILE)),
    // Its types are those of the copy of LangChain at the root.
    middleware: refs ? [refs.middleware as never] : [],
    version: deltas ? 'v1' : 'v2',
    stateSchema: deltas ? deltaState : undefined,
  })
  const input = resumes ? null : { messages: [{ role: 'user', content: 'Work' }] }
  const config = {
    configurable: { thread_id: 't' },
    recursionLimit: 10_000,
    durability: 'sync' as const,
  }
  const { messages } = await agent.invoke(input as never, config)
  const results = messages.filter((one) => ToolMessage.isInstance(one)).map(({ text }) => text)
  return {
    lastPrompt: model.calls.at(-1)?.messages.map(asSent),
    tools: tools.map((one) => convertToOpenAITool(one)),
    results,
    assets: refs?.assets ?? null,
  }
}

function answer(messages: readonly BaseMessage[], steps: number): AIMessage {
  const step = messages.filter((one) => ToolMessage.isInstance(one)).length
  if (step === steps) return new AIMessage({ id: 'last', content: 'Done.' })
  const { id, name, arguments: args } = callOf(step)
  const call = { id, name, args, type: 'tool_call' as const }
  return new AIMessage({ id: `answer-${step}`, content: '', tool_calls: [call] })
}

/** A message as a provider gets it, without what only LangChain stores. */
function asSent(message: BaseMessage): object {
  const { type: role, content } = message
  const { tool_calls, tool_call_id } = message as { tool_calls?: unknown; tool_call_id?: string }
  return { role, content, tool_calls, tool_call_id }
}
