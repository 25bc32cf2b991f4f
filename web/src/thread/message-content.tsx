import type { Message } from 'byref/client'
import { lazy, Suspense } from 'react'
import { JsonTree } from '../json/json-tree.tsx'
import { AssetChip } from '../references/asset-chip.tsx'
import { AssetImage } from '../references/asset-image.tsx'
import { isAsset } from '../references/kinds.ts'
import { PlainText } from './plain-text.tsx'

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }))

/** A message's content as its content type says. */
export function MessageContent({ message }: { message: Message }) {
  const { content, content_type } = message
  if (content === '' || content === null || content === undefined) return null
  if (content_type === 'multipart/mixed' && Array.isArray(content)) {
    return content.map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
      <Part key={index} part={part} />
    ))
  }
  if (typeof content === 'string')
    return <Text text={content} plain={content_type === 'text/plain'} />
  return (
    <JsonTree
      value={content}
      label="Content"
      className="rounded-lg border border-line bg-sunken px-2 py-1.5"
    />
  )
}

/** Text, as Markdown unless it is plain. */
export function Text({ text, plain = false }: { text: string; plain?: boolean }) {
  if (plain) return <PlainText text={text} />
  if (isAsset(text)) return <AssetChip reference={text} />
  return (
    <Suspense fallback={<p className="prose-byref whitespace-pre-wrap">{text}</p>}>
      <Markdown text={text} />
    </Suspense>
  )
}

function Part({ part }: { part: unknown }) {
  const { type, text, image_url, input_audio, file } = (part ?? {}) as Record<string, unknown>
  if (type === 'text' && typeof text === 'string') return <Text text={text} />
  const holder = (image_url ?? input_audio ?? file ?? part) as Record<string, unknown>
  const reference = [holder, holder?.url, holder?.assetRef, holder?.data, holder?.file_data].find(
    isAsset,
  )
  if (reference && type === 'image_url') return <AssetImage reference={reference} alt="" />
  if (reference) return <AssetChip reference={reference} />
  return (
    <JsonTree value={part} label="Part" className="rounded-lg border border-line px-2 py-1.5" />
  )
}
