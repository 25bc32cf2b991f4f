import type { CallError } from '../events/events.ts'
import { isPlainObject, type JsonValue } from '../json/json.ts'
import { oncePer } from '../once-resolved.ts'
import type { Attachment, KeptReasoning, Message, ToolCall } from './message.ts'

/** A call in an assistant's message, with the metadata that its provider expects back. */
export interface AnnouncedCall extends ToolCall {
  provider_metadata?: Record<string, unknown>
}

/**
 * A part of an answer: the next entry of `reasoning`, the next call, the next `length` characters of the text, or a call
 * that the provider executed itself. The provider expects the metadata back.
 */
export type AnswerPart =
  | { type: 'reasoning' }
  | { type: 'call' }
  | { type: 'text'; length: number; provider_metadata?: Record<string, unknown> }
  | ProviderCallPart

/** A call of a tool that the provider executes, such as its web search, or the result of such a call. */
export interface ProviderCallPart {
  type: 'provider_call' | 'provider_result'
  id: string
  name: string
  /** The arguments of the call, or its result. */
  value: JsonValue
  /** The call failed, and `value` is the error. */
  is_error?: true
  provider_metadata?: Record<string, unknown>
}

/** Where an answer's facts are from, as the provider says: a web page, or a document. */
export interface AnswerSource {
  /** An https or http URL. */
  url?: string
  title?: string
  mimeType?: string
  fileName?: string
}

/** The reserved keys of metadata that only the agent writes. */
export const AGENT_METADATA_KEYS = [
  'tool_calls',
  'tool_result',
  'has_debug_data',
  'reasoning',
  'answer_parts',
  'answer_sources',
  'incomplete',
] as const

/** The reserved keys of a message's metadata. Other keys are kept unchanged. */
export const METADATA_KEYS = [
  'attribution',
  'href',
  'footer_items',
  'attachments',
  'debug',
  ...AGENT_METADATA_KEYS,
] as const

type MetadataKey = (typeof METADATA_KEYS)[number]

/** A reserved key with a value of the wrong type. */
export interface MetadataProblem {
  /** The key, or `metadata` if the metadata is not an object. */
  key: MetadataKey | 'metadata'
  /** A description, such as `metadata.href is not text`. */
  message: string
}

/** A message's metadata, validated. */
export interface ReadMetadata {
  attribution: string | null
  href: string | null
  /** `footer_items`, in order. A single string becomes a list of one. */
  footer: readonly string[]
  /** `tool_calls`. Arguments in text are parsed as JSON; other values are put under the key `arguments`. */
  calls: readonly AnnouncedCall[]
  /** `tool_result`: the id of the call whose result the message is, and the error if the call failed. */
  result: { callId: string; error: CallError | null } | null
  attachments: readonly Attachment[]
  reasoning: readonly KeptReasoning[]
  /**
   * `answer_parts`: the parts of an answer in the order in which the model wrote them. Empty for the usual order:
   * reasoning, text, calls.
   */
  answerParts: readonly AnswerPart[]
  /** `answer_sources`: the pages and documents that the provider names as sources of the answer. */
  answerSources: readonly AnswerSource[]
  hasDebug: boolean
  /** The message was interrupted. */
  isIncomplete: boolean
  /** Keys with invalid values. */
  problems: readonly MetadataProblem[]
}

const NOTHING: ReadMetadata = Object.freeze({
  attribution: null,
  href: null,
  footer: [],
  calls: [],
  result: null,
  attachments: [],
  reasoning: [],
  answerParts: [],
  answerSources: [],
  hasDebug: false,
  isIncomplete: false,
  problems: [],
})

/**
 * Reads a message's metadata. This is the only code that knows the form of its reserved keys. It never throws,
 * and reports the invalid values that it left out. Results are cached, so do not change the metadata
 * afterwards.
 */
export function readMetadata({ metadata }: Pick<Message, 'metadata'>): ReadMetadata {
  const given: unknown = metadata
  if (given === undefined || given === null) return NOTHING
  if (!isPlainObject(given))
    return { ...NOTHING, problems: [{ key: 'metadata', message: 'metadata is not an object' }] }
  return parsed(given)
}

const parsed = oncePer(parseMetadata)

/** Reports that a value is wrong. */
type Wrong = (what: string) => void

/** Reads the value of each reserved key. */
const READERS: Readonly<Record<string, (value: unknown, wrong: Wrong) => Partial<ReadMetadata>>> = {
  attribution: (value, wrong) => ({ attribution: readText(value, wrong) }),
  href: (value, wrong) => ({ href: readText(value, wrong) }),
  footer_items: (value, wrong) => ({
    footer: readList(typeof value === 'string' ? [value] : value, wrong, (item) =>
      typeof item === 'string' ? item : null,
    ),
  }),
  tool_calls: (value, wrong) => ({ calls: readList(value, wrong, readCall) }),
  tool_result: (value, wrong) => ({ result: readResult(value, wrong) }),
  attachments: (value, wrong) => ({ attachments: readList(value, wrong, readAttachment) }),
  reasoning: (value, wrong) => ({ reasoning: readList(value, wrong, readReasoning) }),
  answer_parts: (value, wrong) => ({ answerParts: readList(value, wrong, readAnswerPart) }),
  answer_sources: (value, wrong) => ({ answerSources: readList(value, wrong, readSource) }),
  has_debug_data: (value, wrong) => ({ hasDebug: readFlag(value, wrong) }),
  incomplete: (value, wrong) => ({ isIncomplete: readFlag(value, wrong) }),
}

