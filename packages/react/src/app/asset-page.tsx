import { useLocation } from '@tanstack/react-router'
import { parseAssetRef } from 'byref/client'
import { Download } from 'lucide-react'
import { AssetFactsList } from '../preview/asset-facts-list.tsx'
import { AssetPreview } from '../preview/asset-preview.tsx'
import { FieldPreview } from '../preview/field-preview.tsx'
import { MetaList } from '../preview/meta-list.tsx'
import { buttonClass } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Notice } from '../ui/notice.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { Comparison } from '../versions/comparison.tsx'
import { VersionList } from '../versions/version-list.tsx'
import { Header } from './header.tsx'
import { MissingAsset } from './not-found.tsx'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'

/**
 * Renders an asset, or a field of it, on its own page. The address after `/assets/` is the same as in the asset's URL.
 */
export function AssetPage() {
  const { pathname } = useLocation()
  const reference = `asset://${pathname.replace(/^\/assets\//, '')}`
  const parsed = parseAssetRef(reference)
  return (
    <main className="flex h-full min-w-0 flex-1 flex-col bg-surface">
      {parsed ? (
        <Asset key={reference} id={parsed.id} field={parsed.fieldPath ? reference : null} />
      ) : (
        <>
          <Header title="File" />
          <Notice tone="bad" className="m-4">
            {reference} is not a valid reference.
          </Notice>
        </>
      )}
      <Comparison />
    </main>
  )
}

function Asset({ id, field }: { id: string; field: string | null }) {
  const { assetQuery, client } = useServer()
  const { data, error, refetch } = useQuery(assetQuery(id))
  return (
    <>
      <title>{`${data?.asset.name ?? 'File'} · byref`}</title>
      <Header title={data?.asset.name ?? 'File'} />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl space-y-5 p-4 sm:p-6">
          {error && <LoadError what="The file" error={error} onRetry={() => void refetch()} />}
          {data === null && <MissingAsset id={id} />}
          {data === undefined && !error && <Spinner label="Loading the file" />}
          {data && (
            <>
              <div className="flex flex-wrap gap-2">
                <CopyButton label="Copy reference" labelled text={field ?? data.asset.ref} />
                <a
                  href={client.assetUrl(data.asset.ref, { download: true })}
                  download
                  className={buttonClass('outline')}
                >
                  <Download aria-hidden /> Download
                </a>
              </div>
              {field ? <FieldPreview reference={field} /> : <AssetPreview details={data} />}
              {!field && <VersionList id={data.asset.assetId} isPage />}
              <AssetFactsList details={data} />
              <section className="space-y-1.5">
                <h2 className="text-xs font-medium text-ink-3">
                  What the model sees (lists cut to 3)
                </h2>
                <MetaList meta={data.meta} />
              </section>
            </>
          )}
        </div>
      </div>
    </>
  )
}
