import { parseAssetRef } from 'byref/client'
import { use } from 'react'
import { useConversationId } from '../app/conversation-context.tsx'
import { ViewLink } from '../app/navigation.tsx'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { useLoadFailure } from '../app/use-load-failure.ts'
import { cn } from '../ui/cn.ts'
import { AssetChip, BrokenChip } from './asset-chip.tsx'
import { InsideLink } from './inside-link.ts'

/** Properties of {@link AssetImage}. */
export interface AssetImageProps {
  reference: string
  /** What the image shows. Default: a generic name. */
  alt: string
  className?: string
}

/**
 * Renders an image by reference, only from the page's own server. It opens in the inspector. An asset that is not an
 * image, or a damaged one, is a chip, and a reference that names nothing is marked as broken.
 */
export function AssetImage({ reference, alt, className }: AssetImageProps) {
  const { client } = useServer()
  const parsed = parseAssetRef(reference)
  const url = parsed ? client.assetUrl(reference) : ''
  const [failed, onError] = useLoadFailure(url)
  const inConversation = useConversationId() !== null
  const insideLink = use(InsideLink)
  if (!parsed) {
    return <BrokenChip reference={reference} reason="There is no image at this reference." />
  }
  if (failed) return <FailedImage reference={reference} id={parsed.id} />
  const image = (
    <img
      src={url}
      alt={alt || 'Picture'}
      loading="lazy"
      onError={onError}
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

/** Replaces an image that the browser cannot show. A file of another type is not damaged, so it is a normal chip. */
function FailedImage({ reference, id }: { reference: string; id: string }) {
  const { assetQuery } = useServer()
  const { data } = useQuery(assetQuery(id))
  const isOther = data && !data.asset.mime.startsWith('image/')
  return <AssetChip reference={reference} detail={isOther ? undefined : 'cannot be shown'} />
}
