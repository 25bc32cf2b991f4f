import { parseAssetRef } from 'byref/client'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { fieldQuery } from '../preview/field-query.ts'
import { AssetChip, AssetLink } from './asset-chip.tsx'
import { AssetImage } from './asset-image.tsx'

/** Maximum length of a value that replaces its reference, in characters. */
const SHORT = 200

/** Number of bytes of a field that are loaded: {@link SHORT} characters of any kind, as JSON. */
const LOADED = 2_000

/**
 * Renders a reference within text. An image is shown, and so is a short text or number in a field. Anything else is a
 * chip.
 */
export function EmbeddedAsset({
  reference,
  imageClass,
}: {
  reference: string
  imageClass?: string
}) {
  const { assetQuery, client } = useServer()
  const parsed = parseAssetRef(reference)
  const { data } = useQuery({ ...assetQuery(parsed?.id ?? ''), enabled: parsed !== null })
  const isField = Boolean(data?.asset.structured && parsed?.fieldPath?.length)
  const field = useQuery({
    ...fieldQuery(client, reference, LOADED),
    enabled: isField,
    retry: false,
  })
  if (data?.asset.kind === 'image') {
    const alt = data.asset.name ?? 'Picture'
    return <AssetImage reference={reference} alt={alt} className={imageClass} />
  }
  const text = field.data && !field.data.cut ? shortText(field.data.value) : null
  if (!parsed || text === null) return <AssetChip reference={reference} />
  return (
    <AssetLink
      id={parsed.id}
      title={reference}
      className="rounded underline decoration-asset decoration-dotted underline-offset-4"
    >
      <bdi>{text}</bdi>
    </AssetLink>
  )
}

/** Returns a short value as text. Null if a chip represents it. */
function shortText(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' && value.length <= SHORT ? value : null
}
