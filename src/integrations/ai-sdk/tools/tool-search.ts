import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'
import { jsonSchema, type LanguageModelMiddleware, type Tool } from 'ai'
import { describeTool } from '../../../boundary/describe-tool.ts'
import { jsonSchemaOf, type ToolContext } from '../../../boundary/tool.ts'
import { ToolIndex } from '../../../boundary/tool-index.ts'
import {
  CALL_TOOL,
  isSearched,
  SEARCH_TOOLS,
  searchTools,
  type ToolSearchOptions,
  takenName,
  unwrapValidCallTool,
} from '../../../boundary/tool-search.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { ToolCall } from '../../../core/messages/message.ts'
import { asModelWrote } from '../../../core/messages/read-metadata.ts'
import { onceResolved } from '../../../core/once-resolved.ts'
import type { LanguageModel } from '../../../models/language-model.ts'
import { argumentsInText } from '../../json-in-text.ts'
import { deferredByProvider, PROVIDER_TOOL, providerSearch } from './provider-search.ts'
import type { ToolCalls } from './tool-calls.ts'

type Params = LanguageModelV4CallOptions

/** Options of tool search in `byReference`. */
export interface ByReferenceToolSearch extends ToolSearchOptions {
  /**
   * Whether the model's provider searches the tools: Anthropic, and OpenAI's Responses API. Requests then contain all
   * schemas, and the provider shows the model those that it finds. Default: false.
   */
  provider?: boolean
}

type Middleware = Required<Pick<LanguageModelMiddleware, 'wrapGenerate' | 'wrapStream'>>

/** The types of all tools of a request, by name. Calls may name functions, and a provider runs the others. */
type RequestTools = ReadonlyMap<string, NonNullable<Params['tools']>[number]['type']>

/** Lets models find the tools of an application by search. It keeps nothing between requests. */
export class ToolSearch {
  readonly #option: true | ToolSearchOptions
  /** Whether the model's provider searches. */
  readonly #isProviders: boolean
  /** The tools of requests that do not show all their tools. */
  readonly #requests = new WeakMap<Params, RequestTools>()
  /** The names that `search_tools` finds, by the schema of that tool. */
  readonly #found = new WeakMap<object, ReadonlySet<string>>()

  /** @throws ByrefError `config_invalid` for both `provider` and `rank` */
  constructor(option: true | ByReferenceToolSearch) {
    this.#option = option
    const { provider = false, rank }: ByReferenceToolSearch = Object(option)
    this.#isProviders = provider
    if (!provider || !rank) return
    throw new ByrefError(
      'config_invalid',
      'toolSearch has "provider" and "rank". The provider ranks: leave out one of them',
    )
  }

