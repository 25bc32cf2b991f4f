import type { AIMessage, BaseMessage } from '@langchain/core/messages'
import {
  type AgentMiddleware,
  createMiddleware,
  MiddlewareError,
  type ToolCallRequest,
  ToolInvocationError,
  ToolMessage,
  tool,
} from 'langchain'
import type { AssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { queryTablesTool } from '../../assets/tables/query-tables-tool.ts'
import { checkValue, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import type { TrustMode } from '../../core/events/events.ts'
import { shortMessage } from '../../engine/run-errors.ts'
import {
  assetToolSchema,
  BARE_GUIDE,
  onceEach,
  REFERENCE_GUIDE,
  resultByReference,
  runAssetTool,
} from '../plain-tools.ts'
import {
  inNamespaces,
  REFERENCE_OPTIONS,
  type ReferenceOptions,
  type References,
  type Wrapping,
} from '../reference-options.ts'
import { sameAssets } from '../same-assets.ts'
import { denialText } from '../trust/session-labels.ts'
import { type ByReferenceTrust, checkNamed, resolveTrust, TRUST } from '../trust/tool-trust.ts'
import { askAboutCalls, decisionsIn, keyOf, noteChecked, STATE } from './held-calls.ts'
import { namesAsset, showMessages } from './messages-by-reference.ts'
import { ThreadTrust } from './thread-trust.ts'
import { type AgentTool, toolByReference } from './tool-by-reference.ts'

/** Options of {@link byReference}. */
export interface ByReferenceOptions extends ReferenceOptions {
  /**
   * How untrusted data is treated (docs/integrations/langchain.md). `track`: a person is asked about calls that act on
   * it. `quarantine`: in addition, it is hidden from models. Both need the middleware. Default `off`.
   */
  trust?: TrustMode | ByReferenceTrust
}

/** Makes LangChain agents and LangGraph graphs pass values by reference. */
export interface ByReference extends References<ByReference> {
  /**
   * The middleware for `createAgent`. It wraps all tools, adds the reading tools, and explains references to the model.
   */
  readonly middleware: AgentMiddleware
  /**
   * Wraps tools. An agent with the middleware needs this only for parameters that are not text, so that the model may
   * pass references in them.
   *
   * @throws ByrefError `config_invalid` with trust, which needs the middleware
   */
  tools<Tools extends readonly AgentTool[]>(tools: Tools): Tools
  /** For your own graph: `fetch_asset`, `search_asset` and, if DuckDB is installed, `query_tables`. */
  readonly readingTools: readonly AgentTool[]
  /** For your own graph: returns the messages to send to the model, for the messages of the state. */
  prompt(messages: readonly BaseMessage[]): Promise<BaseMessage[]>
}

/**
 * Makes LangChain agents and LangGraph graphs pass values by reference. Their state and checkpoints hold references, so
 * any process with the same assets can continue a thread.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function byReference(options: ByReferenceOptions = {}): ByReference {
  const make = (wrapping: Wrapping, scoped: ByReference['scoped']): ByReference => {
    const settings = resolveTrust(options.trust, (name) =>
      readingTools.some((one) => one.name === name),
    )
    const assets = sameAssets(wrapping.assets)
    const trust = settings && new ThreadTrust(settings, assets)
    const { maxResultChars = 8 * 1024 } = wrapping
    const how = { ...wrapping, assets, maxResultChars }
    // SQL names assets inside a text, where labels cannot be tracked.
    const reading = wrapping.reading.filter(({ id }) => !settings || id !== queryTablesTool.id)
    const readingTools = reading.map((one) => readingTool(one, assets, settings !== null))
    const wrap = onceEach((one: AgentTool) =>
      readingTools.includes(one) ? one : toolByReference(one, how),
    )
    const isHidden = settings?.mode === 'quarantine'
    const text = isHidden ? BARE_GUIDE : REFERENCE_GUIDE

    async function prompt(
      given: readonly BaseMessage[],
      { takesImages, tools = [], rejected = {} }: PromptSettings,
    ): Promise<BaseMessage[]> {
      const messages = (await trust?.shown(given, tools, rejected)) ?? given
      return showMessages(messages, assets, { takesImages, text })
    }

    /** Notes in an answer which calls their tools do not accept. Only a request has all tools of the agent. */
    async function noteChecks(answer: AIMessage, request: PromptedRequest): Promise<void> {
      const checks: Record<string, string | null> = {}
      const all = [...request.state.messages, answer]
      for (const call of answer.tool_calls ?? []) {
        checks[keyOf(call)] =
          (await trust?.violation(all, call, request.tools as AgentTool[])) ?? null
      }
      if (Object.keys(checks).length > 0) noteChecked(answer, checks)
    }

    const ask: AskHook = async (state, runtime) =>
      askAboutCalls(
        state,
        runtime,
        async (call) => trust?.violation(state.messages, call, []) ?? null,
      )

    /** Runs a call if its tool or a person accepted it. */
    async function checked(request: ToolCallRequest, run: () => Promise<Ran>): Promise<Ran> {
      const { toolCall, tool, state } = request
      if (!trust) return run()
      const words = await trust.violation(state.messages, toolCall, tool ? [tool] : [])
      const { approved, rejected } = decisionsIn(state)
      const key = keyOf(toolCall)
      if (words !== null && !approved.includes(key)) {
        return failed(toolCall, rejected[key] ?? denialText({ id: toolCall.name }, words))
      }
      const kept = async (result: unknown) =>
        (await trust.kept(state.messages, toolCall, result)) as Ran
      return keptResult(run(), kept)
    }

    const middleware: AgentMiddleware = createMiddleware({
      name: 'ByReference',
      tools: readingTools,
      ...(trust?.asks && { stateSchema: STATE, afterModel: ask }),
      async wrapModelCall(request, handler) {
        const { imageInputs } = Object(Reflect.get(Object(request.model), 'profile'))
        const isReadable = request.messages.some(namesAsset)
        const tools = request.tools.filter(
          (one) => (isReadable && !isHidden) || !readingTools.includes(one),
        )
        const { rejected } = decisionsIn(request.state)
        const how = { takesImages: imageInputs !== false, tools: request.tools, rejected }
        const answer = await handler({
          ...request,
          tools,
          messages: await prompt(request.messages, how),
        })
        if (trust?.asks) await noteChecks(answer as AIMessage, request)
        return answer
      },
      async wrapToolCall(request, handler) {
        const { tool } = request
        const run = async () => handler(tool ? { ...request, tool: wrap(tool) } : request)
        return checked(request, () => run().catch((error) => errorForModel(error, request)))
      },
    })

    return {
      assets: wrapping.assets,
      middleware,
      readingTools,
      tools(tools) {
        if (trust) throw new ByrefError('config_invalid', NEEDS_MIDDLEWARE)
        checkValue(TOOLS, tools, 'The tools of refs.tools')
        return tools.map(wrap) as readonly AgentTool[] as typeof tools
      },
      prompt: (messages) => prompt(messages, { takesImages: true }),
      scoped,
    }
  }
  return inNamespaces<ByReference, ByReferenceOptions>(options, OPTIONS, make)
}

