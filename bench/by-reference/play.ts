import { tool as aiTool, isStepCount, type ModelMessage, streamText, type ToolSet } from 'ai'
import type { z } from 'zod'
import {
  type Assets,
  createAgent,
  createAssets,
  defineTool,
  type MessageInput,
  type Tool,
  type ToolSchema,
} from '../../src/index.ts'
import { type ScriptedTurn, scriptedModel } from '../../src/testing/scripted-model.ts'
import type { Asked } from './cost.ts'

/** A tool in the form of both frameworks. */
export interface BenchTool {
  id: string
  description: string
  input: z.ZodObject
  /** Returns the result in the framework's own way. */
  execute(input: never): unknown
  /** AI SDK only: returns what the model sees of a result. */
  toModelOutput?(output: never): unknown
}

/** One of two ways to do a task. */
export interface Way {
  tools: readonly BenchTool[]
  instructions?: string
  /** The user's messages, one for each turn, in the form of byref or of the AI SDK. */
  says: readonly unknown[]
  /** The model's answers of all turns. */
  answers: readonly ScriptedTurn[]
}

/** A task, by reference and by value. */
export interface Task {
  name: string
  about: string
  /** Whether a result or a file has more than 32 kB of text. */
  isLarge?: boolean
  byref(assets: Assets): Way | Promise<Way>
  value(): Way
}

const PROVIDER = { provider: 'openai.responses', modelId: 'gpt-5' }

/** Plays a task in byref. Returns the requests to the model and its answers. */
export async function playByref(task: Task): Promise<Asked[]> {
  const assets = createAssets()
  const { tools, instructions, says, answers } = await task.byref(assets)
  const { model, asked } = recorded(answers)
  const agent = createAgent({
    model,
    instructions,
    assets,
    tools: tools.map(({ id, description, input, execute }) => {
      const run = execute as (input: object) => unknown
      const inputSchema = input as unknown as ToolSchema<object>
      return defineTool({ id, description, inputSchema, execute: run }) as Tool
    }),
  })
  for (const said of says) {
    await agent.run({ conversation: 'bench', messages: [said as MessageInput] }).result
  }
  await agent.close()
  return asked()
}

/** The same with the AI SDK, as in its documentation. */
export async function playAiSdk(task: Task): Promise<Asked[]> {
  const { tools, instructions, says, answers } = task.value()
  const { model, asked } = recorded(answers)
  const set = Object.fromEntries(
    tools.map(({ id, description, input, execute, toModelOutput }) => [
      id,
      aiTool({
        description,
        inputSchema: input,
        execute,
        ...(toModelOutput
          ? { toModelOutput: ({ output }: { output: never }) => toModelOutput(output) }
          : {}),
      } as never),
    ]),
  ) as ToolSet
  const messages: ModelMessage[] = []
  for (const said of says) {
    messages.push(said as ModelMessage)
    const result = streamText({
      model,
      messages,
      tools: set,
      stopWhen: isStepCount(100),
      ...(instructions ? { system: instructions } : {}),
    })
    await result.consumeStream()
    messages.push(...(await result.responseMessages))
  }
  return asked()
}

function recorded(answers: readonly ScriptedTurn[]) {
  const given: unknown[] = []
  const turns = answers.map((turn): ScriptedTurn => {
    return (options) => {
      const answer = typeof turn === 'function' ? turn(options) : turn
      if (answer instanceof Error) throw answer
      given.push(answer)
      return answer
    }
  })
  const model = Object.assign(scriptedModel(turns), PROVIDER)
  return {
    model,
    asked(): Asked[] {
      if (model.requests.length !== answers.length) {
        throw new Error(`The model was asked ${model.requests.length} times, not ${answers.length}`)
      }
      return model.requests.map(({ prompt, tools = [] }, i) => ({
        prompt,
        tools,
        answer: given[i] as never,
      }))
    },
  }
}
