import { escapeBlocks } from '../content/escape-blocks.ts'
import type { Message, ToolCall } from '../content/message.ts'
import { isAssetRef } from '../refs/asset-ref.ts'
import type { ReasoningPart, TextPart, TranscriptItem } from './transcript-item.ts'
import { marker } from './user-parts.ts'

type AssistantItem = Extract<TranscriptItem, { type: 'assistant' }>

/** An answer of the model: what it thought, said, made and called. */
export function assistantItem(message: Message): AssistantItem {
  const said = [textOf(message), ...madeBy(message)].filter(Boolean).join('\n')
  const text: TextPart[] = said ? [{ type: 'text', text: said }] : []
  return { type: 'assistant', parts: [...reasoningOf(message), ...text], calls: callsOf(message) }
}

/** The calls that a message announces; none where its metadata are malformed. */
export function callsOf({ metadata }: Message): AssistantItem['calls'] {
  const calls: unknown = metadata?.tool_calls
  if (!Array.isArray(calls)) return []
  return calls.filter(
    (call): call is ToolCall => typeof call?.id === 'string' && typeof call.name === 'string',
  )
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return escapeBlocks(content)
  return content === null || content === undefined ? '' : escapeBlocks(JSON.stringify(content))
}

/** Markers of the files that the model made. */
function madeBy({ metadata }: Message): string[] {
  const made: unknown = metadata?.attachments
  if (!Array.isArray(made)) return []
  return made
    .filter((one) => isAssetRef(one?.assetRef))
    .map(({ kind, assetRef, fileName }) => marker({ kind, ref: assetRef, fileName }))
}

function reasoningOf({ metadata }: Message): ReasoningPart[] {
  const stored: unknown = metadata?.reasoning
  if (!Array.isArray(stored)) return []
  return stored
    .filter((thought) => typeof thought?.text === 'string')
    .map(({ text, provider_metadata }) => ({
      ...{ type: 'reasoning', text },
      ...(provider_metadata ? { provider_metadata } : {}),
    }))
}
