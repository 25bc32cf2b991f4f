import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
} from '@ai-sdk/provider'
import { jsonSchema, type Tool } from 'ai'
import { noSuchTool } from '../../../boundary/tool-index.ts'
import { SEARCH_TOOLS, type ToolSearchOptions } from '../../../boundary/tool-search.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { LanguageModel } from '../../../models/language-model.ts'
import { deferredIn, withHelp, withoutSearch } from './tool-search.ts'

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
    const { tools = [], prompt } = params
    if (!tools.some(({ name }) => name === SEARCH_TOOLS)) return params
    const search = SEARCHES[provider]
    if (!search) {
      throw new ByrefError(
        'config_invalid',
        `toolSearch.provider needs a model of ${Object.keys(SEARCHES).join(' or ')}, and this one is of "${provider}". Without "provider", byref searches for any model`,
      )
    }
    const deferred = deferredIn(params, isOwn, this.#option)
    if (!deferred) return withoutSearch(params)
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
          part.type === 'tool-result' ? withHelp(part, deferred, noSuchTool) : part,
        )
        return { ...message, content }
      }),
    }
  }
}
