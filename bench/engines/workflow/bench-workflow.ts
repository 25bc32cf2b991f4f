import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { WorkflowAgent } from '@ai-sdk/workflow'
import { isStepCount } from 'ai'
import { z } from 'zod'
import { durableOptions, type StepRequest } from '../../../src/integrations/workflow/index.ts'

/** The values that `../workflow.ts` shares with steps, which are in a separate bundle. */
export interface Bench {
  model: LanguageModelV4
  work(input: { step: number }): unknown
  agent(request: StepRequest): Promise<unknown>
}

export const BENCH = Symbol.for('byref-bench')
const bench = (): Bench => Reflect.get(globalThis, BENCH)

const ASKED = { prompt: 'Work', stopWhen: isStepCount(10_000) }

/** A model that can be passed to a step, like the models of the AI SDK's providers. */
class ScriptedModel {
  static [Symbol.for('workflow-serialize')]() {
    return {}
  }

  static [Symbol.for('workflow-deserialize')]() {
    return new ScriptedModel()
  }

  readonly specificationVersion = 'v4'
  readonly provider = 'scripted'
  readonly modelId = 'scripted'
  readonly supportedUrls = {}

  async doGenerate(options: LanguageModelV4CallOptions) {
    return bench().model.doGenerate(options)
  }

  async doStream(options: LanguageModelV4CallOptions) {
    return bench().model.doStream(options)
  }
}

async function work(input: { step: number }) {
  'use step'
  return bench().work(input)
}

export async function byValue() {
  'use workflow'
  const inputSchema = z.object({ step: z.number() })
  const tools = { work: { description: 'Works', inputSchema, execute: work } }
  const agent = new WorkflowAgent({ model: new ScriptedModel() as never, tools })
  await agent.stream({
    messages: [{ role: 'user', content: ASKED.prompt }],
    stopWhen: ASKED.stopWhen,
  })
}

async function step(request: StepRequest) {
  'use step'
  return bench().agent(request)
}

export async function byReference() {
  'use workflow'
  const agent = new WorkflowAgent(await durableOptions(step))
  await agent.stream({
    messages: [{ role: 'user', content: ASKED.prompt }],
    stopWhen: ASKED.stopWhen,
  })
}
