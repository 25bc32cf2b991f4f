import type {
  LanguageModelV4ToolResultPart,
  LanguageModelV4CallOptions as Params,
} from '@ai-sdk/provider'
import { type LanguageModelMiddleware, type Tool, type ToolSet, wrapLanguageModel } from 'ai'
import { type AgentAssetsOptions, ASSETS, openAssets } from '../../agent/agent-assets.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { ContentCache } from '../../assets/content-access.ts'
import { TOOL_SEARCH_OPTIONS, type ToolSearchOptions } from '../../boundary/tool-search.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import type { TrustMode } from '../../core/events/events.ts'
import {
  CAPABILITIES,
  type CapabilityOverrides,
  capabilitiesOf,
} from '../../models/capabilities.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import type { ModelCapabilities } from '../../models/model-capabilities.ts'
import { TRUST_MODE } from '../../policies/trust/trust-options.ts'
import type { MediaSource } from '../../prompt/media/media-source.ts'
import { CACHE_BYTES } from '../../prompt/media/media-source.ts'
import { sameAssets } from '../same-assets.ts'
import {
  BY_REFERENCE_TRUST,
  type ByReferenceTrust,
  type KnownTrust,
  resolveTrust,
} from '../trust/tool-trust.ts'
import type { StepAnswer, StepRequest } from '../workflow/durable-options.ts'
import { type DurableAgent, durableSteps } from './durable-steps.ts'
import { outputByReference, type ResultOptions } from './output-by-reference.ts'
import { type PromptOptions, promptByReference } from './prompt/prompt-by-reference.ts'
import { ResultViews } from './prompt/result-views.ts'
import { ProviderSearch } from './tools/provider-search.ts'
import {
  editingTools,
  isReadingTool,
  type ReadingTools,
  readingTools,
} from './tools/reading-tools.ts'
import { ToolCalls } from './tools/tool-calls.ts'
import { ToolSearch } from './tools/tool-search.ts'
import { type WrapOptions, wrapTool } from './tools/wrap-tool.ts'
import { redactPrompt } from './trust/redact-prompt.ts'

/** Options of the search of tools in {@link byReference}. */
export interface ByReferenceToolSearch extends ToolSearchOptions {
  /**
   * Whether the model's provider searches, with its own deferred tools: Anthropic, and OpenAI's Responses API. Requests then
   * have all schemas, which the provider shows to the model when it finds them. Default: false.
   */
  provider?: boolean
}

/** Options of {@link byReference}. */
export interface ByReferenceOptions extends AgentAssetsOptions {
  /** The namespace of all assets. Default: none. */
  namespace?: string | null
  /** Characters of JSON above which a result becomes an asset, and the model gets its reference and a preview. Default: 32,768. */
  maxResultChars?: number
  /**
   * What the application, its callbacks and browsers get as a tool's output: `values`, as the tool returned them, or
   * `references`, as the model sees them, without bytes and long JSON. Default: `values`. A tool with its own `toModelOutput`
   * always gives values, because that function expects them.
   */
  outputs?: 'values' | 'references'
  /**
   * Whether models find tools by search (docs/guides/many-tools.md): always (`true`), or if their schemas have more tokens
   * than `above`. `tools` then adds `search_tools` and `call_tool`. Default: never.
   */
  toolSearch?: boolean | ByReferenceToolSearch
  /** Whether `tools` adds `edit_asset`, which makes new versions of assets. Default false. */
  editing?: boolean
  /** Capabilities of the models that differ from the catalogue: the types of content that they take. */
  capabilities?: CapabilityOverrides
  /**
   * How untrusted data is treated (docs/reference/trust.md). `track` asks a person about calls that act on it; `quarantine` also hides
   * it from models. Default `off`.
   */
  trust?: TrustMode | ByReferenceTrust
}

type WrappedModel = ReturnType<typeof wrapLanguageModel>

