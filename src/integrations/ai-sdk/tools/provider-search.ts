import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { jsonSchema, type Tool } from 'ai'
import { noSuchTool, withParameters } from '../../../boundary/tool-index.ts'
import { isSearched, SEARCH_TOOLS, type ToolSearchOptions } from '../../../boundary/tool-search.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { LanguageModel } from '../../../models/language-model.ts'

type Params = LanguageModelV4CallOptions

/** The tool of a provider that searches, and the name of the provider's options. */
const SEARCHES: Readonly<Record<string, { id: LanguageModelV4ProviderTool['id']; key: string }>> = {
  'anthropic.messages': { id: 'anthropic.tool_search_bm25_20251119', key: 'anthropic' },
  'openai.responses': { id: 'openai.tool_search', key: 'openai' },
}

/**
 * Lets the model's provider find the tools of an application. All tools are in each request, marked as deferred, and their
 * calls are plain calls. The AI SDK keeps what the provider found in the messages.
 */
export class ProviderSearch {
  readonly #option: ToolSearchOptions

  /** @throws ByrefError `config_invalid` with `rank`: the provider ranks */
  constructor(option: ToolSearchOptions) {
    if (option.rank) {
      throw new ByrefError(
        'config_invalid',
        'toolSearch has "provider" and "rank". The provider ranks: leave out one of them',
      )
    }
    this.#option = option
  }

  /** Whether a tool is the one that byref adds. */
  adds(name: string): boolean {
    return name === SEARCH_TOOLS
  }

  /** Whether the provider may hide a tool of the application. */
  hides(name: string): boolean {
    return name !== SEARCH_TOOLS && !this.#option.pinned?.includes(name)
  }

  /** Returns the provider's tool, whose id is known only with the model. */
  tools(): Record<string, Tool> {
    const tool = {
      type: 'provider',
      isProviderExecuted: true,
      // A result may follow in a later answer.
      supportsDeferredResults: true,
      id: 'byref.search_tools',
      args: {},
      inputSchema: jsonSchema({}),
    }
    return { [SEARCH_TOOLS]: tool as Tool }
  }

  /**
   * Returns a request in which the provider defers the application's tools.
   *
   * @param isOwn Whether a tool is one of byref's, which are never deferred.
   * @throws ByrefError `config_invalid` for a model whose provider has no search
   */
  defer(
    params: Params,
    isOwn: (tool: LanguageModelV4FunctionTool) => boolean,
    { provider }: Pick<LanguageModel, 'provider'>,
  ): Params {
    const { tools = [], toolChoice, prompt } = params
    if (!tools.some(({ name }) => name === SEARCH_TOOLS)) return params
    const search = SEARCHES[provider]
    if (!search) {
      throw new ByrefError(
        'config_invalid',
        `toolSearch.provider needs a model of ${Object.keys(SEARCHES).join(' or ')}, and this one is of "${provider}". Without "provider", byref searches for any model`,
      )
    }
    const chosen = toolChoice?.type === 'tool' ? toolChoice.toolName : null
    const candidates = tools.filter(
      (tool): tool is LanguageModelV4FunctionTool =>
        tool.type === 'function' && this.hides(tool.name) && tool.name !== chosen && !isOwn(tool),
    )
    if (!isSearched(this.#option, () => JSON.stringify(candidates).length)) {
      return { ...params, tools: tools.filter(({ name }) => name !== SEARCH_TOOLS) }
    }
    const deferred = new Map(candidates.map((tool) => [tool.name, tool]))
    const { id, key } = search
    return {
      ...params,
      tools: tools.map((tool) => {
        if (tool.name === SEARCH_TOOLS) return { type: 'provider', id, name: tool.name, args: {} }
        if (tool.type !== 'function' || !deferred.has(tool.name)) return tool
        const options = { ...tool.providerOptions?.[key], deferLoading: true }
        return { ...tool, providerOptions: { ...tool.providerOptions, [key]: options } }
      }),
      prompt: prompt.map((message) => {
        if (message.role !== 'tool') return message
        const content = message.content.map((part) =>
          part.type === 'tool-result' ? withHelp(part, deferred) : part,
        )
        return { ...message, content }
      }),
    }
  }
}

/** The tools that a request does not show, by name. */
type Deferred = ReadonlyMap<string, LanguageModelV4FunctionTool>

/**
 * Adds the parameters of a deferred tool to an error about its arguments. An error about an unknown tool gets the nearest
 * names: the AI SDK lists the names of all tools.
 */
function withHelp(
  part: LanguageModelV4ToolResultPart,
  deferred: Deferred,
): LanguageModelV4ToolResultPart {
  const { toolName: name, output } = part
  if (output.type !== 'error-text') return part
  const { value: error } = output
  const tool = deferred.get(name)
  const isMisfit = error.includes(`Invalid input for tool ${name}: `)
  if (tool && isMisfit) {
    return { ...part, output: { ...output, value: withParameters(error, tool) } }
  }
  const isUnknown = !tool && error.includes(`Model tried to call unavailable tool '${name}'.`)
  if (!isUnknown) return part
  return { ...part, output: { ...output, value: noSuchTool(name, [...deferred.keys()]) } }
}
