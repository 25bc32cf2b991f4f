// Loops of the AI SDK. Their messages are in a file to which each step is appended.
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateText, isStepCount, type ModelMessage, tool } from 'ai'
import { z } from 'zod'
import { byReference } from '../../src/integrations/ai-sdk/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { byrefOptions, callOf, type Engine, type Outcome, type RunOptions } from './engine.ts'

const FILE = 'messages.jsonl'

export const aiSdk: readonly Engine[] = [engine('bare', 0, false), engine('byref', 4, true)]

function engine(way: string, linesChanged: number, byref: boolean): Engine {
  const run = (options: RunOptions) => runLoop(byref, options)
  return {
    name: `AI SDK, ${way}`,
    linesChanged,
    packages: ['ai'],
    stored: FILE,
    hasLongThreads: true,
    run,
  }
}

async function runLoop(
  byref: boolean,
  { workload, folder, onStep, resumes }: RunOptions,
): Promise<Outcome> {
  const file = join(folder, FILE)
  const model = scriptedModel(({ prompt }) => {
    const step = prompt.filter(({ role }) => role === 'tool').length
    return step === workload.steps ? 'Done.' : { calls: [callOf(step)] }
  })
  const work = tool({
    description: 'Works',
    inputSchema: z.object({ step: z.number() }),
    execute({ step }) {
      onStep(step)
      return workload.result(step)
    },
  })
  const refs = byref ? byReference({ ...byrefOptions(folder), outputs: 'references' }) : null
  const tools = { work }
  const saved = resumes ? readFileSync(file, 'utf8').trim().split('\n') : []
  const before: ModelMessage[] = saved.map((line) => JSON.parse(line))
  const messages = [{ role: 'user', content: 'Work' } as const, ...before]
  const { responseMessages } = await generateText({
    // byref's types are those of the copy of the AI SDK at the root.
    model: refs ? (refs.model(model) as typeof model) : model,
    tools: refs ? (refs.tools(tools as never) as typeof tools) : tools,
    messages,
    stopWhen: isStepCount(10_000),
    onStepEnd: ({ response }) =>
      appendFileSync(file, response.messages.map((one) => `${JSON.stringify(one)}\n`).join('')),
  })
  const results = [...messages, ...responseMessages].flatMap(({ role, content }) =>
    role === 'tool'
      ? content.map((part) => JSON.stringify(part.type === 'tool-result' ? part.output : part))
      : [],
  )
  const { prompt: lastPrompt, tools: lastTools } = model.requests.at(-1) ?? {}
  return { lastPrompt, tools: lastTools, results, assets: refs?.assets ?? null }
}
