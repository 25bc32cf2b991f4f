import type { AgentConfig } from '@mastra/core/agent'
import type { Step } from '@mastra/core/workflows'
import type { AssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { ToolSchema } from '../../boundary/describe-schema.ts'
import type { Tool as ByrefTool } from '../../boundary/tool.ts'
import { checkValue, is } from '../../core/check-options.ts'
import { errorMessage } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { shortMessage } from '../../engine/run-errors.ts'
import {
  askAbout,
  assetToolSchema,
  mayHoldReference,
  plainTool,
  resolveReferences,
  resultByReference,
  runAssetTool,
  withGuide,
  withoutBytes,
} from '../plain-tools.ts'
import {
  inNamespaces,
  REFERENCE_OPTIONS,
  type ReferenceOptions,
  type References,
  type Wrapping,
} from '../reference-options.ts'
import {
  describingSchema,
  openJsonSchema,
  referenceSchema,
  validated,
} from '../reference-schema.ts'
import { packed, unpacked } from './packed-values.ts'

/** Options of {@link byReference}. */
export type ByReferenceOptions = ReferenceOptions

/** Makes Mastra agents and workflows pass values by reference. */
export interface ByReference extends References<ByReference> {
  /**
   * Returns the options of an agent with wrapped tools, the tools that read assets, and instructions that explain
   * references: `new Agent(refs.agent({ … }))`.
   */
  agent<Config extends Pick<AgentConfig, 'instructions' | 'tools'>>(config: Config): Config
  /** Wraps tools made by `createTool`, such as `toolsets` of a call. The given tools do not change. */
  tools<Tools extends object>(tools: Tools): Tools
  /**
   * Wraps a step made by `createStep`. Snapshots have references in place of its long fields and of bytes, and the
   * `execute` of wrapped steps gets the same values as before.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a step of any types.
  step<One extends Step<any, any, any, any, any, any, any, any>>(step: One): One
}

/** The fields that a tool and a step have in common. */
interface Executable {
  id: string
  inputSchema?: ToolSchema
  outputSchema?: ToolSchema
  component?: string
  requireApproval?: unknown
  needsApprovalFn?: unknown
  toModelOutput?(output: unknown): unknown
  execute(...given: unknown[]): unknown
}

/**
 * Makes Mastra agents and workflows (`@mastra/core`) pass values by reference. Results become references before they
 * reach the model, the memory and the snapshots. References in input become values only for the call. It does not store
 * conversations, so one object serves all of them, in any process with the same assets.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function byReference(options: ByReferenceOptions = {}): ByReference {
  return inNamespaces<ByReference>(options, REFERENCE_OPTIONS, (wrapping, scoped) => {
    const { assets } = wrapping
    const reading = wrapping.reading.map((tool) => [tool.id, readingTool(tool, assets)])
    const byRef = (tool: unknown) => (isTool(tool) ? wrapTool(tool, wrapping) : tool)
    const tools = <Tools extends object>(given: Tools): Tools => {
      const entries = Object.entries(given).map(([name, tool]) => [name, byRef(tool)])
      return Object.fromEntries(entries) as Tools
    }
    const all = (given: object): object => ({ ...Object.fromEntries(reading), ...tools(given) })
    return {
      assets,
      tools,
      agent(config) {
        checkValue(CONFIG, config, 'The argument of refs.agent')
        return {
          ...config,
          instructions: withGuide(config.instructions) as typeof config.instructions,
          tools: mapped(config.tools ?? {}, all),
        }
      },
      step: (step) => wrapStep(step, wrapping),
      scoped,
    }
  })
}

/** An agent has its tools and instructions in private fields, which a copy would lose. */
const CONFIG = is.checked('the options of an Agent, such as { id, name, model }', isPlainObject)

/** Changes an option, which may be a function of the request. */
function mapped<Value>(option: unknown, change: (value: Value) => unknown): unknown {
  if (typeof option !== 'function') return change(option as Value)
  return async (...given: unknown[]) => change((await option(...given)) as Value)
}

/** Tools of providers and of the AI SDK stay as they are. */
function isTool(tool: unknown): tool is Executable {
  return Object(tool)[MARKER] === true && typeof Object(tool).execute === 'function'
}

/** The mark by which Mastra recognizes its tools. */
const MARKER = Symbol.for('mastra.core.tool.Tool')

function wrapTool(tool: Executable, wrapping: Wrapping): Executable {
  const { toModelOutput } = tool
  const values = resolver(tool, wrapping)
  return copyOf(tool, {
    ...schemas(tool, true),
    async execute(input, context) {
      const opened = await values(input)
      // Mastra has checked the input of this context, unless it may contain references.
      const given = mayHoldReference(input) ? { ...Object(context) } : context
      const result = await withShortError(() => tool.execute(opened, given))
      const { agent, abortSignal: signal } = Object(context)
      const call = { tool: tool.id, toolCallId: agent?.toolCallId ?? '', signal }
      return resultByReference(result, { ...wrapping, ...call })
    },
    requireApproval: judging(tool.requireApproval, values),
    needsApprovalFn: judging(tool.needsApprovalFn, values),
    ...(toModelOutput && {
      // The tool's own function expects values.
      toModelOutput: (output: unknown) =>
        mayHoldReference(output)
          ? { type: 'json', value: output }
          : toModelOutput.call(tool, output),
    }),
  })
}

/** Shortens the error of a tool, because Mastra shows it to the model and stores it. */
async function withShortError(run: () => unknown): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    const message = errorMessage(error)
    const short = shortMessage(message)
    throw short === message ? error : new Error(short, { cause: error })
  }
}

