import type { AssetDetails } from 'byref/client'
import { Rendered } from '../renderers/rendered.tsx'
import { useRenderers } from '../renderers/renderers-context.ts'
import { assetRenderers } from './asset-renderers.tsx'

/** Renders an asset by its type: image, audio, video, document, table, JSON or text, or with a custom renderer. */
export function AssetPreview({ details }: { details: AssetDetails }) {
  const { assets } = useRenderers()
  return (
    <Rendered
      type={details.asset.mime}
      custom={assets}
      builtIn={assetRenderers}
      props={{ details }}
    />
  )
}
