import type { PromptInfo } from 'byref/client'
import { SEARCH_TOOLS } from '../../thread/tool-searches.ts'
import { isRecord } from '../../ui/is-record.ts'

/** A part of a prompt message, for display. */
export interface PromptPart {
  type: 'text' | 'media' | 'call' | 'result' | 'other'
  /** Text unchanged; anything else as JSON. */
  text: string
  value: unknown
  share: Share
  bytes: number
}

/** One message of a prompt. */
export interface PromptMessage {
  role: string
  parts: PromptPart[]
  bytes: number
}

/** The purpose of a part of a prompt. */
export type Share = 'instructions' | 'history' | 'data' | 'metas' | 'media' | 'tools'

/** The request of a step, for display: what the model saw, and the sizes of its parts. */
export interface ReadPrompt {
  model: string | null
  messages: PromptMessage[]
  tools: { name: string; description: string; value: unknown; bytes: number }[]
  /** The results of `search_tools` in it. */
  searches: { callId: string; bytes: number }[]
  sizes: Record<Share, number>
  total: number
}

/** A prompt as the server sends it. */
export type PromptSource = Pick<PromptInfo, 'model' | 'prompt' | 'tools'>

const encoder = new TextEncoder()

/** Reads the input of a model, in the AI SDK's form. */
export function readPrompt({ model, prompt, tools }: PromptSource): ReadPrompt {
  const messages = prompt.map(readMessage)
  const read = tools.map((value: unknown) => {
    const { name, description } = record(value) ?? {}
    return {
      name: typeof name === 'string' ? name : 'tool',
      description: typeof description === 'string' ? description : '',
      value,
      bytes: size(JSON.stringify(value) ?? ''),
    }
  })
  const sizes = { instructions: 0, history: 0, data: 0, metas: 0, media: 0, tools: 0 }
  for (const part of messages.flatMap(({ parts }) => parts)) sizes[part.share] += part.bytes
  for (const { bytes } of read) sizes.tools += bytes
  const total = Object.values(sizes).reduce((a, b) => a + b, 0)
  const searches = messages.flatMap(({ parts }) => parts.flatMap(searchResult))
  return {
    model: typeof model === 'string' ? model : null,
    messages,
    tools: read,
    searches,
    sizes,
    total,
  }
}

/** Reads one message of a prompt, in any form. */
export function readMessage(value: unknown): PromptMessage {
  const { role, content } = record(value) ?? {}
  const name = typeof role === 'string' ? role : 'unknown'
  const list: unknown[] = Array.isArray(content) ? content : [content]
  const parts = list.map((part) => readPart(name, part))
  return { role: name, parts, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0) }
}

function searchResult({ type, value, bytes }: PromptPart): ReadPrompt['searches'] {
  const { toolName, toolCallId } = record(value) ?? {}
  if (type !== 'result' || toolName !== SEARCH_TOOLS) return []
  return [{ callId: String(toolCallId), bytes }]
}

function readPart(role: string, value: unknown): PromptPart {
  const part = record(value)
  const said = typeof value === 'string' ? value : part?.type === 'text' ? part.text : undefined
  if (typeof said === 'string') {
    return { type: 'text', text: said, value: said, share: shareOf(role, said), bytes: size(said) }
  }
  const text = JSON.stringify(value) ?? ''
  if (part?.type === 'file' || part?.type === 'image') {
    const { bytes } = record(part.data) ?? {}
    const real = typeof bytes === 'number' ? bytes : size(text)
    return { type: 'media', text, value, share: 'media', bytes: real }
  }
  const types = { 'tool-call': 'call', 'tool-result': 'result' } as const
  const type = types[part?.type as keyof typeof types] ?? 'other'
  return { type, text, value, share: 'history', bytes: size(text) }
}

/** byref's own blocks are recognized by their headings. */
function shareOf(role: string, text: string): Share {
  if (role === 'system') return 'instructions'
  if (role !== 'user') return 'history'
  if (text.startsWith('## Data: ¶')) return 'data'
  if (/^## Assets(\n|$)/.test(text)) return 'metas'
  return 'history'
}

function size(text: string): number {
  return encoder.encode(text).length
}

function record(value: unknown): Record<string, unknown> | null {
  return isRecord(value) ? value : null
}
