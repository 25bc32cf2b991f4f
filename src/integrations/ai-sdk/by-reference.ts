import type {
  LanguageModelV4ToolResultPart,
  LanguageModelV4CallOptions as Params,
} from '@ai-sdk/provider'
import { type LanguageModelMiddleware, type Tool, type ToolSet, wrapLanguageModel } from 'ai'
import { ContentCache } from '../../assets/content-access.ts'
import { queryTablesTool } from '../../assets/tables/query-tables-tool.ts'
import { TOOL_SEARCH_OPTIONS } from '../../boundary/tool-search.ts'
import { checkValue, is, type OptionTable } from '../../core/check-options.ts'
import type { TrustMode } from '../../core/events/events.ts'
import {
  CAPABILITIES,
  type CapabilityOverrides,
  capabilitiesOf,
} from '../../models/capabilities.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import { providerRules } from '../../models/provider-rules.ts'
import { CACHE_BYTES } from '../../prompt/media/media-source.ts'
import type { ShownResult } from '../../prompt/result-item.ts'
import { inStrictRoles } from '../../prompt/to-prompt.ts'
import { latestPer } from '../plain-tools.ts'
import {
  inNamespaces,
  REFERENCE_OPTIONS,
  type ReferenceOptions,
  type References,
} from '../reference-options.ts'
import { sameAssets } from '../same-assets.ts'
import { type ByReferenceTrust, resolveTrust, TRUST } from '../trust/tool-trust.ts'
import type { StepAnswer, StepRequest } from '../workflow/durable-options.ts'
import { type DurableAgent, durableSteps } from '../workflow/durable-steps.ts'
import { outputByReference } from './output-by-reference.ts'
import { type BodySources, promptByReference, showOutput } from './prompt/prompt-by-reference.ts'
import { redactPrompt } from './prompt/redact-prompt.ts'
import {
  isReadingTool,
  nativeTools,
  type ReadingTools,
  returnsPages,
} from './tools/reading-tools.ts'
import { ToolCalls, type ToolCallsOptions } from './tools/tool-calls.ts'
import { type ByReferenceToolSearch, ToolSearch } from './tools/tool-search.ts'
import { wrapTool } from './tools/wrap-tool.ts'

/** Options of {@link byReference}. */
export interface ByReferenceOptions extends ReferenceOptions {
  /**
   * What the application, its callbacks and browsers get as a tool's output. `values` (default): what the tool
   * returned. `references`: what the model sees, without bytes and long JSON. A tool with its own `toModelOutput`
   * always returns values, because that function expects them.
   */
  outputs?: 'values' | 'references'
  /**
   * Whether models find tools by search (docs/guides/many-tools.md): always (`true`), or if their schemas have more
   * tokens than `above`. `tools` then adds `search_tools` and `call_tool`. Default: never.
   */
  toolSearch?: boolean | ByReferenceToolSearch
  /**
   * The capabilities of the models, for example `{ takes: ['image/*'] }`. They override what byref knows about the
   * models.
   */
  capabilities?: CapabilityOverrides
  /**
   * How untrusted data is treated (docs/integrations/ai-sdk.md). `track`: a person is asked about calls that act on it.
   * `quarantine`: in addition, it is hidden from models. Default `off`.
   */
  trust?: TrustMode | ByReferenceTrust
}

type WrappedModel = ReturnType<typeof wrapLanguageModel>

/** Wraps AI SDK models and tools so that they pass values by reference. */
export interface ByReference extends References<ByReference> {
  /** Wraps a model. It sees references in place of files and long results, and the files of types that it accepts. */
  model(model: Parameters<typeof wrapLanguageModel>[0]['model']): WrappedModel
  /** The middleware that `model` applies, for an app that wraps its models itself. */
  readonly middleware: LanguageModelMiddleware
  /**
   * Wraps tools. Their parameters take references, and the model gets references in their results. The application gets
   * the same outputs as before. Adds `fetch_asset` and `search_asset`, which a wrapped model sees from the first long
   * result on, and with `editing` also `edit_asset`.
   */
  tools<Tools extends ToolSet>(tools: Tools): Tools & ReadingTools<Tools>
  /**
   * For agents whose calls are steps of a workflow, such as `WorkflowAgent` of `@ai-sdk/workflow`. Returns the function
   * that the app's step calls (docs/integrations/workflow.md). Steps then store references in place of files and long
   * results.
   *
   * @throws ByrefError `config_invalid` if `trust` is on
   */
  durable(agent: DurableAgent): (request: StepRequest) => Promise<StepAnswer>
}

const OPTIONS: OptionTable<ByReferenceOptions> = {
  ...REFERENCE_OPTIONS,
  outputs: is.oneOf('values', 'references'),
  toolSearch: is.either(
    is.boolean,
    is.group<ByReferenceToolSearch>({ ...TOOL_SEARCH_OPTIONS, provider: is.boolean }),
  ),
  capabilities: is.group(CAPABILITIES),
  trust: TRUST,
}

const AI_SDK_MODEL = is.checked(
  'a model object, such as openai("gpt-5-mini") or gateway("openai/gpt-5-mini")',
  (value) => typeof Object(value).doStream === 'function',
)

const TOOLS = is.recordOf(is.having<Tool>('a tool of the AI SDK'))

