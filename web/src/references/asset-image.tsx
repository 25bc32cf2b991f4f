import { use, useState } from 'react'
import { client } from '../app/client.ts'
import { useConversationId } from '../app/conversation-context.tsx'
import { ViewLink } from '../app/view.tsx'
import { cn } from '../ui/cn.ts'
import { BrokenChip } from './asset-chip.tsx'
import { InsideLink } from './inside-link.ts'
import { parse } from './kinds.ts'

/** Properties of {@link AssetImage}. */
export interface AssetImageProps {
  reference: string
  /** What the picture shows; where nobody said it, it is called a picture. */
  alt: string
  className?: string
}

/** A picture by reference, from our own server only. It opens in the inspector; what is no picture is marked broken. */
export function AssetImage({ reference, alt, className }: AssetImageProps) {
  const [failed, setFailed] = useState(false)
  const inConversation = useConversationId() !== null
  const insideLink = use(InsideLink)
  const parsed = parse(reference)
  if (!parsed || failed) {
    return <BrokenChip reference={reference} reason="There is no picture at this reference." />
  }
  const image = (
    <img
      src={client.assetUrl(reference)}
      alt={alt || 'Picture'}
      loading="lazy"
      onError={() => setFailed(true)}
      className={cn(
        'max-h-96 max-w-full rounded-lg border border-line bg-white object-contain',
        className,
      )}
    />
  )
  if (!inConversation || insideLink) return image
  return (
    <ViewLink
      view={{ tab: 'assets', asset: parsed.id }}
      title="Open in the inspector"
      className="inline-block max-w-full rounded-lg align-top"
    >
      {image}
    </ViewLink>
  )
}
