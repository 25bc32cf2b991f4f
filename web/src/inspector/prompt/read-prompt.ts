import type { PromptInfo } from 'byref/client'
import { isRecord } from '../../ui/is-record.ts'

/** A part of a prompt message, for reading. */
export interface PromptPart {
  type: 'text' | 'media' | 'call' | 'result' | 'other'
  /** Text as it is; anything else as JSON. */
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

/** What a part of a prompt is for. */
export type Share = 'instructions' | 'history' | 'data' | 'metas' | 'media' | 'tools'

/** A step's request, for reading: what the model saw and how much of it is what. */
export interface ReadPrompt {
  model: string | null
  messages: PromptMessage[]
  tools: { name: string; description: string; value: unknown; bytes: number }[]
  sizes: Record<Share, number>
  total: number
}

/** A prompt as the server gives it. */
export type PromptSource = Pick<PromptInfo, 'model' | 'prompt' | 'tools'>

const encoder = new TextEncoder()

/** Reads what a model was given, in the AI SDK's form. */
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
  return { model: typeof model === 'string' ? model : null, messages, tools: read, sizes, total }
}

/** One message of a prompt, whatever it is. */
export function readMessage(value: unknown): PromptMessage {
  const { role, content } = record(value) ?? {}
  const name = typeof role === 'string' ? role : 'unknown'
  const list: unknown[] = Array.isArray(content) ? content : [content]
  const parts = list.map((part) => readPart(name, part))
  return { role: name, parts, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0) }
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

/** Our own blocks are known by their headings (data-messages.md; the metas'). */
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
