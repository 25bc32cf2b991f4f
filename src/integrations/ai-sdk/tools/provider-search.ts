import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { jsonSchema, type Tool } from 'ai'
import { noSuchTool, withParameters } from '../../../boundary/tool-index.ts'
import { SEARCH_TOOLS } from '../../../boundary/tool-search.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { LanguageModel } from '../../../models/language-model.ts'

type ProviderSearch = Pick<LanguageModelV4ProviderTool, 'id'> & { key: string }

/** The tools of providers that search, and the names of the providers' options. */
const SEARCHES: Readonly<Record<string, ProviderSearch>> = {
  'anthropic.messages': { id: 'anthropic.tool_search_bm25_20251119', key: 'anthropic' },
  'openai.responses': { id: 'openai.tool_search', key: 'openai' },
}

/** The provider's tool, whose id is known only with the model. */
export const PROVIDER_TOOL = {
  type: 'provider',
  isProviderExecuted: true,
  // A result may follow in a later answer.
  supportsDeferredResults: true,
  id: 'byref.search_tools',
  args: {},
  inputSchema: jsonSchema({}),
} as Tool

/** @throws ByrefError `config_invalid` for a model whose provider has no search */
export function providerSearch({ provider }: Pick<LanguageModel, 'provider'>): ProviderSearch {
  const search = SEARCHES[provider]
  if (search) return search
  throw new ByrefError(
    'config_invalid',
    `toolSearch.provider needs a model of ${Object.keys(SEARCHES).join(' or ')}, and this one is of "${provider}". Without "provider", byref searches for any model`,
  )
}

/** The tools that a request does not show, by name. */
type Deferred = ReadonlyMap<string, LanguageModelV4FunctionTool>

/**
 * Returns a request in which the provider defers these tools. All tools are in each request, marked as deferred, and their
 * calls are plain calls. The AI SDK keeps what the provider found in the messages.
 */
export function deferredByProvider(
  { tools = [], prompt, ...params }: LanguageModelV4CallOptions,
  deferred: Deferred,
  { id, key }: ProviderSearch,
): LanguageModelV4CallOptions {
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
  if (tool && error.includes(`Invalid input for tool ${name}: `)) {
    return { ...part, output: { ...output, value: withParameters(error, tool) } }
  }
  const isUnknown = !tool && error.includes(`Model tried to call unavailable tool '${name}'.`)
  if (!isUnknown) return part
  return { ...part, output: { ...output, value: noSuchTool(name, [...deferred.keys()]) } }
}
