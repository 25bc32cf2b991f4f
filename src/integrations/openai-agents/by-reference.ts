import type { Agent, AgentOutputType, FunctionTool, Tool as SdkTool } from '@openai/agents'
import type { AssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { JsonSchema } from '../../boundary/describe-schema.ts'
import { checkValue, is } from '../../core/check-options.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { callError } from '../../engine/run-errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { argumentsInText } from '../json-in-text.ts'
import {
  askAbout,
  assetToolSchema,
  mayHoldReference,
  onceEach,
  plainTool,
  resolveReferences,
  resultByReference,
  runAssetTool,
  shownSchema,
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

const { isDeepStrictEqual } = nodeBuiltin('node:util')

/** Options of {@link byReference}. */
export type ByReferenceOptions = ReferenceOptions

/** Makes agents of the OpenAI Agents SDK pass values by reference. */
export interface ByReference extends References<ByReference> {
  /**
   * Returns an agent with wrapped tools, the tools that read assets, and instructions that explain references. The
   * given agent does not change. Wrap each agent of a handoff.
   */
  agent<Context, Output extends AgentOutputType>(
    agent: Agent<Context, Output>,
  ): Agent<Context, Output>
}

/**
 * Makes agents of the OpenAI Agents SDK (`@openai/agents`) pass values by reference. Results become references before
 * they reach the history, the session, a run's state and the model. References in arguments become values only for the
 * call. It does not store conversations, so one object serves all of them, in any process with the same assets.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function byReference(options: ByReferenceOptions = {}): ByReference {
  return inNamespaces<ByReference>(options, REFERENCE_OPTIONS, (wrapping, scoped) => {
    const { assets } = wrapping
    const reading = wrapping.reading.map((tool) => readingTool(tool, assets))
    const byRef = onceEach((tool: AnyTool) =>
      // A tool that is an agent stays itself, because the SDK finds the states of its runs by the tool.
      tool.type !== 'function' || 'on' in tool ? tool : wrapTool(tool, wrapping),
    )

    return {
      assets,
      agent<Context, Output extends AgentOutputType>(agent: Agent<Context, Output>) {
        checkValue(AGENT, agent, 'The agent of refs.agent')
        const names = new Set(agent.tools.map(({ name }) => name))
        const added = reading.filter(({ name }) => !names.has(name))
        const copy = agent.clone({
          tools: [...agent.tools.map(byRef), ...added] as typeof agent.tools,
          instructions: withGuide(agent.instructions) as typeof agent.instructions,
        })
        copy.getMcpTools = async (...given) => (await agent.getMcpTools(...given)).map(byRef)
        return copy
      },
      scoped,
    }
  })
}

const AGENT = is.having<Agent>('a new Agent(…) of @openai/agents', 'clone', 'getMcpTools')

// biome-ignore lint/suspicious/noExplicitAny: a tool of agents with any context.
type AnyTool = SdkTool<any>

function wrapTool(
  tool: Extract<AnyTool, { type: 'function' }>,
  { assets, maxResultChars }: Wrapping,
): typeof tool {
  const { name, needsApproval } = tool
  const plain = plainTool(name, tool.parameters as JsonSchema)
  const { outputSchema: _, ...rest } = tool
  return {
    ...rest,
    parameters: shownSchema(plain) as typeof tool.parameters,
    async invoke(context, input, details) {
      const { signal, toolCall } = details ?? {}
      const parsed = argumentsInText(input)
      const args = mayHoldReference(parsed) ? parsed : undefined
      const opened = isPlainObject(args)
        ? await resolveReferences(plain, args, { assets }).catch(errorText(signal))
        : input
      if (isPlainObject(args) && typeof opened === 'string') return opened
      signal?.throwIfAborted()
      const given = typeof opened === 'string' ? opened : JSON.stringify(opened)
      const result = await tool.invoke(context, given, details)
      const call = { tool: name, toolCallId: toolCall?.callId ?? '', maxResultChars, signal }
      const value = await resultByReference(result, { ...call, assets }).catch(errorText(signal))
      return shownResult(result, value)
    },
    needsApproval: ignoresInput(needsApproval)
      ? needsApproval
      : async (context, input, callId) => {
          if (!isPlainObject(input) || !mayHoldReference(input)) {
            return needsApproval(context, input, callId)
          }
          const values = resolveReferences(plain, input, { assets })
          return askAbout(values, (value) => needsApproval(context, value, callId))
        },
  }
}

/**
 * Returns the form of a result in which the SDK shows its references as text. In a list of texts, images and files, the
 * parts without references stay as they are.
 */
function shownResult(result: unknown, value: unknown): unknown {
  if (value === result || typeof value === 'string') return value
  const isPart = (one: unknown) => /^(text|image|file)$/.test(String(Object(one).type))
  if (!Array.isArray(value) || !Array.isArray(result) || !result.every(isPart)) {
    return JSON.stringify(value)
  }
  return value.map((part, i) =>
    isDeepStrictEqual(part, result[i]) ? part : { type: 'text', text: JSON.stringify(part) },
  )
}

/**
 * Whether a rule is the one that the SDK creates for `true` and `false`. It should stay the same function, because the
 * SDK knows it by its identity, and checks the input of calls with other rules before a person is asked.
 */
function ignoresInput(rule: unknown): boolean {
  // An arrow function without parameters cannot read its arguments. Any other function is called with values.
  return /^(async ?)?\(\) ?=>/.test(String(rule))
}

/** Returns a function that tells a model why references or a result failed. It throws the error of an aborted call. */
function errorText(signal: AbortSignal | undefined): (error: unknown) => string {
  return (error) => {
    if (signal?.aborted) throw error
    const { code, message } = callError(error)
    return `${code}: ${message}`
  }
}

function readingTool(tool: AssetTool, assets: Assets): FunctionTool {
  return {
    type: 'function',
    name: tool.id,
    description: tool.description,
    parameters: assetToolSchema(tool) as FunctionTool['parameters'],
    strict: false,
    async invoke(_, input, details) {
      const { signal } = details ?? {}
      const read = runAssetTool(tool, Object(argumentsInText(input)), { assets, signal })
      return read.then(withoutBytes).then(JSON.stringify, errorText(signal))
    },
    needsApproval: async () => false,
    isEnabled: async () => true,
  }
}
