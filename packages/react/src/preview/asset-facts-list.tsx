import type { AssetDetails } from 'byref/client'
import type { ReactNode } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatBytes, formatCount, formatFullTime } from '../ui/format.ts'

/** How tables are stored. */
const PARQUET = 'application/vnd.apache.parquet'

/** Renders the properties of an asset, one per line. `children` are further lines. */
export function AssetFactsList({
  details,
  children,
}: {
  details: AssetDetails
  children?: ReactNode
}) {
  const { ref, mime, kind, size, digest, createdAt } = details.asset
  return (
    <dl className="@container text-xs leading-6">
      <Fact name="Reference" copy={ref} copyLabel="Copy file reference" mono>
        {ref}
      </Fact>
      <Fact name="Type">
        {mime === PARQUET ? 'Table' : mime}{' '}
        <span className="text-ink-3">· {mime === PARQUET ? 'stored as Parquet' : kind}</span>
      </Fact>
      <Fact name="Size">
        {formatBytes(size)} <span className="text-ink-3">· {formatCount(size)} bytes</span>
      </Fact>
      {digest && (
        <Fact name="SHA-256" copy={digest} copyLabel="Copy SHA-256" mono>
          {digest}
        </Fact>
      )}
      <Fact name="Created">{formatFullTime(createdAt)}</Fact>
      {children}
    </dl>
  )
}

/** Renders one line of {@link AssetFactsList}. */
export function Fact({
  name,
  copy,
  copyLabel = `Copy ${name.toLowerCase()}`,
  mono = false,
  children,
}: {
  name: string
  /** A text to copy, and the name of the button. */
  copy?: string
  copyLabel?: string
  mono?: boolean
  children: ReactNode
}) {
  return (
    <div className="grid gap-x-3 pb-1 @[14rem]:grid-cols-[5.5rem_minmax(0,1fr)]">
      <dt className="text-ink-3">{name}</dt>
      <dd className="flex min-w-0 items-center gap-1">
        <span
          dir={mono ? 'ltr' : undefined}
          className={mono ? 'truncate font-mono' : 'min-w-0 [overflow-wrap:anywhere]'}
        >
          {children}
        </span>
        {copy && <CopyButton label={copyLabel} text={copy} className="size-6 [&_svg]:size-3.5" />}
      </dd>
    </div>
  )
}
