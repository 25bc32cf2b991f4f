import type { AssetInfo } from 'byref/client'
import { Download, X } from 'lucide-react'
import { useId } from 'react'
import { useServer } from '../app/server.ts'
import type { View } from '../app/view.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { formatBytes, formatCount, formatFullTime } from '../ui/format.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Modal } from '../ui/modal.tsx'
import { Notice } from '../ui/notice.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { MOST_BYTES } from './read-text.ts'
import { TableDifference } from './table-difference.tsx'
import { TextDifference } from './text-difference.tsx'
import { useVersions, versionBefore } from './use-versions.ts'

/** Properties of {@link CompareDialog}. */
export interface CompareDialogProps {
  /** The id of the chosen version. */
  after: string
  /** The id of the version that it is compared with. Default: the one that it was made from. */
  before: string | undefined
  onChange: (chosen: Pick<View, 'compare' | 'against'>) => void
  onClose: () => void
}

/** Shows two versions of an asset next to each other, and what is different. */
export function CompareDialog({ after, before, onChange, onClose }: CompareDialogProps) {
  const { data: versions, error, refetch } = useVersions(after)
  const now = versions?.find(({ assetId }) => assetId === after)
  const chosen = versions?.find(({ assetId }) => assetId === before)
  const old = chosen ?? (versions && (versionBefore(versions, after) ?? versions[0]))
  const name = now?.name ?? 'this file'
  return (
    <Modal
      title={`Versions of ${name}`}
      onClose={onClose}
      className="inset-2 m-auto h-fit max-h-[calc(100%-1rem)] max-w-6xl animate-appear overflow-hidden rounded-xl sm:inset-6"
    >
      <div className="flex min-h-11 shrink-0 items-center border-b border-line py-1 pe-2 ps-4">
        <p aria-hidden dir="auto" className="min-w-0 flex-1 truncate text-sm font-semibold">
          Versions of {name}
        </p>
        <Button icon aria-label="Close" onClick={onClose}>
          <X aria-hidden />
        </Button>
      </div>
      <div className="min-h-0 space-y-3 overflow-y-auto p-3 sm:p-4">
        {error && <LoadError what="The versions" error={error} onRetry={() => void refetch()} />}
        {!versions && !error && <Spinner label="Loading the versions" />}
        {versions && !now && <Notice tone="warn">This version was deleted.</Notice>}
        {versions && now && old && (
          <>
            <div className="grid gap-3 sm:grid-cols-2">
              <Choice
                label="Before"
                chosen={old}
                versions={versions}
                onChange={(against) => onChange({ compare: after, against })}
              />
              <Choice
                label="After"
                chosen={now}
                versions={versions}
                onChange={(compare) => onChange({ compare, against: old.assetId })}
              />
            </div>
            {old === now ? (
              <p className="text-sm text-ink-2">Choose two different versions.</p>
            ) : (
              <Difference key={`${old.assetId} ${after}`} before={old} after={now} />
            )}
          </>
        )}
      </div>
    </Modal>
  )
}

interface ChoiceProps {
  label: string
  chosen: AssetInfo
  versions: readonly AssetInfo[]
  onChange: (id: string) => void
}

/** Chooses a version, and downloads it. */
function Choice({ label, chosen, versions, onChange }: ChoiceProps) {
  const { client } = useServer()
  const id = useId()
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      <label htmlFor={id} className="w-12 text-xs text-ink-3">
        {label}
      </label>
      <select
        id={id}
        value={chosen.assetId}
        onChange={(event) => onChange(event.target.value)}
        className="h-7 min-w-0 flex-1 basis-24 rounded-md border border-line-strong bg-surface px-2 text-sm pointer-coarse:h-9"
      >
        {versions
          .map(({ assetId, createdAt }, index) => (
            <option key={assetId} value={assetId}>
              Version {formatCount(index + 1)} · {formatFullTime(createdAt)}
            </option>
          ))
          .reverse()}
      </select>
      <a
        href={client.assetUrl(chosen.ref, { download: true })}
        download
        aria-label={`Download the version ${label.toLowerCase()}`}
        title="Download"
        className={buttonClass('ghost', true)}
      >
        <Download aria-hidden />
      </a>
    </div>
  )
}

/** Two versions of an asset. */
export interface TwoVersions {
  before: AssetInfo
  after: AssetInfo
}

function Difference({ before, after }: TwoVersions) {
  if (before.table && after.table) return <TableDifference before={before} after={after} />
  const kinds = new Set([before.kind, after.kind])
  const isPicture = kinds.size === 1 && kinds.has('image')
  const isTextual =
    (isPicture && /[/+]xml\b/.test(after.mime)) || (kinds.size === 1 && kinds.has('file'))
  const isSmall = before.size <= MOST_BYTES && after.size <= MOST_BYTES
  return (
    <>
      {isPicture && <Pictures before={before} after={after} />}
      {isTextual && isSmall && <TextDifference before={before} after={after} />}
      {isTextual && !isSmall && (
        <Notice tone="info">
          These versions have {formatBytes(before.size)} and {formatBytes(after.size)}. At most{' '}
          {formatBytes(MOST_BYTES)} can be compared here. Download both above to compare them.
        </Notice>
      )}
      {!isPicture && !isTextual && (
        <Notice tone="info">
          Files of this type cannot be compared here. Download both above to compare them.
        </Notice>
      )}
    </>
  )
}

/** Shows two pictures in the same width. */
function Pictures({ before, after }: TwoVersions) {
  const { client } = useServer()
  return (
    <div className="@container">
      <div className="grid gap-3 @xl:grid-cols-2">
        {[
          { label: 'Before', asset: before },
          { label: 'After', asset: after },
        ].map(({ label, asset }) => (
          <figure key={label} className="min-w-0 space-y-1">
            <figcaption className="text-xs text-ink-3">
              {label} · {formatBytes(asset.size)}
            </figcaption>
            <img
              src={client.assetUrl(asset.ref)}
              alt={`${label}: ${asset.name ?? 'picture'}`}
              className="max-h-[28rem] w-full rounded-lg border border-line bg-white object-contain"
            />
          </figure>
        ))}
      </div>
    </div>
  )
}
