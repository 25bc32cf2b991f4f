import type { BaseMessage } from '@langchain/core/messages'
import {
  type AgentMiddleware,
  createMiddleware,
  MiddlewareError,
  ToolInvocationError,
  ToolMessage,
  tool,
} from 'langchain'
import { type AgentAssetsOptions, ASSETS, openAssets } from '../../agent/agent-assets.ts'
import type { AssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import {
  assetToolSchema,
  assetTools,
  REFERENCE_GUIDE as guide,
  preferText,
  resultByReference,
  runAssetTool,
} from '../plain-tools.ts'
import { sameAssets } from '../same-assets.ts'
import { namesAsset, showMessages } from './messages-by-reference.ts'
import { type AgentTool, runsHere, toolByReference } from './tool-by-reference.ts'

/** Options of {@link byReference}. */
export interface ByReferenceOptions extends AgentAssetsOptions {
  /** The namespace of all assets. Default: none. */
  namespace?: string | null
  /**
   * Characters of JSON above which a result becomes an asset, and the state gets its reference and a preview. It is less than
   * elsewhere, because checkpoints repeat the state. Default: 8,192.
   */
  maxResultChars?: number
}

/** Agents of LangChain and graphs of LangGraph by reference. */
export interface ByReference {
  /** For `createAgent`: wraps all tools, adds the reading tools, and shows the model what it needs of references. */
  readonly middleware: AgentMiddleware
  /** Wraps tools. In an agent this is only needed for parameters that are not text, so that the model may pass references. */
  tools<Tools extends readonly AgentTool[]>(tools: Tools): Tools
  /** `fetch_asset`, `search_asset`, and `query_tables` where DuckDB is installed: for a graph of your own. */
  readonly readingTools: readonly AgentTool[]
  /** Returns the messages of the state for a model: for a graph of your own. */
  prompt(messages: readonly BaseMessage[]): Promise<BaseMessage[]>
  /** The store of bodies and long results. */
  readonly assets: Assets
}

const OPTIONS: OptionTable<ByReferenceOptions> = {
  assets: ASSETS,
  namespace: is.nullable(is.string),
  maxResultChars: is.positive,
}

/**
 * Makes agents of LangChain and graphs of LangGraph pass values by reference. Their state and checkpoints hold references, so
 * any process with the same assets can continue a thread.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function byReference(options: ByReferenceOptions = {}): ByReference {
  checkOptions('byReference', options, OPTIONS)
  const { namespace = null, maxResultChars = 8 * 1024 } = options
  const opened = openAssets(options, namespace, () => {}).in(namespace)
  const assets = sameAssets(opened)
  const known = new WeakMap<object, AgentTool>()

  function wrap(given: AgentTool): AgentTool {
    const made =
      known.get(given) ??
      (runsHere(given) ? toolByReference(given, { assets, maxResultChars }) : given)
    known.set(given, made)
    known.set(made, made)
    return made
  }
  const readingTools = assetTools(false).map((one) => readingTool(one, assets))
  for (const one of readingTools) known.set(one, one)

  const middleware: AgentMiddleware = createMiddleware({
    name: 'ByReference',
    tools: readingTools,
    async wrapModelCall(request, handler) {
      const { imageInputs } = Object(Reflect.get(Object(request.model), 'profile'))
      const how = { assets, guide, takesImages: imageInputs !== false }
      const isReadable = request.messages.some(namesAsset)
      const tools = request.tools.filter((one) => isReadable || !readingTools.includes(one))
      return handler({ ...request, tools, messages: await showMessages(request.messages, how) })
    },
    async wrapToolCall(request, handler) {
      const { tool: given, toolCall, runtime } = request
      try {
        return await handler(given ? { ...request, tool: wrap(given) } : request)
      } catch (error) {
        // Agents without such a hook show errors of tools to the model. Interrupts and errors of other middleware are thrown.
        const isInterrupt = Object(error).is_bubble_up === true || runtime.signal?.aborted
        const isOthers = MiddlewareError.isInstance(error) || ToolInvocationError.isInstance(error)
        if (isInterrupt || isOthers) throw error
        const content = `${error}\n Please fix your mistakes.`
        const { id = '', name } = toolCall
        return new ToolMessage({ content, tool_call_id: id, name, status: 'error' })
      }
    },
  })

  return {
    assets: opened,
    middleware,
    readingTools,
    tools: <Tools extends readonly AgentTool[]>(tools: Tools) =>
      tools.map((one) => wrap(one)) as readonly AgentTool[] as Tools,
    prompt: (messages) => showMessages(messages, { assets, guide, takesImages: true }),
  }
}

/** A tool that reads assets. Its results are pages, which never become assets, and references of bytes that it has read. */
function readingTool(native: AssetTool, assets: Assets): AgentTool {
  const { id: name, description } = native
  const storing = { assets, tool: name, toolCallId: '', maxResultChars: Infinity }
  const read = async (written: unknown, { signal }: { signal?: AbortSignal }) => {
    const input = await preferText(native, Object(written), assets)
    return resultByReference(await runAssetTool(native, input, { assets, signal }), storing)
  }
  return tool(read, { name, description, schema: assetToolSchema(native) })
}
