import type { LanguageModelV4FunctionTool, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import {
  asSchema,
  type LanguageModelMiddleware,
  type Tool,
  type ToolSet,
  wrapLanguageModel,
} from 'ai'
import { type AgentAssetsOptions, ASSETS, openAssets } from '../../agent/agent-assets.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { Tool as ByrefTool } from '../../boundary/tool.ts'
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
import { createMediaCache } from '../../prompt/media/media-cache.ts'
import type { MediaSource } from '../../prompt/media/media-source.ts'
import { outputByReference } from './model-output.ts'
import { promptByReference } from './prompt/prompt-by-reference.ts'
import { createResultViews } from './prompt/result-views.ts'
import { sameAssets } from './same-assets.ts'
import { type ReadingTools, readingTools } from './tools/reading-tools.ts'
import { wrapTool } from './tools/wrap-tool.ts'
import { redactPrompt } from './trust/redact-prompt.ts'
import {
  BY_REFERENCE_TRUST,
  type ByReferenceTrust,
  flowTool,
  type KnownTrust,
  resolveTrust,
} from './trust/tool-trust.ts'

/** Options of {@link byReference}. */
export interface ByReferenceOptions extends AgentAssetsOptions {
  /** The namespace of all assets. Default: none. */
  namespace?: string | null
  /** Characters of JSON above which a result becomes an asset, and the model gets its reference and a preview. Default: 32,768. */
  maxResultChars?: number
  /**
   * What the application, its callbacks and browsers are given as a tool's output: `values`, as the tool returned it, or
   * `references`, the same as the model is shown: no bytes and no long JSON. Default: `values`. A tool that has a
   * `toModelOutput` of its own always gives its values, which that function expects.
   */
  outputs?: 'values' | 'references'
  /** What is known better of the models than the catalogue says: what they take. */
  capabilities?: CapabilityOverrides
  /**
   * How what nobody vouches for is treated (docs/trust.md): `track` holds up calls that act on it, `quarantine` also shows
   * models nothing of it. Default `off`.
   */
  trust?: TrustMode | ByReferenceTrust
}

type WrappedModel = ReturnType<typeof wrapLanguageModel>

/** Models and tools of the AI SDK by reference. */
export interface ByReference {
  /** The model, shown references in place of bodies and long results, and bodies where it takes them. */
  model(model: Parameters<typeof wrapLanguageModel>[0]['model']): WrappedModel
  /** What `model` wraps with, for an app that wraps its models itself. */
  readonly middleware: LanguageModelMiddleware
  /**
   * The tools, whose parameters take references, and whose results are references for the model; to the application they
   * give what they gave before. With the tools that long results are read by, which a model that is wrapped is shown from
   * the first such result on.
   */
  tools<Tools extends ToolSet>(tools: Tools): Tools & ReadingTools<Tools>
  /** The same in another namespace. */
  scoped(namespace: string | null): ByReference
  /** Where bodies and long results are kept: assets of one's own are saved here, and read by their references. */
  readonly assets: Assets
}

const MAX_RESULT_CHARS = 32 * 1024

const OPTIONS: OptionTable<ByReferenceOptions> = {
  assets: ASSETS,
  namespace: is.nullable(is.string),
  maxResultChars: is.positive,
  outputs: is.oneOf('values', 'references'),
  capabilities: is.group(CAPABILITIES),
  trust: is.either(TRUST_MODE, is.group(BY_REFERENCE_TRUST)),
}

/**
 * Makes `generateText`, `streamText` and agents of the AI SDK pass by reference. It keeps nothing of conversations: what
 * `†result#1` names is read from the messages of a call, so that one serves all conversations, in any process.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function byReference(options: ByReferenceOptions = {}): ByReference {
  checkOptions('byReference', options, OPTIONS)
  const { namespace = null, maxResultChars = MAX_RESULT_CHARS, capabilities } = options
  const { outputs = 'values' } = options
  const trust = resolveTrust(options.trust)
  const opened = openAssets(options, namespace, () => {})
  const cache = createMediaCache()
  const known = new WeakMap<object, Promise<ModelCapabilities>>()

  function capabilitiesFor(model: LanguageModel): Promise<ModelCapabilities> {
    const found = known.get(model) ?? capabilitiesOf(model, capabilities)
    known.set(model, found)
    return found
  }

  function within(namespace: string | null): ByReference {
    const own = opened.in(namespace)
    const assets = sameAssets(own)
    const shaped = new Map<string, Tool>()
    const guard = trust && { trust, trustOf: (name: string) => trustOf(name) }
    const reading = readingTools(assets, guard)
    const views = createResultViews(async (part) => outputByReference(part.output, howFor(part)))

    /** The tools that read are ours, unless the application has some of these names. */
    function trustOf(name: string): KnownTrust {
      const isOurs = Object.hasOwn(reading.tools, name) && !shaped.has(name)
      const said = trust && Object.hasOwn(trust.tools, name) ? trust.tools[name] : undefined
      const isRenamed = shaped.get(name)?.toModelOutput !== undefined
      return { ...(said ?? (isOurs ? { readOnly: true, openWorld: false } : {})), isRenamed }
    }

    async function toolOf(name: string) {
      const { outputSchema } = shaped.get(name) ?? {}
      if (!outputSchema) return undefined
      const described = { outputSchema: await asSchema(outputSchema).jsonSchema }
      return { ...flowTool(name, {}), ...described } as ByrefTool
    }

    function howFor({ toolName, toolCallId }: LanguageModelV4ToolResultPart) {
      const isPage = Object.hasOwn(reading.tools, toolName)
      return { assets, toolName, toolCallId, maxResultChars: isPage ? Infinity : maxResultChars }
    }

    async function sourceFor(
      model: LanguageModel,
      reading: boolean,
    ): Promise<{ source: MediaSource; tail: MediaSource }> {
      const { readsOnce, resolveInLLM } = assets.config
      const known = await capabilitiesFor(model)
      const source = { capabilities: known, assets, namespace, cache, reading }
      return {
        source: { ...source, media: readsOnce || !resolveInLLM ? 'none' : 'all' },
        tail: { ...source, media: readsOnce ? 'none' : 'all' },
      }
    }

    const middleware: LanguageModelMiddleware = {
      specificationVersion: 'v4',
      // References are not downloaded: they are resolved here.
      async overrideSupportedUrls({ model }) {
        const own = await model.supportedUrls
        return { ...own, '*': [...(own['*'] ?? []), /^asset:/i] }
      },
      async transformParams({ params, model }) {
        const isReading = (tool: unknown): boolean =>
          reading.isOwn(tool as LanguageModelV4FunctionTool)
        const hasReading = params.tools?.some(isReading) ?? false
        const source = () => sourceFor(model, hasReading && trust?.mode !== 'quarantine')
        const redaction =
          trust?.mode === 'quarantine'
            ? await redactPrompt(params, { trust, trustOf, toolOf, assets })
            : undefined
        const { prompt, isReadable } = await promptByReference(redaction?.prompt ?? params.prompt, {
          ...{ views, source, hasReading: hasReading && !redaction, redaction },
        })
        if (!hasReading || (isReadable && !redaction))
          return prompt === params.prompt ? params : { ...params, prompt }
        return { ...params, prompt, tools: params.tools?.filter((tool) => !isReading(tool)) }
      },
    }

    return {
      assets: own,
      middleware,
      model: (model) => wrapLanguageModel({ model, middleware }),
      tools<Tools extends ToolSet>(tools: Tools) {
        const wrapped = Object.entries(tools).map(([name, tool]) => {
          shaped.set(name, tool)
          return [name, wrapTool(name, tool, { assets, maxResultChars, guard, outputs })]
        })
        const more = Object.entries(reading.tools).filter(([name]) => !Object.hasOwn(tools, name))
        return Object.fromEntries([...wrapped, ...more]) as Tools & ReadingTools<Tools>
      },
      scoped: within,
    }
  }

  return within(namespace)
}
