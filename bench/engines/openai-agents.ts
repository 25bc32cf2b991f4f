// Agents of the OpenAI Agents SDK. The state of the run is in a file that is written before each call of the model.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Agent,
  type AgentOutputItem,
  type Model,
  RunContext,
  RunState,
  run,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents'
import { z } from 'zod'
import { byReference } from '../../src/integrations/openai-agents/index.ts'
import {
  byrefOptions,
  callOf,
  type Engine,
  type Outcome,
  type RunOptions,
  replaceFile,
} from './engine.ts'

const FILE = 'state.json'

export const openaiAgents: readonly Engine[] = [engine('bare', 0, false), engine('byref', 3, true)]

function engine(way: string, linesChanged: number, byref: boolean): Engine {
  const packages = ['@openai/agents']
  // Each step writes and checks the whole state.
  const run = (options: RunOptions) => runAgent(byref, options)
  return {
    name: `OpenAI Agents, ${way}`,
    linesChanged,
    packages,
    stored: FILE,
    hasLongThreads: false,
    run,
  }
}

async function runAgent(
  byref: boolean,
  { workload, folder, onStep, resumes }: RunOptions,
): Promise<Outcome> {
  setTracingDisabled(true)
  const file = join(folder, FILE)
  const { model, last } = modelOf(workload.steps)
  const work = tool({
    name: 'work',
    description: 'Works',
    parameters: z.object({ step: z.number() }),
    execute({ step }) {
      onStep(step)
      return workload.result(step)
    },
  })
  const bare = new Agent({ name: 'Worker', instructions: 'Be brief.', model, tools: [work] })
  const refs = byref ? byReference(byrefOptions(folder)) : null
  // The types of byref are those of the copy of the SDK at the root.
  const agent = refs ? (refs.agent(bare as never) as typeof bare) : bare
  const state = resumes
    ? await RunState.fromString(agent, readFileSync(file, 'utf8'))
    : new RunState(new RunContext(), 'Work', agent, 10_000)
  const { history } = await run(agent, state, {
    maxTurns: 10_000,
    callModelInputFilter({ modelData }) {
      replaceFile(file, state.toString())
      return modelData
    },
  })
  const results = history.flatMap((item) =>
    item.type === 'function_call_result' ? [JSON.stringify(item.output)] : [],
  )
  return { ...last(), results, assets: refs?.assets ?? null }
}

/** A model that calls `work` for each step, and keeps its last request. */
function modelOf(steps: number) {
  let last: Pick<Outcome, 'lastPrompt' | 'tools'> = { lastPrompt: null, tools: null }
  const model: Model = {
    async getResponse({ input, systemInstructions, tools }) {
      last = { lastPrompt: [systemInstructions, input], tools }
      const items = typeof input === 'string' ? [] : input
      const step = items.filter(({ type }) => type === 'function_call_result').length
      return { usage: new Usage(), output: [step === steps ? DONE : asItem(step)] }
    },
    // biome-ignore lint/correctness/useYield: only getResponse is called
    async *getStreamedResponse() {
      throw new Error('not used')
    },
  }
  return { model, last: () => last }
}

const DONE: AgentOutputItem = {
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Done.' }],
}

function asItem(step: number): AgentOutputItem {
  const { id: callId, name, arguments: args } = callOf(step)
  return { type: 'function_call', callId, name, arguments: JSON.stringify(args) }
}
