import { formatAssetRef, isWithheld, type Message, parseAssetRef, WITHHELD } from 'byref/client'
import { JsonTree } from '../json/json-tree.tsx'
import { AssetChip } from '../references/asset-chip.tsx'
import { AssetImage } from '../references/asset-image.tsx'
import { EmbeddedAsset } from '../references/embedded-asset.tsx'
import { isAsset } from '../references/kinds.ts'
import { WithheldValue } from '../trust/withheld-value.tsx'
import { HtmlContent } from './html-content.tsx'
import type { MessageRenderer } from './renderers-context.ts'
import { Text } from './text.tsx'

/** The default renderers of content by type. */
export const contentRenderers: Readonly<Record<string, MessageRenderer>> = {
  '*': ({ message }) => <Anything value={message.content} />,
  'text/plain': ({ message: { content } }) =>
    typeof content === 'string' ? <Text text={content} plain /> : <Anything value={content} />,
  'text/html': ({ message: { content } }) =>
    typeof content === 'string' ? <HtmlContent html={content} /> : <Anything value={content} />,
  'multipart/mixed': ({ message: { content } }) =>
    Array.isArray(content) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
      content.map((part, index) => <Part key={index} part={part} />)
    ) : (
      <Anything value={content} />
    ),
  [WITHHELD]: ({ message: { content } }) =>
    isWithheld(content) ? <WithheldValue value={content} /> : <Anything value={content} />,
  asset_ref: ({ message }) => <Reference message={message} />,
}

/** Renders text as Markdown, and anything else as a tree. */
function Anything({ value }: { value: unknown }) {
  if (typeof value === 'string') return <Text text={value} />
  return (
    <JsonTree
      value={value}
      label="Content"
      className="overflow-auto rounded-lg border border-line bg-sunken px-2 py-1.5"
    />
  )
}

function Reference({ message: { content } }: { message: Message }) {
  if (isAsset(content)) return <EmbeddedAsset reference={content} />
  const parts = parseAssetRef(content as Parameters<typeof parseAssetRef>[0])
  return parts ? <EmbeddedAsset reference={formatAssetRef(parts)} /> : <Anything value={content} />
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
    <JsonTree
      value={part}
      label="Part"
      className="overflow-auto rounded-lg border border-line px-2 py-1.5"
    />
  )
}
