import type { AssetDetails } from 'byref/client'
import { findRenderer, useRenderers } from '../renderers/renderers-context.ts'
import { assetRenderers } from './asset-renderers.tsx'

/** An asset shown as what it is: picture, sound, film, document, table, JSON or text, or as the workbench was told. */
export function AssetPreview({ details }: { details: AssetDetails }) {
  const { assets } = useRenderers()
  const Render = findRenderer(details.asset.mime, assets, assetRenderers)
  return Render && <Render details={details} />
}
