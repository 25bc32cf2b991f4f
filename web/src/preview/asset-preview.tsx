import type { AssetDetails } from 'byref/client'
import { client } from '../app/client.ts'
import { DocumentPreview } from './document-preview.tsx'
import { readTable } from './table/read-table.ts'
import { TablePreview } from './table/table-preview.tsx'
import { isText, TextPreview } from './text-preview.tsx'

/** An asset shown as what it is: picture, sound, film, document, table, JSON or text. */
export function AssetPreview({ details }: { details: AssetDetails }) {
  const { asset, meta } = details
  const url = client.assetUrl(asset.ref)
  const label = asset.name ?? 'Asset'
  if (asset.kind === 'image') {
    return (
      <a
        href={url}
        target="_blank"
        rel="noopener"
        title="Open in full size"
        className="block overflow-hidden rounded-lg border border-line"
      >
        <img
          src={url}
          alt={asset.name ?? 'Preview'}
          className="mx-auto max-h-[32rem] bg-white object-contain"
        />
      </a>
    )
  }
  if (asset.kind === 'audio') {
    // biome-ignore lint/a11y/useMediaCaption: nobody made captions for a file that was uploaded
    return <audio src={url} controls aria-label={label} className="w-full" />
  }
  if (asset.kind === 'video') {
    return (
      // biome-ignore lint/a11y/useMediaCaption: nobody made captions for a file that was uploaded
      <video
        src={url}
        controls
        aria-label={label}
        className="max-h-96 w-full rounded-lg bg-black"
      />
    )
  }
  if (/^application\/pdf$/i.test(asset.mime)) return <DocumentPreview url={url} title={label} />
  const table = readTable(meta)
  if (table) return <TablePreview table={table} asset={asset} />
  if (isText(asset.mime)) return <TextPreview asset={asset} />
  return (
    <p className="rounded-lg border border-dashed border-line-strong px-3 py-6 text-center text-sm text-ink-3">
      There is no preview for {asset.mime}.
    </p>
  )
}
