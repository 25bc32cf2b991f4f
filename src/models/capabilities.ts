import { is, type OptionTable } from '../core/check-options.ts'
import { catalogueEntry, directModel, type ModelPrice } from './catalogue.ts'
import type { LanguageModel } from './language-model.ts'
import { limitOf, type ModelCapabilities, type TakenTypes } from './model-capabilities.ts'
import { providerRules } from './provider-rules.ts'

/** What a model accepts, and what it costs. Each key overrides what byref knows about the model. */
export interface CapabilityOverrides {
  /**
   * MIME types of files that the model accepts in user messages: a list such as `['image/*']`, or an object with the
   * maximum bytes of one file for each type. `[]` sends no files.
   */
  takes?: readonly string[] | TakenTypes
  /** Like `takes`, for files in results of tools. */
  takesInResults?: readonly string[] | TakenTypes
  /** URLs that the provider fetches itself: patterns by MIME type. `{}` sends bytes only. */
  urls?: ModelCapabilities['urls']
  /** Maximum tokens of prompt and answer together. */
  contextWindow?: number
  /** The price in US dollars per million tokens. */
  price?: ModelPrice
  /** The kind of prompt cache marks that the provider needs. Null if it caches without marks. */
  cacheMarks?: ModelCapabilities['cacheMarks']
  /** Whether a system message may follow other messages. */
  systemAnywhere?: boolean
}

const MIME_TYPE = is.checked<string>(
  'a MIME type, such as "image/png" or "image/*"',
  (value) => typeof value === 'string' && /^[\w.+*-]+\/[\w.+*-]+$/.test(value),
)
const TAKEN = is.either(is.listOf(MIME_TYPE), is.recordOf(is.positive))
export const CAPABILITIES: OptionTable<CapabilityOverrides> = {
  ...is.all(TAKEN, 'takes', 'takesInResults'),
  urls: is.recordOf(is.listOf(is.having<RegExp>('a RegExp', 'test'))),
  contextWindow: is.positive,
  price: is.group({
    ...is.all(is.required(is.notNegative), 'input', 'output'),
    ...is.all(is.notNegative, 'cacheRead', 'cacheWrite'),
  }),
  cacheMarks: is.nullable(is.oneOf('anthropic', 'bedrock')),
  systemAnywhere: is.boolean,
}

/**
 * Maximum bytes of a body whose type has no limit, and of all bodies in one call if no limit is known: 20 MB.
 */
const DEFAULT_BYTES = 20_000_000

/**
 * Returns what the model accepts and costs. The sources are the rules for its provider and id, the model's own
 * `supportedUrls`, and the overrides, which always win. An unknown model gets only text.
 */
export async function capabilitiesOf(
  model: Pick<LanguageModel, 'provider' | 'modelId' | 'supportedUrls'>,
  overrides: CapabilityOverrides = {},
): Promise<ModelCapabilities> {
  const direct = directModel(model)
  const rules = providerRules(direct.provider, direct.modelId)
  const entry = await catalogueEntry(direct)
  const takes = overrides.takes ? withLimits(overrides.takes) : (rules.takes ?? {})
  const urls = { ...rules.urls, ...(await model.supportedUrls) }
  const { takesInResults } = overrides
  return {
    takes,
    takesInResults: takesInResults ? withLimits(takesInResults) : (rules.takesInResults ?? {}),
    perCall: { bytes: DEFAULT_BYTES, images: Infinity, files: Infinity, ...rules.perCall },
    maxImageSide: rules.maxImageSide ?? Infinity,
    maxPdfPages: rules.maxPdfPages ?? Infinity,
    urlsInResults: rules.urlsInResults ?? false,
    urls: overrides.urls ?? usefulUrls(urls, takes, rules.byUrl),
    contextWindow: overrides.contextWindow ?? entry?.contextWindow ?? null,
    price: overrides.price ?? entry?.price ?? null,
    cacheMarks:
      overrides.cacheMarks === undefined ? (rules.cacheMarks ?? null) : overrides.cacheMarks,
    systemAnywhere: overrides.systemAnywhere ?? rules.systemAnywhere ?? false,
    detailOption: rules.detailOption ?? null,
    sameNames: rules.sameNames ?? true,
    parameterNames: rules.parameterNames ?? null,
    looseTools: rules.looseTools ?? false,
    callIds: rules.callIds ?? null,
    providerCallIds: rules.providerCallIds ?? null,
    strictRoles: rules.strictRoles ?? false,
  }
}

function withLimits(types: readonly string[] | TakenTypes): TakenTypes {
  if (!Array.isArray(types)) return types as TakenTypes
  return Object.fromEntries(types.map((type) => [type, DEFAULT_BYTES]))
}

/**
 * Keeps only the URL types that the model accepts, because a provider also fetches images for models that
 * cannot see them. The AI Gateway passes URLs of all types on.
 */
function usefulUrls(
  urls: ModelCapabilities['urls'],
  takes: TakenTypes,
  byUrl: readonly string[] = [],
): ModelCapabilities['urls'] {
  const types = Object.keys(takes)
  const isUseful = (type: string): boolean => {
    if (byUrl.includes(type) || limitOf(takes, type) !== null) return true
    const family = type.replace(/\*.*$/, '')
    return type.includes('*') && types.some((mime) => mime.startsWith(family))
  }
  const { '*/*': ofAll, ...others } = urls
  const ofTaken = ofAll ? [...types, ...byUrl].map((type) => [type, ofAll] as const) : []
  const useful = Object.entries(others).filter(([type]) => isUseful(type))
  return Object.fromEntries([...ofTaken, ...useful])
}