/** LangGraph throws a command for another graph as an error, for example from a sub-agent in a tool. */
function keptResult(running: Promise<Ran>, keep: (result: unknown) => Promise<Ran>): Promise<Ran> {
  return running.then(keep, async (error) => {
    const { command, name } = Object(error)
    if (name !== 'ParentCommand') throw error
    const result = await keep(command)
    if (result === command) throw error
    return result
  })
}

/** The input of a prompt, in addition to its messages. */
interface PromptSettings {
  takesImages: boolean
  tools?: readonly AgentTool[]
  /** The texts of a person's rejections for the model, by call. */
  rejected?: Readonly<Record<string, string>>
}

type PromptedRequest = Parameters<NonNullable<AgentMiddleware['wrapModelCall']>>[0]

type AskHook = (
  state: { messages: readonly BaseMessage[] },
  runtime: { interrupt?(value: unknown): unknown },
) => ReturnType<typeof askAboutCalls>

/** The result of running a call: a message, or a command of LangGraph. */
type Ran = Awaited<ReturnType<Parameters<NonNullable<AgentMiddleware['wrapToolCall']>>[1]>>

const TOOLS = is.listOf(is.having<AgentTool & object>('a tool of LangChain'))
const NEEDS_MIDDLEWARE =
  'With trust, tools alone cannot hold a call: pass refs.middleware to createAgent, and the tools as they are'
const OPTIONS: OptionTable<ByReferenceOptions> = { ...REFERENCE_OPTIONS, trust: TRUST }

function failed({ id = '', name }: ToolCallRequest['toolCall'], content: string): ToolMessage {
  return new ToolMessage({ content, tool_call_id: id, name, status: 'error' })
}

/**
 * Shows errors of tools to the model, as agents without such a hook do. Throws interrupts and errors of other
 * middleware.
 */
function errorForModel(error: unknown, { toolCall, runtime }: ToolCallRequest): ToolMessage {
  const isInterrupt = Object(error).is_bubble_up === true || runtime.signal?.aborted
  const isOthers = MiddlewareError.isInstance(error) || ToolInvocationError.isInstance(error)
  if (isInterrupt || isOthers) throw error
  return failed(toolCall, `${shortMessage(String(error))}\n Please fix your mistakes.`)
}

/**
 * A tool that reads assets. Its results are pages, which never become assets, and references of bytes that it has read.
 *
 * @param isTracked Whether its results have labels
 */
function readingTool(native: AssetTool, assets: Assets, isTracked: boolean): AgentTool {
  const { id: name, description } = native
  const read = async (written: unknown, { signal }: { signal?: AbortSignal }) => {
    if (isTracked) checkNamed(name, Object(written))
    const result = await runAssetTool(native, Object(written), { assets, signal })
    const call = { tool: name, toolCallId: '', maxResultChars: Infinity, signal }
    return resultByReference(result, { assets, ...call })
  }
  return tool(read, { name, description, schema: assetToolSchema(native) })
}