/** Models and tools of the AI SDK by reference. */
export interface ByReference {
  /** Wraps a model. It sees references in place of bodies and long results, and the bodies of types that it takes. */
  model(model: Parameters<typeof wrapLanguageModel>[0]['model']): WrappedModel
  /** The middleware of `model`, for an app that wraps its models itself. */
  readonly middleware: LanguageModelMiddleware
  /**
   * Wraps tools. Their parameters take references, and the model gets references in their results. The application gets the
   * same outputs as before. Adds `fetch_asset` and `search_asset`, which a wrapped model sees from the first long result on, and
   * with `editing` also `edit_asset`.
   */
  tools<Tools extends ToolSet>(tools: Tools): Tools & ReadingTools<Tools>
  /**
   * Makes an agent whose calls are steps of a workflow, such as `WorkflowAgent` of `@ai-sdk/workflow`. Returns the function that
   * the app's step calls (docs/integrations/workflow.md). Steps then store references in place of bodies and long results.
   *
   * @throws ByrefError `config_invalid` if `trust` is on
   */
  durable(agent: DurableAgent): (request: StepRequest) => Promise<StepAnswer>
  /** Returns the same in another namespace. */
  scoped(namespace: string | null): ByReference
  /** The store of bodies and long results. Save and read your own assets here, too. */
  readonly assets: Assets
}

const MAX_RESULT_CHARS = 32 * 1024

const OPTIONS: OptionTable<ByReferenceOptions> = {
  assets: ASSETS,
  namespace: is.nullable(is.string),
  maxResultChars: is.positive,
  outputs: is.oneOf('values', 'references'),
  editing: is.boolean,
  toolSearch: is.either(
    is.boolean,
    is.group<ByReferenceToolSearch>({ ...TOOL_SEARCH_OPTIONS, provider: is.boolean }),
  ),
  capabilities: is.group(CAPABILITIES),
  trust: is.either(TRUST_MODE, is.group(BY_REFERENCE_TRUST)),
}

