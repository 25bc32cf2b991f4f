import { useQuery } from '@tanstack/react-query'
import { Shapes } from 'lucide-react'
import { assetQuery, client } from '../../app/client.ts'
import { ViewLink } from '../../app/view.tsx'
import { AssetFacts } from '../../references/asset-facts.tsx'
import { AssetIcon } from '../../references/asset-icon.tsx'
import { Empty } from '../../ui/empty.tsx'
import type { AssetEntry } from './conversation-assets.ts'

/** The assets of the conversation: pictures as a grid, everything else as a list. */
export function AssetGallery({ entries }: { entries: AssetEntry[] }) {
  if (entries.length === 0) {
    return (
      <Empty icon={Shapes} title="No assets yet">
        Files that you attach and that tools make are kept here, each with an address.
      </Empty>
    )
  }
  const pictures = entries.filter(({ kind }) => kind === 'image')
  const others = entries.filter(({ kind }) => kind !== 'image')
  return (
    <div className="space-y-4 p-3">
      {pictures.length > 0 && (
        <ul
          aria-label="Pictures"
          className="grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-2"
        >
          {pictures.map((entry) => (
            <li key={entry.id}>
              <Picture entry={entry} />
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <ul aria-label="Files" className="overflow-hidden rounded-lg border border-line">
          {others.map((entry) => (
            <li key={entry.id} className="not-last:border-b not-last:border-line">
              <File entry={entry} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Picture({ entry }: { entry: AssetEntry }) {
  return (
    <ViewLink
      view={{ asset: entry.id }}
      className="group block overflow-hidden rounded-lg border border-line hover:border-line-strong"
    >
      <img
        src={client.assetUrl(entry.ref)}
        alt=""
        loading="lazy"
        className="aspect-4/3 w-full bg-white object-contain"
      />
      <span className="block truncate border-t border-line px-2 py-1 text-xs">
        {entry.name ?? madeBy(entry) ?? entry.id}
      </span>
    </ViewLink>
  )
}

function File({ entry }: { entry: AssetEntry }) {
  const { data } = useQuery(assetQuery(entry.id))
  return (
    <ViewLink
      view={{ asset: entry.id }}
      className="flex items-center gap-3 px-3 py-2 -outline-offset-2 hover:bg-hover"
    >
      <AssetIcon
        asset={data?.asset ?? entry}
        meta={data?.meta}
        className="size-4 shrink-0 text-ink-3"
      />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm font-medium">
          {entry.name ?? data?.asset.name ?? entry.id}
        </span>
        {data ? (
          <AssetFacts details={data} />
        ) : (
          <span className="text-xs text-ink-3">
            {data === null ? 'No longer there' : entry.mime}
          </span>
        )}
      </span>
    </ViewLink>
  )
}

function madeBy({ created }: AssetEntry): string | null {
  return created?.tool ?? null
}
