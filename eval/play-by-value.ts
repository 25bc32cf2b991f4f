import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { jsonSchemaOf, type Tool, type ToolContext } from '../src/boundary/tool.ts'
import { validateInput } from '../src/boundary/validate.ts'
import { errorMessage } from '../src/core/errors.ts'
import type { CallError, FinishReason } from '../src/core/events/events.ts'
import { newId } from '../src/core/new-id.ts'
import {
  type ModelCall,
  type ModelResponse,
  ResponseReader,
} from '../src/engine/steps/read-response.ts'
import { callModel } from '../src/models/call-model.ts'
import { catalogueEntry } from '../src/models/catalogue.ts'
import { withCost } from '../src/models/model-capabilities.ts'
import type { TaskInstance, WrittenCall } from './eval-task.ts'
import {
  addUsage,
  answerOf,
  INSTRUCTIONS,
  messagesOf,
  NO_USAGE,
  type Play,
  type PlayOptions,
  Recorder,
} from './play.ts'
import { ValueLog } from './value-log.ts'

type Output = LanguageModelV4ToolResultPart['output']

/**
 * Plays a task as agents without references do: files, data and results are inline in the prompt, and the model writes
 * every argument. It sends the same requests as `generateText` of the AI SDK. Rejects if a model call fails, and with
 * the reason of the signal.
 */
export async function playByValue(instance: TaskInstance, options: PlayOptions): Promise<Play> {
  const player = new ValuePlayer(instance, options)
  try {
    return await player.play()
  } finally {
    await player.keep()
  }
}

class ValuePlayer {
  readonly #instance: TaskInstance
  readonly #options: PlayOptions
  readonly #recorder = new Recorder()
  readonly #tools: readonly Tool[]
  readonly #data: Record<string, unknown>
  readonly #prompt: LanguageModelV4Prompt
  readonly #written: (WrittenCall & { id: string })[] = []
  readonly #log: ValueLog
  #usage = NO_USAGE
  #roundTrips = 0

  constructor(instance: TaskInstance, options: PlayOptions) {
    this.#instance = instance
    this.#options = options
    this.#log = new ValueLog(options.keep)
    this.#data = structuredClone(instance.data ?? {})
    this.#tools = this.#recorder.watch(instance.tools('value', this.#data))
    this.#prompt = [{ role: 'system', content: instance.instructions ?? INSTRUCTIONS }]
  }

  async play(): Promise<Play> {
    let [answer, reason] = ['', 'done' as FinishReason]
    for (const [index, said] of messagesOf(this.#instance, 'value').entries()) {
      const text = index === 0 ? inlined(said, this.#instance) : said
      this.#prompt.push({ role: 'user', content: [{ type: 'text', text }] })
      this.#log.said(text, this.#options.model.modelId)
      const last = await this.#run()
      this.#log.ended(last.reason)
      answer = last.text
      reason = last.reason
      if (reason !== 'done') break
    }
    const written = this.#written
    return {
      outcome: { received: this.#recorder.received, written, data: this.#data, answer },
      reason,
      usage: this.#usage,
      roundTrips: this.#roundTrips,
      large: this.#recorder.large(written),
    }
  }

  /** Writes the conversation, with its prompts, to the log. */
  keep(): Promise<void> {
    return this.#log.close()
  }

  /** Asks the model until it answers without calls. */
  async #run(): Promise<{ text: string; reason: FinishReason }> {
    for (let step = 0; step < this.#options.maxSteps; step++) {
      const response = await this.#ask()
      const { text, calls, finishReason } = response
      if (finishReason === 'length' || finishReason === 'content-filter') {
        return { text, reason: finishReason === 'length' ? 'length' : 'content_filter' }
      }
      if (calls.length === 0) return { text, reason: 'done' }
      const content: LanguageModelV4ToolResultPart[] = []
      for (const call of calls) {
        const output = await this.#execute(call)
        const { id: toolCallId, name: toolName } = call
        content.push({ type: 'tool-result', toolCallId, toolName, output })
      }
      this.#prompt.push({ role: 'tool', content })
    }
    return { text: '', reason: 'step_limit' }
  }

  async #ask(): Promise<ModelResponse> {
    const { model, retry, signal } = this.#options
    const tools = this.#tools.map(describe)
    const prompt = [...this.#prompt]
    // Some servers use the same ids in every answer.
    const isTaken = (id: string): boolean => this.#written.some((one) => one.id === id)
    const reader = new ResponseReader((id) => (id && !isTaken(id) ? id : newId()))
    await callModel({
      model,
      options: { prompt, ...(tools.length > 0 && { tools, toolChoice: { type: 'auto' } }) },
      signal,
      retry,
      onPart: (part) => reader.take(part),
    })
    const { response } = reader
    const price = (await catalogueEntry(model))?.price ?? null
    const usage = withCost(response.usage, price)
    this.#usage = addUsage(this.#usage, usage)
    this.#roundTrips++
    this.#prompt.push(...assistantMessage(response))
    const { provider, modelId } = model
    this.#log.answered(
      { request: { model: { provider, modelId }, prompt, tools }, response },
      usage,
    )
    return response
  }

  async #execute(call: ModelCall): Promise<Output> {
    const { id, name, arguments: args } = call
    const output = await this.#outputOf(call)
    const error = errorIn(output)
    this.#written.push({ id, name, arguments: args, error: error?.message ?? null })
    this.#log.returned(call, error ? null : Object(output).value, error)
    return output
  }