/**
 * Makes `generateText`, `streamText` and agents of the AI SDK pass values by reference. It stores nothing of conversations:
 * `†result#1` is the first result in the messages of a call. So one object serves all conversations, in any process.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function byReference(options: ByReferenceOptions = {}): ByReference {
  checkOptions('byReference', options, OPTIONS)
  const { namespace = null, maxResultChars = MAX_RESULT_CHARS, capabilities } = options
  const { outputs = 'values', editing = false, toolSearch = false } = options
  const search = toolSearch === false ? null : searchOf(toolSearch)
  const settings = resolveTrust(options.trust)
  const opened = openAssets(options, namespace, () => {})
  const cache = new ContentCache(CACHE_BYTES)
  const known = new WeakMap<object, Promise<ModelCapabilities>>()

  function capabilitiesFor(model: LanguageModel): Promise<ModelCapabilities> {
    const found = known.get(model) ?? capabilitiesOf(model, capabilities)
    known.set(model, found)
    return found
  }

  function within(namespace: string | null): ByReference {
    const scoped = opened.in(namespace)
    const assets = sameAssets(scoped)
    const wrapped = new Map<string, ToolCalls>()
    const trust = settings && { ...settings, trustOf }
    const reading = readingTools({ assets, trust })
    const own = editing
      ? { ...reading, ...editingTools({ assets, trust, maxResultChars }) }
      : reading
    const views = new ResultViews(async (part) => outputByReference(part.output, optionsOf(part)))

    function trustOf(name: string): KnownTrust {
      const isNative = (Object.hasOwn(own, name) || search?.adds(name)) && !wrapped.has(name)
      const given = settings && Object.hasOwn(settings.tools, name) ? settings.tools[name] : null
      const isRenamed = wrapped.get(name)?.isRenamed
      return { ...(given ?? (isNative ? { readOnly: true, openWorld: false } : {})), isRenamed }
    }

    function optionsOf({ toolName, toolCallId }: LanguageModelV4ToolResultPart): ResultOptions {
      const isPage = Object.hasOwn(reading, toolName) || search?.adds(toolName)
      const max = isPage ? Infinity : maxResultChars
      return { assets, tool: toolName, toolCallId, maxResultChars: max }
    }

    async function sourceFor(model: LanguageModel, reading: boolean) {
      const capabilities = await capabilitiesFor(model)
      return sourcesOf({ capabilities, assets, namespace, cache, reading })
    }

    const middleware: LanguageModelMiddleware = {
      specificationVersion: 'v4',
      // The AI SDK must not download references: they are resolved here.
      async overrideSupportedUrls({ model }) {
        const urls = await model.supportedUrls
        return { ...urls, '*': [...(urls['*'] ?? []), /^asset:/i] }
      },
      ...(search instanceof ToolSearch ? search.middleware : {}),
      async transformParams({ params, model }) {
        const shown = await shownParams(params, model)
        return search?.defer(shown, ({ name }) => Object.hasOwn(own, name), model) ?? shown
      },
    }

    /** Returns a request with references in place of bodies and long results. */
    async function shownParams(params: Params, model: LanguageModel): Promise<Params> {
      const others = params.tools?.filter(
        (tool) => tool.type !== 'function' || !isReadingTool(tool),
      )
      const hasTools = others?.length !== params.tools?.length
      const redaction =
        trust?.mode === 'quarantine'
          ? await redactPrompt(params.prompt, { trust, tools: wrapped, assets })
          : undefined
      const hasReading = hasTools && !redaction
      const source = () => sourceFor(model, hasReading)
      const hasSql = Object.hasOwn(reading, 'query_tables')
      const how: PromptOptions = { views, source, hasReading, hasSql, redaction }
      const given = redaction?.prompt ?? params.prompt
      const { prompt, isReadable } = await promptByReference(given, how)
      if (hasTools && !(hasReading && isReadable)) return { ...params, prompt, tools: others }
      return prompt === params.prompt ? params : { ...params, prompt }
    }

    const model: ByReference['model'] = (model) => wrapLanguageModel({ model, middleware })

    function wrapAll(tools: ToolSet, outputs: WrapOptions['outputs']): ToolSet {
      const made: Record<string, Tool> = {}
      for (const [name, tool] of Object.entries(tools)) {
        const how = { trust, outputs, explains: search?.hides(name) }
        const options = { name, tool, assets, maxResultChars, ...how }
        const calls = new ToolCalls(options)
        wrapped.set(name, calls)
        made[name] = wrapTool(calls, options)
      }
      const names = Object.keys(tools)
      const mine = new Map(names.map((name) => [name, wrapped.get(name) as ToolCalls]))
      const added = { ...own, ...search?.tools(mine) }
      for (const [name, tool] of Object.entries(added)) made[name] ??= tool
      return made
    }

    return {
      assets: scoped,
      middleware,
      model,
      tools: <Tools extends ToolSet>(tools: Tools) =>
        wrapAll(tools, outputs) as Tools & ReadingTools<Tools>,
      durable: (agent) =>
        durableSteps(agent, { trust, model, wrap: (tools) => wrapAll(tools, 'references') }),
      scoped: within,
    }
  }

  return within(namespace)
}

/** Returns where the bodies of a prompt come from, and those that `fetch_asset` read for it. */
function sourcesOf(source: Omit<MediaSource, 'media'> & { assets: Assets }) {
  const { readsOnce, resolveInLLM } = source.assets.config
  const tail = { ...source, media: readsOnce ? ('none' as const) : ('all' as const) }
  return { source: resolveInLLM ? tail : { ...source, media: 'none' as const }, tail }
}

function searchOf(option: true | ByReferenceToolSearch): ToolSearch | ProviderSearch {
  if (option === true) return new ToolSearch(true)
  const { provider = false, ...rest } = option
  return provider ? new ProviderSearch(rest) : new ToolSearch(rest)
}
