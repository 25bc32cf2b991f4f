import type { AssetDetails } from 'byref/client'
import { useState } from 'react'
import { useServer } from '../app/server.ts'
import { Spinner } from '../ui/spinner.tsx'
import { AssetFacts } from './asset-facts.tsx'

/**
 * Renders a summary of an asset in a hover card. `details` is undefined while loading, and null for an unknown asset.
 */
export function AssetCard({
  reference,
  details,
}: {
  reference: string
  details: AssetDetails | null | undefined
}) {
  const { client } = useServer()
  const [failed, setFailed] = useState(false)
  if (details === undefined) return <Spinner label="Loading" />
  if (details === null) return <p className="text-sm text-bad">This file does not exist.</p>
  const { asset } = details
  return (
    <div className="space-y-2 text-xs">
      {asset.kind === 'image' && !failed && (
        <img
          src={client.assetUrl(asset.ref)}
          alt=""
          onError={() => setFailed(true)}
          className="max-h-40 w-full rounded border border-line bg-white object-contain"
        />
      )}
      <p dir="auto" className="truncate text-sm font-medium">
        {asset.name ?? asset.assetId}
      </p>
      <AssetFacts asset={details.asset} meta={details.meta} />
      <p dir="ltr" className="font-mono text-2xs [overflow-wrap:anywhere] text-ink-3">
        {reference}
      </p>
    </div>
  )
}
