import { type AssetCreated, parseAssetRef } from 'byref/client'
import { ArrowLeft, Download, ExternalLink, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { PlaceLink, ViewLink } from '../../app/navigation.tsx'
import { useMay } from '../../app/role.ts'
import { useServer } from '../../app/server.ts'
import { useQuery } from '../../app/server-queries.ts'
import { AssetFactsList, Fact } from '../../preview/asset-facts-list.tsx'
import { AssetPreview } from '../../preview/asset-preview.tsx'
import { MetaList } from '../../preview/meta-list.tsx'
import { LabelMark } from '../../trust/label-mark.tsx'
import { useLabels } from '../../trust/labels-context.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatBytes } from '../../ui/format.ts'
import { LoadError } from '../../ui/load-error.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { VersionList } from '../../versions/version-list.tsx'
import { JumpText } from '../jump-text.tsx'
import { Section } from '../section.tsx'
import type { AssetEntry } from './conversation-assets.ts'
import { DeleteAsset } from './delete-asset.tsx'

/** Renders one asset: its preview, its origin, and its meta as a model sees it. */
export function AssetDetail({ id, entry }: { id: string; entry: AssetEntry | null }) {
  const { assetQuery, client } = useServer()
  const { data, error, refetch } = useQuery(assetQuery(id))
  const [deleting, setDeleting] = useState(false)
  const mayDelete = useMay('owner')
  return (
    <div className="space-y-4 p-3">
      <div className="flex flex-wrap items-center gap-1">
        <ViewLink
          view={{ asset: undefined }}
          aria-label="All files"
          title="All files"
          className={buttonClass('ghost', true)}
        >
          <ArrowLeft aria-hidden className="rtl:-scale-x-100" />
        </ViewLink>
        <h2 dir="auto" className="min-w-0 flex-1 basis-24 truncate text-sm font-semibold">
          {entry?.name ?? data?.asset.name ?? entry?.created?.tool ?? id}
        </h2>
        {data && (
          <>
            <CopyButton label="Copy reference" text={data.asset.ref} />
            <a
              href={client.assetUrl(data.asset.ref, { download: true })}
              download
              aria-label="Download"
              title="Download"
              className={buttonClass('ghost', true)}
            >
              <Download aria-hidden />
            </a>
            <PlaceLink
              to={{ type: 'asset', id: id }}
              aria-label="Open on its own page"
              title="Open on its own page"
              className={buttonClass('ghost', true)}
            >
              <ExternalLink aria-hidden />
            </PlaceLink>
            {mayDelete && (
              <Button icon aria-label="Delete" title="Delete" onClick={() => setDeleting(true)}>
                <Trash2 aria-hidden />
              </Button>
            )}
          </>
        )}
      </div>
      {deleting && data && (
        <DeleteAsset id={id} name={data.asset.name} onClose={() => setDeleting(false)} />
      )}
      {error && <LoadError what="The file" error={error} onRetry={() => void refetch()} />}
      {data === null && <Notice tone="warn">This file was deleted or does not exist.</Notice>}
      {!data && data !== null && !error && <Spinner label="Loading the file" />}
      {data && (
        <>
          <AssetPreview details={data} />
          <VersionList id={data.asset.assetId} />
          <AssetFactsList details={data}>
            <Origin entry={entry} />
            <Trust id={id} />
            {data.asset.table?.source && <Source reference={data.asset.table.source} />}
          </AssetFactsList>
          <Section title="What the model sees (lists cut to 3)">
            <MetaList meta={data.meta} />
          </Section>
        </>
      )}
    </div>
  )
}

/** Shows whether the asset is trusted, with a link to its origin. */
function Trust({ id }: { id: string }) {
  const label = useLabels().assets[id]
  if (!label) return null
  return (
    <Fact name="Trust">
      <LabelMark label={label} origin={`asset:${id}`} className="text-xs" />
    </Fact>
  )
}

const MAKERS: Record<AssetCreated['by'], string> = {
  user: 'a person',
  tool: 'the tool',
  agent: 'the model',
  system: 'byref',
}

function Origin({ entry }: { entry: AssetEntry | null }) {
  const created = entry?.created
  return (
    <>
      {created && (
        <Fact name={created.by === 'user' ? 'Uploaded by' : 'Made by'}>
          {MAKERS[created.by]}
          {created.tool && <span className="font-mono"> {created.tool}</span>}
          {created.toolCallId && (
            <>
              {' · '}
              <JumpText to={`call-${created.toolCallId}`}>Go to call</JumpText>
            </>
          )}
        </Fact>
      )}
      {created?.origin && (
        <Fact name="Found at" mono>
          {created.origin}
        </Fact>
      )}
      {entry?.attachedTo && (
        <Fact name="Attached to">
          <JumpText to={`m-${entry.attachedTo}`}>a message</JumpText>
        </Fact>
      )}
    </>
  )
}

/** Shows the original file of a table, which is what downloads. */
function Source({ reference }: { reference: string }) {
  const { assetQuery } = useServer()
  const id = parseAssetRef(reference)?.id
  const { data } = useQuery({ ...assetQuery(id ?? ''), enabled: id !== undefined })
  if (id === undefined) return null
  const name = data?.asset.name ?? 'the original file'
  const size = data ? ` · ${formatBytes(data.asset.size)}` : ''
  return (
    <Fact name="Original">
      <ViewLink view={{ asset: id }} className="rounded text-ring hover:underline">
        {data === null ? 'No longer available' : name}
      </ViewLink>
      <span className="text-ink-3">
        {data ? ` · ${data.asset.mime}` : ''}
        {size}
      </span>
    </Fact>
  )
}