  async #outputOf({ id, name, arguments: args, problem }: ModelCall): Promise<Output> {
    const tool = this.#tools.find((one) => one.id === name)
    if (!tool) return { type: 'error-text', value: `There is no tool "${name}".` }
    if (problem) return { type: 'error-text', value: problem }
    try {
      const input = await validateInput(tool, args)
      if (tool.needsApproval) {
        const { approved, reason } = answerOf(this.#instance, name)
        if (!approved) return { type: 'execution-denied', reason }
      }
      const context = { toolCallId: id } as ToolContext // the tools of tasks use nothing else
      const value = inline(await tool.execute(input, context))
      return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value }
    } catch (error) {
      return { type: 'error-text', value: errorMessage(error) }
    }
  }
}

function errorIn(output: Output): CallError | null {
  if (output.type === 'error-text') return { code: 'tool_failed', message: output.value }
  if (output.type !== 'execution-denied') return null
  return { code: 'approval_denied', message: output.reason ?? 'It was denied.' }
}

/** Returns the user's message, with the data and the files in it. */
function inlined(said: string, { data = {}, files = [] }: TaskInstance): string {
  const blocks = Object.entries(data).map(([kind, value]) => {
    return `Data "${kind}":\n${JSON.stringify(value, null, 2)}\n\n`
  })
  const pasted = files.map(({ name, text }) => `\n\nFile ${name}:\n${text}`)
  return [...blocks, said, ...pasted].join('')
}

function assistantMessage({ text, reasoning, calls }: ModelResponse): LanguageModelV4Message[] {
  const options = ({ provider_metadata: of }: { provider_metadata?: Record<string, unknown> }) =>
    of && { providerOptions: of as SharedV4ProviderOptions }
  const content = [
    ...reasoning.map((one) => ({ type: 'reasoning' as const, text: one.text, ...options(one) })),
    ...(text ? [{ type: 'text' as const, text }] : []),
    ...calls.map((one) => ({
      type: 'tool-call' as const,
      toolCallId: one.id,
      toolName: one.name,
      input: one.arguments,
      ...options(one),
    })),
  ]
  return content.length > 0 ? [{ role: 'assistant', content }] : []
}

/** Returns a tool as the model sees it, without the keywords of references. */
function describe(tool: Tool): LanguageModelV4FunctionTool {
  const json = JSON.stringify(jsonSchemaOf(tool), (key, value) =>
    /^(\$schema|asset_ref_\w+|x-accepts)$/.test(key) ? undefined : value,
  )
  const { id: name, description } = tool
  return { type: 'function', name, description, inputSchema: JSON.parse(json) }
}

/** Returns a result as JSON, with bytes as base64. */
function inline(result: unknown) {
  const json = JSON.stringify(result, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )
  return JSON.parse(json ?? 'null')
}