/** Returns a rule for approval that sees values. */
function judging(rule: unknown, values: (input: unknown) => Promise<unknown>): unknown {
  if (typeof rule !== 'function') return rule
  return (input: unknown, context: unknown) =>
    askAbout(values(input), (value) => rule(value, context))
}

// biome-ignore lint/suspicious/noExplicitAny: a step of any types.
function wrapStep<One extends Step<any, any, any, any, any, any, any, any>>(
  given: One,
  wrapping: Wrapping,
): One {
  const step = given as object as Executable
  return copyOf(step, {
    ...schemas(step, false),
    // Without this, a workflow would run the tool that the step was made from.
    component: undefined,
    async execute(context) {
      const { inputData: given, runId } = Object(context)
      const whole = await unpacked(given, wrapping.assets)
      const inputData = mayHoldReference(given) ? await validated(step.inputSchema, whole) : whole
      const result = await step.execute({ ...Object(context), inputData })
      return packed(result, { ...wrapping, tool: step.id, toolCallId: String(runId) })
    },
  }) as object as One
}

/** Returns the same tool or step with other properties. */
function copyOf(given: Executable, changes: Partial<Executable>): Executable {
  return Object.assign(Object.create(Object.getPrototypeOf(given)), given, changes)
}

/** Returns a function that puts values in place of the references in an input. */
function resolver({ id, inputSchema }: Executable, { assets }: Wrapping) {
  let plain: ByrefTool | undefined
  return async (input: unknown): Promise<unknown> => {
    if (!isPlainObject(input) || !mayHoldReference(input)) return input
    plain ??= plainTool(id, openJsonSchema(inputSchema))
    return resolveReferences(plain, input, { assets, bytes: 'native' })
  }
}

/** Returns schemas that let references through. */
function schemas({ id, inputSchema, outputSchema }: Executable, isShown: boolean) {
  const open = (schema?: ToolSchema) => schema && referenceSchema(id, schema, isShown)
  return { inputSchema: open(inputSchema), outputSchema: open(outputSchema) }
}

function readingTool(tool: AssetTool, assets: Assets): Executable {
  return {
    [MARKER]: true,
    id: tool.id,
    description: tool.description,
    inputSchema: describingSchema(assetToolSchema(tool)),
    async execute(input: unknown, context: unknown) {
      const { abortSignal: signal } = Object(context)
      return withoutBytes(await runAssetTool(tool, Object(input), { assets, signal }))
    },
  } as Executable
}
