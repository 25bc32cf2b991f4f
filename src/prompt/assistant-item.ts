import { escapeBlocks } from '../content/escape-blocks.ts'
import type { Message } from '../content/message.ts'
import { readMetadata } from '../content/read-metadata.ts'
import type { ReasoningPart, TextPart, TranscriptItem } from './transcript-item.ts'
import { marker } from './user-parts.ts'

type AssistantItem = Extract<TranscriptItem, { type: 'assistant' }>

/** An answer of the model: what it thought, said, made and called. */
export function assistantItem(message: Message): AssistantItem {
  const { reasoning, attachments, calls } = readMetadata(message)
  const made = attachments.map(({ kind, assetRef, fileName }) =>
    marker({ kind, ref: assetRef, fileName }),
  )
  const said = [textOf(message), ...made].filter(Boolean).join('\n')
  const thoughts = reasoning.map((thought): ReasoningPart => ({ type: 'reasoning', ...thought }))
  const text: TextPart[] = said ? [{ type: 'text', text: said }] : []
  return { type: 'assistant', parts: [...thoughts, ...text], calls }
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return escapeBlocks(content)
  return content === null || content === undefined ? '' : escapeBlocks(JSON.stringify(content))
}
