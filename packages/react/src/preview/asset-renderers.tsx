import type { AssetDetails } from 'byref/client'
import { useServer } from '../app/server.ts'
import { useLoadFailure } from '../app/use-load-failure.ts'
import type { AssetRenderer } from '../renderers/renderers-context.ts'
import { DocumentPreview } from './document-preview.tsx'
import { readTable } from './table/read-table.ts'
import { TablePreview } from './table/table-preview.tsx'
import { isText, TextPreview } from './text-preview.tsx'
import { Unreadable } from './unreadable.tsx'

/** The default previews of assets by MIME type. */
export const assetRenderers: Readonly<Record<string, AssetRenderer>> = {
  'image/*': Picture,
  'audio/*': Audio,
  'video/*': Video,
  'application/pdf': Pdf,
  '*': Anything,
}

function Picture({ details: { asset } }: { details: AssetDetails }) {
  const { client } = useServer()
  const url = client.assetUrl(asset.ref)
  const [failed, onError] = useLoadFailure(url)
  if (failed) return <Unreadable asset={asset} what="image" />
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
        onError={onError}
        className="mx-auto max-h-[32rem] bg-white object-contain"
      />
    </a>
  )
}

function Audio({ details: { asset } }: { details: AssetDetails }) {
  const { client } = useServer()
  const url = client.assetUrl(asset.ref)
  const [failed, onError] = useLoadFailure(url)
  if (failed) return <Unreadable asset={asset} what="recording" />
  return (
    // biome-ignore lint/a11y/useMediaCaption: nobody made captions for a file that was uploaded
    <audio
      src={url}
      controls
      aria-label={asset.name ?? 'Asset'}
      onError={onError}
      className="w-full"
    />
  )
}

function Video({ details: { asset } }: { details: AssetDetails }) {
  const { client } = useServer()
  const url = client.assetUrl(asset.ref)
  const [failed, onError] = useLoadFailure(url)
  if (failed) return <Unreadable asset={asset} what="video" />
  return (
    // biome-ignore lint/a11y/useMediaCaption: nobody made captions for a file that was uploaded
    <video
      src={url}
      controls
      aria-label={asset.name ?? 'Asset'}
      onError={onError}
      className="max-h-96 w-full rounded-lg bg-black"
    />
  )
}

function Pdf({ details: { asset } }: { details: AssetDetails }) {
  const { client } = useServer()
  return <DocumentPreview url={client.assetUrl(asset.ref)} title={asset.name ?? 'Asset'} />
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
