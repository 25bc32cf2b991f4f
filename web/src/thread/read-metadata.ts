import type { Attachment, Message, ToolCall } from 'byref/client'

/** What the app shows of a message's metadata, whatever was really in there. */
export interface ReadMetadata {
  attribution: string | null
  href: string | null
  footer: string[]
  calls: ToolCall[]
  result: { callId: string; error: { code: string; message: string } | null } | null
  attachments: Attachment[]
  hasDebug: boolean
  /** What is not as it should be, in words. */
  problems: string[]
}

const cache = new WeakMap<Message, ReadMetadata>()

/** Reads a message's metadata; never throws, and says what it had to leave out. */
export function readMetadata(message: Message): ReadMetadata {
  const known = cache.get(message)
  if (known) return known
  const read = readAnew(message)
  cache.set(message, read)
  return read
}

function readAnew(message: Message): ReadMetadata {
  const problems: string[] = []
  const metadata = record(message.metadata) ?? {}
  const wrong = (key: string, what: string) => problems.push(`metadata.${key} ${what}`)

  function list<T>(key: string, value: unknown, read: (item: unknown) => T | null): T[] {
    if (value === undefined || value === null) return []
    if (!Array.isArray(value)) {
      wrong(key, 'is not a list')
      return []
    }
    const items = value.map(read)
    if (items.includes(null)) wrong(key, 'has items of the wrong kind')
    return items.filter((item) => item !== null)
  }

  function text(key: string): string | null {
    const value = metadata[key]
    if (value === undefined || value === null) return null
    if (typeof value === 'string') return value.trim() === '' ? null : value
    wrong(key, 'is not text')
    return null
  }

  const footer = metadata.footer_items
  return {
    attribution: text('attribution'),
    href: text('href'),
    footer: list('footer_items', typeof footer === 'string' ? [footer] : footer, (item) =>
      typeof item === 'string' ? item : null,
    ),
    calls: list('tool_calls', metadata.tool_calls, readCall),
    result: readResult(metadata.tool_result, wrong),
    attachments: list('attachments', metadata.attachments, readAttachment),
    hasDebug: metadata.has_debug_data === true,
    problems,
  }
}

function readCall(value: unknown): ToolCall | null {
  const call = record(value)
  if (!call || typeof call.id !== 'string') return null
  const name = typeof call.name === 'string' ? call.name : 'unnamed tool'
  return { id: call.id, name, arguments: readArguments(call.arguments) }
}

/** Arguments as they should be; JSON in text is read, anything else stands under `arguments`. */
function readArguments(value: unknown): Record<string, unknown> {
  if (value === undefined || value === null || value === '') return {}
  if (typeof value !== 'string') return record(value) ?? { arguments: value }
  try {
    return record(JSON.parse(value)) ?? { arguments: value }
  } catch {
    return { arguments: value }
  }
}

function readResult(
  value: unknown,
  wrong: (key: string, what: string) => void,
): ReadMetadata['result'] {
  if (value === undefined || value === null) return null
  const result = record(value)
  if (typeof result?.tool_call_id !== 'string') {
    wrong('tool_result', 'has no tool_call_id')
    return null
  }
  const error = record(result.error)
  return {
    callId: result.tool_call_id,
    error: error && {
      code: typeof error.code === 'string' ? error.code : 'tool_failed',
      message: typeof error.message === 'string' ? error.message : JSON.stringify(error),
    },
  }
}

function readAttachment(value: unknown): Attachment | null {
  const attachment = record(value)
  if (typeof attachment?.assetRef !== 'string') return null
  return {
    ...attachment,
    kind: (attachment.kind as Attachment['kind'] | undefined) ?? 'file',
    assetRef: attachment.assetRef,
    mimeType: typeof attachment.mimeType === 'string' ? attachment.mimeType : '',
    fileName: typeof attachment.fileName === 'string' ? attachment.fileName : undefined,
  }
}

function record(value: unknown): Record<string, unknown> | null {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? (value as Record<string, unknown>) : null
}