  /**
   * Returns `search_tools` and `call_tool` for an application's tools, or the tool of the provider that searches.
   *
   * @throws ByrefError `config_invalid` if the application has a tool with one of these names
   */
  tools(tools: ReadonlyMap<string, ToolCalls>): Record<string, Tool> {
    if (this.#isProviders) return { [SEARCH_TOOLS]: PROVIDER_TOOL }
    const taken = [...tools.keys()].find((name) => this.adds(name))
    if (taken !== undefined) throw takenName(taken)
    const hidden = [...tools].filter(([name, { options }]) => {
      return options.tool.type !== 'provider' && this.hides(name)
    })
    const names = hidden.map(([name]) => name)
    const index = onceResolved(async () => {
      const described = await Promise.all(hidden.map(([, calls]) => calls.described()))
      const found = described.map((tool) => ({
        ...describeTool(tool),
        description: tool.description,
      }))
      return new ToolIndex(found, this.#option === true ? undefined : this.#option.rank)
    })
    const made = searchTools(names, index).map((tool): [string, Tool] => {
      const { id, description } = tool
      const schema = jsonSchemaOf(tool)
      this.#found.set(schema, new Set(names))
      const execute = (input: unknown) => tool.execute(input, {} as ToolContext)
      return [id, { description, inputSchema: jsonSchema(schema), execute } as Tool]
    })
    return Object.fromEntries(made)
  }

  /**
   * Returns a request without the tools that the model finds by search, or with these deferred to the provider. Calls
   * of tools that it does not show are shown as they came: through `call_tool`.
   *
   * @param isOwn Whether a tool is one of byref's, which are always shown.
   * @throws ByrefError `config_invalid` for a model whose provider should search, and cannot
   */
  defer(params: Params, isOwn: (tool: { name: string }) => boolean, model: LanguageModel): Params {
    const { tools = [], toolChoice } = params
    const search = tools.find(({ name }) => name === SEARCH_TOOLS)
    if (search?.type !== (this.#isProviders ? 'provider' : 'function')) return params
    const provider = this.#isProviders ? providerSearch(model) : null
    const found = search.type === 'function' ? this.#found.get(search.inputSchema) : undefined
    const others = tools.filter((tool) => !this.adds(tool.name))
    const chosen = toolChoice?.type === 'tool' ? toolChoice.toolName : null
    const deferred = new Map<string, LanguageModelV4FunctionTool>()
    for (const tool of others) {
      const isFound = found?.has(tool.name) ?? true
      const isShown = !isFound || !this.hides(tool.name) || tool.name === chosen || isOwn(tool)
      if (tool.type === 'function' && !isShown) deferred.set(tool.name, tool)
    }
    if (deferred.size === 0 || !isSearched(this.#option, () => JSON.stringify(others).length)) {
      return { ...params, tools: others.length > 0 ? others : undefined }
    }
    if (provider) return deferredByProvider(params, deferred, provider)
    const shown = tools.filter(({ name }) => !deferred.has(name))
    const isHidden = (name: string) => !shown.some((tool) => tool.name === name) && !isOwn({ name })
    const prompt = params.prompt.map((message) => asWritten(message, isHidden))
    const request = { ...params, tools: shown, prompt }
    this.#requests.set(request, new Map(tools.map(({ name, type }) => [name, type])))
    return request
  }

  /** Turns calls of `call_tool` in answers into calls of the tools that they name. */
  readonly middleware: Middleware = {
    wrapGenerate: async ({ doGenerate, params }) => {
      const tools = this.#requests.get(params)
      const result = await doGenerate()
      if (!tools) return result
      const content = result.content.map((part) =>
        part.type === 'tool-call' ? calledBy(part, tools) : part,
      )
      return { ...result, content }
    },
    wrapStream: async ({ doStream, params }) => {
      const tools = this.#requests.get(params)
      const result = await doStream()
      if (!tools) return result
      return { ...result, stream: result.stream.pipeThrough(unwrapping(tools)) }
    },
  }

  /** Whether a tool is one that byref adds: `search_tools`, or `call_tool`. */
  adds(name: string): boolean {
    return name === SEARCH_TOOLS || (name === CALL_TOOL && !this.#isProviders)
  }

  /** Whether requests may leave out a tool of the application. */
  hides(name: string): boolean {
    return this.#option === true || !this.#option.pinned?.includes(name)
  }
}

/** Returns a message with calls of hidden tools as the model wrote them. */
function asWritten(
  message: LanguageModelV4Message,
  isHidden: (tool: string) => boolean,
): LanguageModelV4Message {
  const { role } = message
  if (role !== 'assistant' && role !== 'tool') return message
  const content = message.content.map((part) => {
    const isCall = part.type === 'tool-call' && !part.providerExecuted
    const isResult = part.type === 'tool-result' && role === 'tool'
    if (!(isCall || isResult) || !isHidden(part.toolName)) return part
    if (part.type === 'tool-result') return { ...part, toolName: CALL_TOOL }
    const { toolCallId: id, toolName: name } = part
    const call = { id, name, arguments: Object(part.input), via: CALL_TOOL }
    return { ...part, toolName: CALL_TOOL, input: asModelWrote(call).arguments }
  })
  return { ...message, content } as LanguageModelV4Message
}

/**
 * Returns the call that a call of `call_tool` stands for. A call of an unknown tool becomes one of `call_tool`, which
 * answers with the nearest names.
 */
function calledBy(call: LanguageModelV4ToolCall, tools: RequestTools): LanguageModelV4ToolCall {
  if (!isUnnamed(call, tools)) return call
  const { toolCallId: id, toolName } = call
  const input = Object(argumentsInText(call.input))
  const written: ToolCall =
    toolName === CALL_TOOL
      ? { id, name: toolName, arguments: input }
      : { id, name: CALL_TOOL, arguments: { name: toolName, arguments: input } }
  const { via, name, arguments: args } = unwrapValidCallTool(written)
  if (via === undefined) return call
  return tools.get(name) === 'function' && name !== CALL_TOOL
    ? { ...call, toolName: name, input: JSON.stringify(args) }
    : { ...call, toolName: CALL_TOOL, input: JSON.stringify({ name, arguments: args }) }
}

/** Whether the name of a call is not the name of the tool that runs. */
function isUnnamed(
  { toolName, providerExecuted }: { toolName: string; providerExecuted?: boolean },
  tools: RequestTools,
): boolean {
  return !providerExecuted && (toolName === CALL_TOOL || !tools.has(toolName))
}

/** Holds back the input of a call until it is known which tool is called. */
function unwrapping(tools: RequestTools) {
  const held = new Set<string>()
  return new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      if (part.type === 'tool-input-start' && isUnnamed(part, tools)) held.add(part.id)
      const isInput = part.type.startsWith('tool-input-')
      if (isInput && 'id' in part && held.has(part.id ?? '')) return
      if (part.type !== 'tool-call') {
        controller.enqueue(part)
        return
      }
      const call = calledBy(part, tools)
      const { toolCallId: id, toolName, input } = call
      if (held.delete(id)) {
        controller.enqueue({ type: 'tool-input-start', id, toolName })
        controller.enqueue({ type: 'tool-input-delta', id, delta: input })
        controller.enqueue({ type: 'tool-input-end', id })
      }
      controller.enqueue(call)
    },
  })
}
