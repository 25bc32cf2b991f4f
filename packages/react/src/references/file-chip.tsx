import { parseAssetRef } from 'byref/client'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { AssetChip } from './asset-chip.tsx'
import { tableShape } from './table-shape.ts'

/** Renders a file by name; for a table also its rows and columns. */
export function FileChip({ reference, name }: { reference: string; name?: string }) {
  const { assetQuery } = useServer()
  const id = parseAssetRef(reference)?.id
  const { data } = useQuery({ ...assetQuery(id ?? ''), enabled: id !== undefined })
  return (
    <AssetChip
      reference={reference}
      name={name}
      detail={data ? tableShape(data.meta) : null}
      className="h-7 px-2"
    />
  )
}
