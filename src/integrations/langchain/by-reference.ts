import type { BaseMessage } from '@langchain/core/messages'
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
import { assetToolSchema, onceEach, readByReference } from '../plain-tools.ts'
import { inNamespaces, type ReferenceOptions, type References } from '../reference-options.ts'
import { sameAssets } from '../same-assets.ts'
import { namesAsset, showMessages } from './messages-by-reference.ts'
import { type AgentTool, toolByReference } from './tool-by-reference.ts'

/** Options of {@link byReference}. */
export type ByReferenceOptions = ReferenceOptions

/** Agents of LangChain and graphs of LangGraph by reference. */
export interface ByReference extends References<ByReference> {
  /** For `createAgent`: wraps all tools, adds the reading tools, and shows the model what it needs of references. */
  readonly middleware: AgentMiddleware
  /** Wraps tools. In an agent this is only needed for parameters that are not text, so that the model may pass references. */
  tools<Tools extends readonly AgentTool[]>(tools: Tools): Tools
  /** `fetch_asset`, `search_asset`, and `query_tables` where DuckDB is installed: for a graph of your own. */
  readonly readingTools: readonly AgentTool[]
  /** Returns the messages of the state for a model: for a graph of your own. */
  prompt(messages: readonly BaseMessage[]): Promise<BaseMessage[]>
}

/**
 * Makes agents of LangChain and graphs of LangGraph pass values by reference. Their state and checkpoints hold references, so
 * any process with the same assets can continue a thread.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function byReference(options: ByReferenceOptions = {}): ByReference {
  return inNamespaces<ByReference>(options, (wrapping, scoped) => {
    const assets = sameAssets(wrapping.assets)
    const how = { maxResultChars: 8 * 1024, ...wrapping, assets }
    const readingTools = wrapping.reading.map((one) => readingTool(one, assets))
    const wrap = onceEach((one: AgentTool) =>
      readingTools.includes(one) ? one : toolByReference(one, how),
    )

    const middleware: AgentMiddleware = createMiddleware({
      name: 'ByReference',
      tools: readingTools,
      async wrapModelCall(request, handler) {
        const { imageInputs } = Object(Reflect.get(Object(request.model), 'profile'))
        const isReadable = request.messages.some(namesAsset)
        const tools = request.tools.filter((one) => isReadable || !readingTools.includes(one))
        const messages = await showMessages(request.messages, assets, imageInputs !== false)
        return handler({ ...request, tools, messages })
      },
      async wrapToolCall(request, handler) {
        const { tool } = request
        const running = (async () => handler(tool ? { ...request, tool: wrap(tool) } : request))()
        return running.catch((error) => errorForModel(error, request))
      },
    })

    return {
      assets: wrapping.assets,
      middleware,
      readingTools,
      tools: (tools) => tools.map(wrap) as readonly AgentTool[] as typeof tools,
      prompt: (messages) => showMessages(messages, assets, true),
      scoped,
    }
  })
}

/** Shows errors of tools to the model, as agents without such a hook do. Throws interrupts and errors of other middleware. */
function errorForModel(error: unknown, { toolCall, runtime }: ToolCallRequest): ToolMessage {
  const isInterrupt = Object(error).is_bubble_up === true || runtime.signal?.aborted
  const isOthers = MiddlewareError.isInstance(error) || ToolInvocationError.isInstance(error)
  if (isInterrupt || isOthers) throw error
  const { id = '', name } = toolCall
  const content = `${error}\n Please fix your mistakes.`
  return new ToolMessage({ content, tool_call_id: id, name, status: 'error' })
}

/** A tool that reads assets. Its results are pages, which never become assets, and references of bytes that it has read. */
function readingTool(native: AssetTool, assets: Assets): AgentTool {
  const { id: name, description } = native
  const read = (written: unknown, { signal }: { signal?: AbortSignal }) =>
    readByReference(native, Object(written), { assets, signal })
  return tool(read, { name, description, schema: assetToolSchema(native) })
}
