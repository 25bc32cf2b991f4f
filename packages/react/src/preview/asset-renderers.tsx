import type { AssetDetails } from 'byref/client'
import { client } from '../app/client.ts'
import type { AssetRenderer } from '../renderers/renderers-context.ts'
import { DocumentPreview } from './document-preview.tsx'
import { readTable } from './table/read-table.ts'
import { TablePreview } from './table/table-preview.tsx'
import { isText, TextPreview } from './text-preview.tsx'

/** The default previews of assets by MIME type. */
export const assetRenderers: Readonly<Record<string, AssetRenderer>> = {
  'image/*': Picture,
  'audio/*': ({ details: { asset } }) => (
    // biome-ignore lint/a11y/useMediaCaption: nobody made captions for a file that was uploaded
    <audio
      src={client.assetUrl(asset.ref)}
      controls
      aria-label={asset.name ?? 'Asset'}
      className="w-full"
    />
  ),
  'video/*': ({ details: { asset } }) => (
    // biome-ignore lint/a11y/useMediaCaption: nobody made captions for a file that was uploaded
    <video
      src={client.assetUrl(asset.ref)}
      controls
      aria-label={asset.name ?? 'Asset'}
      className="max-h-96 w-full rounded-lg bg-black"
    />
  ),
  'application/pdf': ({ details: { asset } }) => (
    <DocumentPreview url={client.assetUrl(asset.ref)} title={asset.name ?? 'Asset'} />
  ),
  '*': Anything,
}

function Picture({ details: { asset } }: { details: AssetDetails }) {
  const url = client.assetUrl(asset.ref)
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

/** Renders tables, JSON and text of any declared type. */
function Anything({ details: { asset, meta } }: { details: AssetDetails }) {
  const table = readTable(meta)
  if (table) return <TablePreview table={table} asset={asset} />
  if (isText(asset.mime)) return <TextPreview asset={asset} />
  return (
    <p className="rounded-lg border border-dashed border-line-strong px-3 py-6 text-center text-sm text-ink-3">
      There is no preview for {asset.mime}.
    </p>
  )
}
