import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { jsonSchema, type ModelMessage, type ToolExecutionOptions } from 'ai'
import { defined } from '../../core/defined.ts'
import { ByrefError } from '../../core/errors.ts'

// This file runs inside workflow functions, where there is neither Node nor I/O. Everything that needs them is behind a
// step.

/** A tool as it crosses from a step: data, and no functions. */
export interface DurableTool extends Record<string, unknown> {
  name: string
  /** The JSON Schema of its parameters, which take references. */
  inputSchema: object
  /** Whether it runs here. Otherwise a browser or a provider answers its calls. */
  runs: boolean
  /** Whether a person is asked: always, never, or as the tool says about each call. */
  approval: boolean | 'by call'
}

/** A call of a tool that a step answers. */
interface ToolCall extends Pick<ToolExecutionOptions<unknown>, 'toolCallId' | 'abortSignal'> {
  tool: string
  input: unknown
  /** The messages with results, if the input names one: `†result#2`. */
  messages: ModelMessage[]
  context?: unknown
}

/** A request of a workflow to the step of its app, which passes it to the function that `refs.durable(…)` returned. */
export type StepRequest =
  | { type: 'describe' }
  /** Asked from inside of a model's step only, because a model cannot cross it. */
  | { type: 'model' }
  | ({ type: 'approval' } & ToolCall)
  | ({ type: 'call' } & ToolCall)

// biome-ignore lint/suspicious/noExplicitAny: the answer depends on the request, and a tool may return anything.
export type StepAnswer = any

type Step = (request: StepRequest) => Promise<StepAnswer>

/** Options of an agent: `new WorkflowAgent({ ...(await durableOptions(step)), instructions })`. */
export interface DurableOptions {
  /** A model of the AI SDK. Its type is open, because `@ai-sdk/workflow` brings a version of `ai` of its own. */
  // biome-ignore lint/suspicious/noExplicitAny: the types of two versions do not fit each other.
  model: any
  /** Tools of the AI SDK. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  tools: Record<string, any>
  /** Leaves URLs and references for the model's step to resolve, so that files are not stored with messages. */
  experimental_download(files: readonly unknown[]): Promise<null[]>
}

/**
 * Returns the options of an agent whose model calls and tool calls are steps of a workflow. The steps store references
 * in place of files and long results.
 *
 * @param step A step function of the app. It calls the function that `refs.durable(…)` of `byref/ai-sdk` returned.
 * @throws ByrefError `config_invalid` without a step
 */
export async function durableOptions(step: Step): Promise<DurableOptions> {
  if (typeof step !== 'function') {
    throw new ByrefError(
      'config_invalid',
      'durableOptions needs a step: a function with "use step" that calls what refs.durable returned',
    )
  }
  const { provider, modelId, tools } = await step({ type: 'describe' })
  const entries = (tools as DurableTool[]).map((tool) => [tool.name, toolOf(tool, step)])
  return {
    model: new DurableModel(step, { provider, modelId }),
    tools: Object.fromEntries(entries),
    experimental_download: async (files) => files.map(() => null),
  }
}

function toolOf({ name, inputSchema, runs, approval, ...rest }: DurableTool, step: Step): object {
  const ask =
    (type: 'approval' | 'call') => (input: unknown, call: ToolExecutionOptions<unknown>) => {
      const { toolCallId, messages, abortSignal, context } = call
      // Messages are stored with a step, so only those that it needs are sent.
      const named = JSON.stringify(input)?.includes('†') ? messages.filter(hasResults) : []
      const optional = defined({ abortSignal, context })
      return step({ type, tool: name, input, toolCallId, messages: named, ...optional })
    }
  return {
    ...rest,
    inputSchema: jsonSchema(inputSchema),
    needsApproval: approval === 'by call' ? ask('approval') : approval,
    ...(runs && { execute: ask('call') }),
  }
}

function hasResults({ role }: ModelMessage): boolean {
  return role === 'tool'
}

/** The placeholder of a model in a workflow. Inside a step, where it is called, it opens the model. */
class DurableModel implements LanguageModelV4 {
  static [Symbol.for('workflow-serialize')]({ step, provider, modelId }: DurableModel) {
    return { step, provider, modelId }
  }

  static [Symbol.for('workflow-deserialize')]({ step, ...about }: DurableModel) {
    return new DurableModel(step, about)
  }

  readonly specificationVersion = 'v4'
  readonly step: Step
  readonly provider: string
  readonly modelId: string

  constructor(step: Step, { provider, modelId }: Pick<LanguageModelV4, 'provider' | 'modelId'>) {
    this.step = step
    this.provider = provider
    this.modelId = modelId
  }

  get supportedUrls(): LanguageModelV4['supportedUrls'] {
    return this.#model().then(({ supportedUrls }) => supportedUrls)
  }

  async doGenerate(options: LanguageModelV4CallOptions) {
    return (await this.#model()).doGenerate(options)
  }

  async doStream(options: LanguageModelV4CallOptions) {
    return (await this.#model()).doStream(options)
  }

  #model(): Promise<LanguageModelV4> {
    return this.step({ type: 'model' })
  }
}