/**
 * Makes the AI SDK's `generateText`, `streamText` and agents pass values by reference. It does not store conversations:
 * `†result#1` is the first result in the messages of a call. So one object serves all conversations, in any process.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function byReference(options: ByReferenceOptions = {}): ByReference {
  const { toolSearch = false } = options
  const search = toolSearch === false ? null : new ToolSearch(toolSearch)
  const cache = new ContentCache(CACHE_BYTES)

  return inNamespaces<ByReference, ByReferenceOptions>(options, OPTIONS, (wrapping, scoped) => {
    const { namespace, maxResultChars } = wrapping
    const assets = sameAssets(wrapping.assets)
    const wrapped = new Map<string, ToolCalls>()
    const isOurs = (name: string) => Object.hasOwn(own, name) || search?.adds(name) === true
    const settings = resolveTrust(options.trust, (name) => isOurs(name) && !wrapped.has(name))
    const trust = settings && {
      ...settings,
      isRenamed: (name: string) => wrapped.get(name)?.options.tool.toModelOutput !== undefined,
    }
    // SQL names assets inside a text, where labels cannot be tracked.
    const natives = wrapping.reading.filter(({ id }) => !trust || id !== queryTablesTool.id)
    const own = nativeTools(natives, { assets, trust, maxResultChars })
    const pages = new Set(natives.filter(returnsPages).map(({ id }) => id))
    // Prompts repeat results, and the AI SDK keeps the object of an output from step to step.
    const once = latestPer<ShownResult | null>()
    const view = (part: LanguageModelV4ToolResultPart, number: number) =>
      once(part.output, number, async () => {
        const { output, toolName: tool, toolCallId } = part
        const isPage = pages.has(tool) || search?.adds(tool)
        const limit = isPage ? Infinity : maxResultChars
        const call = { assets, tool, toolCallId, maxResultChars: limit }
        return showOutput(part, await outputByReference(output, call), number)
      })

    /** Returns where the bodies of a prompt come from, and those that `fetch_asset` read for it. */
    async function sourcesFor(model: LanguageModel, reading: boolean): Promise<BodySources> {
      const { readsOnce, resolveInLLM } = assets.config
      const capabilities = await capabilitiesOf(model, options.capabilities)
      const none = { capabilities, assets, namespace, cache, reading, media: 'none' } as const
      const tail = readsOnce ? none : { ...none, media: 'all' as const }
      return { source: resolveInLLM ? tail : none, tail }
    }

    const middleware: LanguageModelMiddleware = {
      specificationVersion: 'v4',
      // The AI SDK must not download references: they are resolved here.
      async overrideSupportedUrls({ model }) {
        const urls = await model.supportedUrls
        return { ...urls, '*': [...(urls['*'] ?? []), /^asset:/i] }
      },
      ...search?.middleware,
      async transformParams({ params, model }) {
        const shown = await shownParams(params, model)
        return search?.defer(shown, ({ name }) => Object.hasOwn(own, name), model) ?? shown
      },
    }

    /** Returns a request with references in place of bodies and long results. */
    async function shownParams(params: Params, model: LanguageModel): Promise<Params> {
      const others = params.tools?.filter(
        (tool) => tool.type !== 'function' || !isReadingTool(tool, wrapping.reading),
      )
      const hasTools = others?.length !== params.tools?.length
      const redaction =
        trust?.mode === 'quarantine'
          ? await redactPrompt(params.prompt, { trust, tools: wrapped, assets })
          : undefined
      const hasReading = hasTools && !redaction
      const made = await promptByReference(redaction?.prompt ?? params.prompt, {
        view,
        source: () => sourcesFor(model, hasReading),
        hasReading,
        hasSql: Object.hasOwn(own, queryTablesTool.id),
        redaction,
      })
      const { strictRoles } = providerRules(model.provider, model.modelId)
      const isChanged = made.prompt !== params.prompt
      const prompt = strictRoles && isChanged ? inStrictRoles(made.prompt) : made.prompt
      if (hasTools && !(hasReading && made.isReadable)) return { ...params, prompt, tools: others }
      return prompt === params.prompt ? params : { ...params, prompt }
    }

    const model: ByReference['model'] = (given) => {
      checkValue(AI_SDK_MODEL, given, 'The model of refs.model')
      return wrapLanguageModel({ model: given, middleware })
    }

    function wrapAll(tools: ToolSet, outputs: ToolCallsOptions['outputs']): ToolSet {
      checkValue(TOOLS, tools, 'The tools of byReference')
      const mine = new Map<string, ToolCalls>()
      const made: Record<string, Tool> = {}
      for (const [name, tool] of Object.entries(tools)) {
        const how = { trust, outputs, explains: search?.hides(name) }
        const calls = new ToolCalls({ name, tool, assets, maxResultChars, ...how })
        mine.set(name, calls)
        wrapped.set(name, calls)
        made[name] = wrapTool(calls)
      }
      // The application's tools come first, and replace others of the same name.
      return { ...made, ...own, ...search?.tools(mine), ...made }
    }

    return {
      assets: wrapping.assets,
      middleware,
      model,
      tools: <Tools extends ToolSet>(tools: Tools) =>
        wrapAll(tools, options.outputs ?? 'values') as Tools & ReadingTools<Tools>,
      durable: (agent) =>
        durableSteps(agent, { trust, model, wrap: (tools) => wrapAll(tools, 'references') }),
      scoped,
    }
  })
}
