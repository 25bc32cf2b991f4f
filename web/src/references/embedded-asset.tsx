import { useQuery } from '@tanstack/react-query'
import { assetQuery } from '../app/client.ts'
import { AssetChip } from './asset-chip.tsx'
import { AssetImage } from './asset-image.tsx'
import { parse } from './kinds.ts'

/** A reference within text: a picture shows itself, anything else is a chip. */
export function EmbeddedAsset({ reference }: { reference: string }) {
  const parsed = parse(reference)
  const { data } = useQuery({ ...assetQuery(parsed?.id ?? ''), enabled: parsed !== null })
  if (data?.asset.kind !== 'image') return <AssetChip reference={reference} />
  return <AssetImage reference={reference} alt={data.asset.name ?? 'Picture'} />
}
