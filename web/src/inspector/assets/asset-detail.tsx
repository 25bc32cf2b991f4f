import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft, Download, ExternalLink } from 'lucide-react'
import { assetQuery, client } from '../../app/client.ts'
import { ViewLink } from '../../app/view.tsx'
import { AssetFactsList, Fact } from '../../preview/asset-facts-list.tsx'
import { AssetPreview } from '../../preview/asset-preview.tsx'
import { MetaList } from '../../preview/meta-list.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { LoadError } from '../../ui/load-error.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { JumpText } from '../jump-text.tsx'
import { Section } from '../section.tsx'
import type { AssetEntry } from './conversation-assets.ts'

/** One asset: what it looks like, where it came from, and its meta as a model sees it. */
export function AssetDetail({ id, entry }: { id: string; entry: AssetEntry | null }) {
  const { data, error, refetch } = useQuery(assetQuery(id))
  return (
    <div className="space-y-4 p-3">
      <div className="flex items-center gap-1">
        <ViewLink
          view={{ asset: undefined }}
          aria-label="All assets"
          title="All assets"
          className={buttonClass('ghost', true)}
        >
          <ArrowLeft aria-hidden />
        </ViewLink>
        <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">
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
            <Link
              to="/assets/$assetId"
              params={{ assetId: id }}
              aria-label="Open on its own page"
              title="Open on its own page"
              className={buttonClass('ghost', true)}
            >
              <ExternalLink aria-hidden />
            </Link>
          </>
        )}
      </div>
      {error && <LoadError what="The asset" error={error} onRetry={() => void refetch()} />}
      {data === null && <Notice tone="warn">There is no such asset (any more).</Notice>}
      {!data && data !== null && !error && <Spinner label="Loading the asset" />}
      {data && (
        <>
          <AssetPreview details={data} />
          <AssetFactsList details={data}>
            <Origin entry={entry} />
          </AssetFactsList>
          <Section title="Meta, of whose lists a model sees three items each">
            <MetaList meta={data.meta} />
          </Section>
        </>
      )}
    </div>
  )
}

function Origin({ entry }: { entry: AssetEntry | null }) {
  const created = entry?.created
  return (
    <>
      {created && (
        <Fact name="Made by">
          {created.by}
          {created.tool && <span className="font-mono"> {created.tool}</span>}
          {created.toolCallId && (
            <>
              {' · '}
              <JumpText to={`call-${created.toolCallId}`}>its call</JumpText>
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
