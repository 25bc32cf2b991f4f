import type { AssetPlace } from '../asset-locator.ts'
import { assetNotFound, firstVersionOf, recordsOf } from '../asset-record.ts'
import type { AssetInfo, AssetRecord } from '../asset-store.ts'
import type { VersionOptions } from '../asset-writer.ts'
import { type AssetsCore, infoOf } from '../assets-core.ts'

/** Clocks of hosts may differ by this much, in milliseconds. */
const CLOCK_MS = 60_000

/**
 * Returns the versions of an asset, oldest first: all that were made from the same first version. Deleted ones are
 * missing, wherever they were.
 */
export async function versionsOf(
  { store, locator }: AssetsCore,
  { assetId, namespace }: AssetPlace,
): Promise<AssetInfo[]> {
  const record = await store.info(assetId, { namespace })
  if (!record) throw assetNotFound(assetId)
  const firstId = firstVersionOf(record)
  const first = await store.info(firstId, { namespace })
  // Without the first version, its time is unknown.
  const oldest = first ? Date.parse(first.createdAt) - CLOCK_MS : -Infinity
  const versions: AssetInfo[] = []
  for await (const one of recordsOf(store, namespace)) {
    if (Date.parse(one.createdAt) < oldest) break
    if (firstVersionOf(one) === firstId) versions.push(infoOf(one, locator))
  }
  return versions.reverse()
}

/** Returns what the next version of an asset says about its versions. */
export function versionAfter(
  record: AssetRecord,
): Required<Pick<VersionOptions, 'previous' | 'firstVersion'>> {
  return { previous: record.assetId, firstVersion: firstVersionOf(record) }
}
