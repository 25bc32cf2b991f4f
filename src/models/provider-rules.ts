import { type ModelCapabilities, selectTypes, type TakenTypes } from './model-capabilities.ts'

/** What a provider's package can convert and its servers accept for one model. An absent field means none. */
export type ProviderRules = Partial<
  Omit<ModelCapabilities, 'perCall' | 'contextWindow' | 'price'>
> & {
  perCall?: Partial<ModelCapabilities['perCall']>
  /** Types that the provider accepts only by URL. */
  byUrl?: readonly string[]
}

const MB = 1_000_000
const PDF = 'application/pdf'
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const EXCEL = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

function types(names: string, bytes: number): TakenTypes {
  return Object.fromEntries(names.split(' ').map((name) => [name, bytes]))
}

/**
 * The longest side of an image that Google, Mistral and xAI accept, in pixels. It was measured:
 * https://github.com/badlogic/pi-mono/blob/main/packages/ai/test/image-limits.test.ts
 */
const MAX_SIDE = 8000

const WEB_IMAGES = 'image/png image/jpeg image/gif image/webp'

/** Rules by provider. The first pattern that matches the provider's name applies. */
const PROVIDERS: readonly (readonly [RegExp, (modelId: string) => ProviderRules])[] = [
  [/anthropic/, anthropic],
  [/^(openai|azure(-openai)?)\.chat$/, openaiChat],
  [/^(openai|azure(-openai)?)\.responses$/, openaiResponses],
  [/^google\.|^vertex\b|^googleVertex/, google],
  [/^(amazon-)?bedrock/, bedrock],
  [/^mistral\b/, mistral],
  [/^xai\b/, xai],
  // Apps choose the names of their providers of `@ai-sdk/open-responses`, which end with this.
  [/\.responses$/, () => ({ looseTools: true })],
]

/**
 * Returns the rules for a model. They follow the converters of the provider's package and the limits in its
 * documentation. An unknown model of these providers is treated like the newest ones, so only older models
 * need rules.
 */
export function providerRules(provider: string, modelId: string): ProviderRules {
  const rules = PROVIDERS.find(([pattern]) => pattern.test(provider))?.[1](modelId) ?? {}
  const isMistral = /mistral|mixtral|ministral|devstral|codestral|magistral|pixtral|voxtral/i.test(
    modelId,
  )
  return isMistral && !/bedrock|vertex/.test(provider) ? { ...rules, ...MISTRAL } : rules
}

/** The rules of Mistral's models, on any server. The errors of Mistral's API state them. */
const MISTRAL: ProviderRules = {
  callIds: /^[A-Za-z0-9]{9}$/,
  strictRoles: true,
  systemAnywhere: false,
}

/** From the error message of Anthropic's API. */
const CLAUDE_PARAMETERS = /^[\w.-]{1,64}$/

/**
 * https://docs.claude.com/en/docs/build-with-claude/vision and …/pdf-support: 5 MB of base64, 32 MB in total,
 * 2,000 px with more than 20 images, 100 pages for context windows of 200,000 tokens.
 */
function anthropic(modelId: string): ProviderRules {
  const isOld = /claude-(2|instant)/.test(modelId)
  const takes = isOld ? {} : { ...types(WEB_IMAGES, 3.75 * MB), [PDF]: 22 * MB }
  return {
    takes,
    takesInResults: takes,
    cacheMarks: 'anthropic',
    callIds: /^[\w-]+$/,
    providerCallIds: /^(srvtoolu|mcptoolu)_/,
    parameterNames: CLAUDE_PARAMETERS,
    maxImageSide: 2000,
    maxPdfPages: 100,
    urlsInResults: true,
    perCall: { bytes: 22 * MB, images: 100 },
  }
}

const OPENAI_TEXT =
  /^(gpt-3|gpt-4(-(32k|\d{4})|$)|gpt-oss|o1-(mini|preview)|o3-mini|davinci|babbage)/

/** https://platform.openai.com/docs/guides/images-vision, …/pdf-files and …/audio: 50 MB in total. */
function openaiTakes(modelId: string): TakenTypes {
  return OPENAI_TEXT.test(modelId) ? {} : { ...types(WEB_IMAGES, 20 * MB), [PDF]: 32 * MB }
}

const OPENAI = {
  systemAnywhere: true,
  detailOption: 'openai',
  // Errors of the API name the limits: 40 characters for chat completions, 64 for responses.
  callIds: /^.{1,40}$/s,
  perCall: { bytes: 35 * MB, images: 500 },
} as const

function openaiChat(modelId: string): ProviderRules {
  const acceptsAudio = /audio/.test(modelId)
  const takes = acceptsAudio ? types('audio/wav audio/mpeg', 20 * MB) : openaiTakes(modelId)
  return { ...OPENAI, takes }
}

