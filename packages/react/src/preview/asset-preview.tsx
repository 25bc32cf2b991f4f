import type { AssetDetails } from 'byref/client'
import { findRenderer, useRenderers } from '../renderers/renderers-context.ts'
import { assetRenderers } from './asset-renderers.tsx'

/** Renders an asset by its type: image, audio, video, document, table, JSON or text, or with a custom renderer. */
export function AssetPreview({ details }: { details: AssetDetails }) {
  const { assets } = useRenderers()
  const Render = findRenderer(details.asset.mime, assets, assetRenderers)
  return Render && <Render details={details} />
}
