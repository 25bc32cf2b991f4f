import {
  type AssetInfo,
  formatAssetRef,
  formatVariableRef,
  type Message,
  parseAssetRef,
} from 'byref/client'
import { boardOf } from '../references/board.ts'
import { isAsset } from '../references/kinds.ts'
import { isRecord } from '../ui/is-record.ts'

/** A place among the saved values that names a version of an asset. */
export interface VersionPlace {
  kind: string
  instance: string | undefined
  path: (string | number)[]
  /** The place as a variable reference: `†state.report`. */
  label: string
  /** A reference, or an object whose `assetRef` is one. */
  value: string | (Record<string, unknown> & { assetRef: string })
  assetId: string
}

/** Number of values that are searched. */
const MOST = 20_000

/** Returns the places that name one of these assets, in the order of the saved values. */
export function versionPlaces(
  messages: readonly Message[],
  ids: ReadonlySet<string>,
): VersionPlace[] {
  const places: VersionPlace[] = []
  let left = MOST

  function search(value: unknown, place: Pick<VersionPlace, 'kind' | 'instance' | 'path'>): void {
    left -= 1
    if (left < 0) return
    const reference = isRecord(value) ? value.assetRef : value
    const assetId = isAsset(reference) ? parseAssetRef(reference)?.id : undefined
    if (assetId !== undefined && ids.has(assetId)) {
      const label = formatVariableRef({ type: 'variable', ...place })
      places.push({ ...place, label, value: value as VersionPlace['value'], assetId })
      return
    }
    if (typeof value !== 'object' || value === null) return
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
    for (const [key, part] of entries) search(part, { ...place, path: [...place.path, key] })
  }

  for (const { kind, instance, data } of boardOf(messages).entries()) {
    search(data, { kind, instance, path: [] })
  }
  return places
}

/** Returns the value of a place with another version in it. A field path, and all else in an object, stays. */
export function withVersion(
  { value }: Pick<VersionPlace, 'value'>,
  { from, to }: { from: AssetInfo | undefined; to: AssetInfo },
): VersionPlace['value'] {
  if (typeof value === 'string') return referenceTo(to, value)
  const changed = { ...value, assetRef: referenceTo(to, value.assetRef) }
  // The size of the old version would be wrong.
  return from && 'size' in value && value.size === from.size
    ? { ...changed, size: to.size }
    : changed
}

function referenceTo({ ref }: AssetInfo, before: string): string {
  const parts = parseAssetRef(ref)
  return parts ? formatAssetRef({ ...parts, fieldPath: parseAssetRef(before)?.fieldPath }) : ref
}