function openaiResponses(modelId: string): ProviderRules {
  const takes = openaiTakes(modelId)
  return {
    ...OPENAI,
    callIds: /^.{1,64}$/s,
    takes,
    takesInResults: takes,
    urlsInResults: true,
  }
}

/**
 * https://ai.google.dev/gemini-api/docs/image-understanding, …/audio and …/video-understanding: 20 MB inline
 * in total.
 */
const GEMINI: TakenTypes = {
  ...types('image/png image/jpeg image/webp image/heic image/heif', 14 * MB),
  ...types('audio/wav audio/mpeg audio/aiff audio/aac audio/ogg audio/flac', 14 * MB),
  ...types('video/mp4 video/mpeg video/quicktime video/x-msvideo video/x-flv', 14 * MB),
  ...types(`video/webm video/x-ms-wmv video/3gpp ${PDF}`, 14 * MB),
}

function google(modelId: string): ProviderRules {
  const images = selectTypes(GEMINI, (mime) => mime.startsWith('image/'))
  if (/gemma/.test(modelId)) return { takes: /gemma-?[12]\b/.test(modelId) ? {} : images }
  const isOld = /gemini-(1|2)([.-]|$)|gemini-pro/.test(modelId)
  // https://ai.google.dev/gemini-api/docs/function-calling: multimodal function responses.
  const inResults = /^image\/(png|jpeg|webp)$|pdf$/
  return {
    takes: GEMINI,
    takesInResults: isOld ? {} : selectTypes(GEMINI, (mime) => inResults.test(mime)),
    maxImageSide: MAX_SIDE,
    maxPdfPages: 1000,
    perCall: { bytes: 14 * MB, images: 3000, files: 10 },
  }
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html, …_ToolResultContentBlock.html */
function bedrock(modelId: string): ProviderRules {
  const images = types(WEB_IMAGES, 3.75 * MB)
  const documents = types(`${PDF} ${WORD} ${EXCEL} application/vnd.ms-excel`, 4.5 * MB)
  const video = types('video/mp4 video/quicktime video/x-matroska video/webm', 18 * MB)
  const perCall = { bytes: 18 * MB, images: 20, files: 5 }
  const callIds = /^[\w-]{1,64}$/
  const limits = { maxImageSide: 2000, maxPdfPages: 100, perCall, callIds, sameNames: false }
  if (/claude-(v|2|instant)/.test(modelId)) return limits
  if (/claude/.test(modelId)) {
    const takes = { ...images, ...documents }
    const isOld = /claude-3-(opus|sonnet|haiku|5-sonnet)/.test(modelId)
    const parameterNames = CLAUDE_PARAMETERS
    const cacheMarks = isOld ? null : 'bedrock'
    return { ...limits, takes, takesInResults: takes, cacheMarks, parameterNames }
  }
  if (/nova-micro/.test(modelId)) return { ...limits, cacheMarks: 'bedrock' }
  if (/nova/.test(modelId)) {
    const takes = { ...images, ...documents, ...video }
    return { ...limits, takes, takesInResults: images, cacheMarks: 'bedrock' }
  }
  const isSeeing = /llama4|llama3-2-(11|90)b|pixtral/.test(modelId)
  return isSeeing ? { ...limits, takes: images } : limits
}

const MISTRAL_BLIND =
  /^(open-|codestral|devstral|mathstral|voxtral|mistral-(tiny|nemo|saba)|magistral-\w+-250[67]|ministral-\d+b-2410|mistral-(small|large)-24|mistral-small-2501|mistral-medium-23)/

/** https://docs.mistral.ai/capabilities/vision, …/document_ai/document_qna */
function mistral(modelId: string): ProviderRules {
  const images = MISTRAL_BLIND.test(modelId) ? {} : types(WEB_IMAGES, 10 * MB)
  return {
    takes: { ...images, [PDF]: 35 * MB },
    urls: { 'image/*': [/^https:\/\//] },
    ...MISTRAL,
    maxImageSide: MAX_SIDE,
    perCall: { bytes: 35 * MB, images: 8 },
  }
}

/** https://docs.x.ai/docs/guides/image-understanding and …/chat-with-files: files only by URL. */
function xai(modelId: string): ProviderRules {
  const isBlind = /^grok-(3|beta|code|2(-(latest|1212))?$)/.test(modelId)
  return {
    takes: isBlind ? {} : types('image/png image/jpeg', 20 * MB),
    byUrl: isBlind ? [] : [PDF, 'text/*'],
    systemAnywhere: true,
    detailOption: 'xai',
    maxImageSide: MAX_SIDE,
    urlsInResults: true,
    perCall: { bytes: 35 * MB },
  }
}
