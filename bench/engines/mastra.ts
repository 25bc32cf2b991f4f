// Agents of Mastra, with their memory in LibSQL. It saves the messages of each step.
import { join } from 'node:path'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { byReference } from '../../src/integrations/mastra/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { byrefOptions, callOf, type Engine, type Outcome, type RunOptions } from './engine.ts'

const FILE = 'mastra.sqlite'

export const mastra: readonly Engine[] = [engine('bare', 0, false), engine('byref', 3, true)]

function engine(way: string, linesChanged: number, byref: boolean): Engine {
  const packages = ['@mastra/core', '@mastra/memory', '@mastra/libsql']
  const run = (options: RunOptions) => runAgent(byref, options)
  return {
    name: `Mastra, ${way}`,
    linesChanged,
    packages,
    stored: FILE,
    hasLongThreads: false,
    run,
  }
}

async function runAgent(
  byref: boolean,
  { workload, folder, onStep }: RunOptions,
): Promise<Outcome> {
  const model = scriptedModel(({ prompt }) => {
    const step = prompt.filter(({ role }) => role === 'tool').length
    return step === workload.steps ? 'Done.' : { calls: [callOf(step)] }
  })
  const work = createTool({
    id: 'work',
    description: 'Works',
    inputSchema: z.object({ step: z.number() }),
    async execute({ step }) {
      onStep(step)
      return workload.result(step)
    },
  })
  const refs = byref ? byReference(byrefOptions(folder)) : null
  const options = {
    id: 'worker',
    name: 'Worker',
    instructions: 'Be brief.',
    model,
    tools: { work },
    memory: new Memory({ options: { lastMessages: 10_000 } }),
  }
  // The types of byref are those of the copy of Mastra at the root.
  const agent = new Agent(refs ? (refs.agent(options as never) as typeof options) : options)
  const storage = new LibSQLStore({ id: 'threads', url: `file:${join(folder, FILE)}` })
  new Mastra({ agents: { worker: agent }, storage, logger: false })
  await agent.generate('Work', {
    memory: { thread: 't', resource: 'u' },
    maxSteps: 10_000,
    savePerStep: true,
  })
  const { prompt: lastPrompt = [], tools } = model.requests.at(-1) ?? {}
  const results = lastPrompt.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.map((part) => JSON.stringify(part.type === 'tool-result' ? part.output : part))
      : [],
  )
  return { lastPrompt, tools, results, assets: refs?.assets ?? null }
}