function parseMetadata(metadata: Record<string, unknown>): ReadMetadata {
  const problems: MetadataProblem[] = []
  const read = { ...NOTHING, problems }
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (isAbsent(value) || !Object.hasOwn(READERS, key)) continue
    const wrong: Wrong = (what) =>
      problems.push({ key: key as MetadataKey, message: `metadata.${key} ${what}` })
    Object.assign(read, READERS[key]?.(value, wrong))
  }
  return read
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function readText(value: unknown, wrong: Wrong): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value
  wrong('is not text')
  return null
}

function readFlag(value: unknown, wrong: Wrong): boolean {
  if (typeof value !== 'boolean') wrong('is not a boolean')
  return value === true
}

function readList<T>(value: unknown, wrong: Wrong, read: (item: unknown) => T | null): T[] {
  if (!Array.isArray(value)) {
    wrong('is not a list')
    return []
  }
  const items = value.map(read)
  if (items.includes(null)) wrong('has items of the wrong kind')
  return items.filter((item) => item !== null)
}

function readCall(value: unknown): AnnouncedCall | null {
  if (!isPlainObject(value) || typeof value.id !== 'string') return null
  const name = typeof value.name === 'string' ? value.name : 'unnamed tool'
  const via = typeof value.via === 'string' ? { via: value.via } : {}
  const call = { id: value.id, name, arguments: readArguments(value.arguments), ...via }
  const { provider_metadata } = value
  return isPlainObject(provider_metadata) ? { ...call, provider_metadata } : call
}

/**
 * Returns the name and the arguments as the model wrote them: those of `call_tool`, if it called the tool through it.
 */
export function asModelWrote({ via, name, arguments: args }: ToolCall): {
  name: string
  arguments: Record<string, unknown>
} {
  if (via === undefined) return { name, arguments: args }
  return { name: via, arguments: { name, arguments: args } }
}

/** Returns arguments as an object. Text is parsed as JSON; other values are put under the key `arguments`. */
function readArguments(value: unknown): Record<string, unknown> {
  if (isAbsent(value) || value === '') return {}
  if (isPlainObject(value)) return value
  if (typeof value !== 'string') return { arguments: value }
  try {
    const parsed: unknown = JSON.parse(value)
    return isPlainObject(parsed) ? parsed : { arguments: value }
  } catch {
    return { arguments: value }
  }
}

function readResult(value: unknown, wrong: Wrong): ReadMetadata['result'] {
  if (!isPlainObject(value) || typeof value.tool_call_id !== 'string') {
    wrong('has no tool_call_id')
    return null
  }
  return { callId: value.tool_call_id, error: readError(value.error) }
}

function readError(value: unknown): CallError | null {
  if (isAbsent(value) || value === false) return null
  const { code, message } = Object(value) as Record<string, unknown>
  return {
    code: typeof code === 'string' ? code : 'tool_failed',
    message: typeof message === 'string' ? message : textOf(value),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const KINDS: readonly unknown[] = ['image', 'audio', 'video', 'file']
const TEXTS = ['fileName', 'format', 'detail'] as const

function readAttachment(value: unknown): Attachment | null {
  if (!isPlainObject(value) || typeof value.assetRef !== 'string') return null
  const mimeType = typeof value.mimeType === 'string' ? value.mimeType : ''
  const named = mimeType.split('/', 1)[0]
  const kind = [value.kind, named, 'file'].find((one) => KINDS.includes(one))
  const attachment = {
    ...value,
    kind: kind as Attachment['kind'],
    assetRef: value.assetRef,
    mimeType,
  }
  for (const key of TEXTS) {
    if (typeof value[key] !== 'string') delete (attachment as Partial<Attachment>)[key]
  }
  return attachment
}

function readReasoning(value: unknown): KeptReasoning | null {
  if (!isPlainObject(value) || typeof value.text !== 'string') return null
  const { text, provider_metadata } = value
  return isPlainObject(provider_metadata) ? { text, provider_metadata } : { text }
}

function readAnswerPart(value: unknown): AnswerPart | null {
  const { type, length, provider_metadata, ...given } = Object(value) as Record<string, unknown>
  const metadata = isPlainObject(provider_metadata) ? { provider_metadata } : {}
  if (type === 'reasoning' || type === 'call') return { type }
  if (type === 'text') return typeof length === 'number' ? { type, length, ...metadata } : null
  if (type !== 'provider_call' && type !== 'provider_result') return null
  const { id, name, value: content = null, is_error } = given
  if (typeof id !== 'string' || typeof name !== 'string') return null
  const error = is_error === true ? ({ is_error } as const) : {}
  return { type, id, name, value: content as JsonValue, ...error, ...metadata }
}

const SOURCE_TEXTS = ['title', 'mimeType', 'fileName'] as const

function readSource(value: unknown): AnswerSource | null {
  if (!isPlainObject(value)) return null
  const source: AnswerSource = {}
  for (const key of SOURCE_TEXTS) {
    const text = value[key]
    if (typeof text === 'string' && text.trim() !== '') source[key] = text
  }
  // Other URLs, such as `javascript:…`, could run code when a person opens them.
  if (typeof value.url === 'string' && /^https?:\/\//i.test(value.url)) source.url = value.url
  return (source.url ?? source.title ?? source.fileName) ? source : null
}
