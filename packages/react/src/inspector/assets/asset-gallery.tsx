import { ImageOff, Shapes } from 'lucide-react'
import { useState } from 'react'
import { ViewLink } from '../../app/navigation.tsx'
import { useServer } from '../../app/server.ts'
import { useLoadFailure } from '../../app/use-load-failure.ts'
import { AssetFacts } from '../../references/asset-facts.tsx'
import { AssetIcon } from '../../references/asset-icon.tsx'
import { LabelMark } from '../../trust/label-mark.tsx'
import { useLabels } from '../../trust/labels-context.tsx'
import { Empty } from '../../ui/empty.tsx'
import { More } from '../../ui/more.tsx'
import type { AssetEntry } from './conversation-assets.ts'

/** Number of items of each kind that are rendered at once. */
const PAGE = 36

/**
 * Renders the assets of the conversation: images as a grid, everything else as a list. The data come from the
 * conversation. Only visible images are requested from the server.
 */
export function AssetGallery({ entries }: { entries: AssetEntry[] }) {
  const [most, setMost] = useState({ pictures: PAGE, files: PAGE })
  if (entries.length === 0) {
    return (
      <Empty icon={Shapes} title="No files yet">
        Files that you send and that tools make appear here, each with a reference.
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
          {pictures.slice(0, most.pictures).map((entry) => (
            <li key={entry.id}>
              <Picture entry={entry} />
            </li>
          ))}
        </ul>
      )}
      <More
        what="pictures"
        count={Math.max(0, pictures.length - most.pictures)}
        onReach={() => setMost({ ...most, pictures: most.pictures + PAGE })}
      />
      {others.length > 0 && (
        <ul aria-label="Files" className="overflow-hidden rounded-lg border border-line">
          {others.slice(0, most.files).map((entry) => (
            <li key={entry.id} className="not-last:border-b not-last:border-line">
              <File entry={entry} />
            </li>
          ))}
        </ul>
      )}
      <More
        what="files"
        count={Math.max(0, others.length - most.files)}
        onReach={() => setMost({ ...most, files: most.files + PAGE })}
      />
    </div>
  )
}

function Picture({ entry }: { entry: AssetEntry }) {
  const { client } = useServer()
  const url = client.assetUrl(entry.ref)
  const [failed, onError] = useLoadFailure(url)
  return (
    <ViewLink
      view={{ asset: entry.id }}
      className="group block overflow-hidden rounded-lg border border-line hover:border-line-strong"
    >
      {failed ? (
        <span className="grid aspect-4/3 place-content-center justify-items-center gap-1 bg-sunken text-xs text-ink-3">
          <ImageOff className="size-5" aria-hidden />
          Cannot be shown
        </span>
      ) : (
        <img
          src={url}
          alt=""
          loading="lazy"
          onError={onError}
          className="aspect-4/3 w-full bg-white object-contain"
        />
      )}
      <span className="block truncate border-t border-line px-2 py-1 text-xs">
        <bdi>{entry.name ?? madeBy(entry) ?? entry.id}</bdi>
        <Mark id={entry.id} className="flex" />
      </span>
    </ViewLink>
  )
}

/** Used inside a link. */
function Mark({ id, className }: { id: string; className?: string }) {
  return <LabelMark label={useLabels().assets[id]} className={className} />
}

function File({ entry }: { entry: AssetEntry }) {
  const meta = entry.created?.meta
  return (
    <ViewLink
      view={{ asset: entry.id }}
      className="flex items-center gap-3 px-3 py-2 -outline-offset-2 hover:bg-hover"
    >
      <AssetIcon asset={entry} meta={meta} className="size-4 shrink-0 text-ink-3" />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm font-medium">
          <bdi>{entry.name ?? madeBy(entry) ?? entry.id}</bdi>
        </span>
        <AssetFacts asset={{ mime: entry.mime, size: entry.created?.size }} meta={meta} />
        <Mark id={entry.id} className="flex" />
      </span>
    </ViewLink>
  )
}

function madeBy({ created }: AssetEntry): string | null {
  return created?.tool ?? null
}
