import type { AssetInfo } from 'byref/client'
import { AudioLines, Braces, File, FileText, Film, Image, Table } from 'lucide-react'
import type { ComponentProps } from 'react'

/** Renders an icon for the kind of an asset. */
export function AssetIcon({
  asset,
  meta,
  ...rest
}: {
  asset?: Pick<AssetInfo, 'kind' | 'mime'> | null
  meta?: Record<string, unknown>
} & ComponentProps<'svg'>) {
  const Icon = meta?.asset_type === 'table' ? Table : pick(asset)
  return <Icon aria-hidden {...rest} />
}

function pick(asset?: Pick<AssetInfo, 'kind' | 'mime'> | null) {
  if (asset?.kind === 'image') return Image
  if (asset?.kind === 'audio') return AudioLines
  if (asset?.kind === 'video') return Film
  const mime = asset?.mime ?? ''
  if (/csv|tab-separated|table/.test(mime)) return Table
  if (/json|dict|list/.test(mime)) return Braces
  if (/^text\/|pdf/.test(mime)) return FileText
  return File
}
