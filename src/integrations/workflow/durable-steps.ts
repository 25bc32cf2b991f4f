import type { LanguageModelV4 } from '@ai-sdk/provider'
import { asSchema, type Tool, type ToolSet } from 'ai'
import { lastYield } from '../../boundary/store.ts'
import { mapSubschemas, type Schema } from '../../core/board/schema-keywords.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { type LanguageModel, MODEL } from '../../models/language-model.ts'
import { type CallOptions, invalidArguments } from '../ai-sdk/tools/tool-calls.ts'
import { outputValue } from '../model-output.ts'
import type { DurableTool, StepAnswer, StepRequest } from './durable-options.ts'

/** An agent whose calls are steps of a workflow. */
export interface DurableAgent {
  model: LanguageModel
  /** The app's own tools. They run in steps, so they may use Node and I/O. Default: none. */
  tools?: ToolSet
}

/** How `byReference` wraps the model and the tools of an agent. */
interface Wrapping {
  trust: object | null
  model(model: DurableAgent['model']): LanguageModelV4
  /** Returns tools that return references. */
  wrap(tools: ToolSet): ToolSet
}

const AGENT: OptionTable<DurableAgent> = {
  model: is.required(MODEL),
  tools: is.recordOf(is.anything),
}

type Ask = (input: unknown, call: CallOptions) => unknown

/** The fields of a tool that are data, besides its schema. */
const DATA = [
  ...['type', 'id', 'args', 'title', 'metadata', 'strict', 'inputExamples', 'providerOptions'],
  ...['isProviderExecuted', 'supportsDeferredResults'],
]

/**
 * Returns what the steps of a durable agent run. What it returns can be stored, except for the model.
 *
 * @throws ByrefError `config_invalid` for unknown options, and with trust
 */
export function durableSteps(agent: DurableAgent, wrapping: Wrapping) {
  const { model: bare, tools: given = {} } = checkOptions('durable', agent, AGENT)
  if (wrapping.trust) {
    throw new ByrefError(
      'config_invalid',
      'byReference({ trust }) has no durable(…): a step does not get the messages that labels come from. Use generateText, streamText or ToolLoopAgent.',
    )
  }
  const model = wrapping.model(bare)
  const tools = wrapping.wrap(given)

  async function run({ type, tool: name, ...call }: Extract<StepRequest, { tool: string }>) {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
    if (!tool) throw new ByrefError('tool_not_found', `There is no tool "${name}" in durable(…)`)
    const { input: written, ...rest } = call
    const options = { context: undefined, ...rest } as CallOptions
    const { input, error } = await checked(tool, written)
    if (type === 'approval') return !error && (tool.needsApproval as Ask)(input, options)
    if (error) throw error
    const output = await lastYield((tool.execute as Ask)(input, options))
    // The tool's own toModelOutput gets values, which must not be stored.
    const isShown = Object.hasOwn(given, name) && given[name]?.toModelOutput
    const show = tool.toModelOutput as Tool<unknown, unknown>['toModelOutput']
    if (!isShown || !show) return output
    return outputValue(await show({ toolCallId: call.toolCallId, input, output }))
  }

  return async (request: StepRequest): Promise<StepAnswer> => {
    if (request.type === 'model') return model
    if (request.type !== 'describe') return run(request).catch(unlessRetried)
    const { provider, modelId } = model
    return { provider, modelId, tools: await Promise.all(Object.entries(tools).map(described)) }
  }
}

/** Checks an input. The runtime knows only a JSON Schema, in which a text may stand for any value. */
async function checked({ inputSchema }: Tool, input: unknown) {
  const result = await asSchema<unknown>(inputSchema).validate?.(input)
  if (!result || result.success) return { input: result ? result.value : input }
  return { input, error: invalidArguments(result.error) }
}

async function described([name, tool]: [string, Tool]): Promise<DurableTool> {
  const { description, needsApproval, execute, inputSchema } = tool
  const data = Object.entries(tool).filter(
    ([key, value]) => DATA.includes(key) && value !== undefined,
  )
  return {
    ...Object.fromEntries(data),
    ...(typeof description === 'string' && { description }),
    name,
    inputSchema: textApart({ ...(await asSchema(inputSchema).jsonSchema) }),
    runs: execute !== undefined,
    approval: typeof needsApproval === 'function' ? 'by call' : needsApproval === true,
  }
}

/** Keywords that may limit text. */
const TEXTUAL = /^(enum|const|not|if|pattern|format|m..Length|content.*|.*Of|\$ref)$/

/** Returns a schema without `type: ['number', 'string']`: for each of these, `WorkflowAgent` logs a warning in each step. */
function textApart(given: Schema): Schema {
  const schema = mapSubschemas(given, textApart)
  const { type, description, ...rest } = schema
  const isTextual = Object.keys(rest).some((keyword) => TEXTUAL.test(keyword))
  if (!Array.isArray(type) || !type.includes('string') || isTextual) return schema
  const [first, ...more] = type.filter((one) => one !== 'string')
  const other = { ...rest, type: more.length > 0 ? [first, ...more] : first }
  return { ...(description !== undefined && { description }), anyOf: [other, { type: 'string' }] }
}

/** Workflows run a failed step again. That helps where storage failed, but not where the model wrote a wrong reference. */
function unlessRetried(error: unknown): never {
  const isFinal = error instanceof ByrefError && !error.code.startsWith('storage_')
  throw isFinal ? Object.assign(error, { fatal: true }) : error
}
