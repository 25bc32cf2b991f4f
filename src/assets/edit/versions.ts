import type { AssetInfo } from '../asset-info.ts'
import type { AssetPlace } from '../asset-locator.ts'
import { assetNotFound } from '../asset-record.ts'
import type { AssetRecord } from '../asset-store.ts'
import { type AssetsCore, infoOf } from '../assets-core.ts'

/** Returns the versions of an asset, oldest first: its line of `previous`, and all that were made from one of these. */
export async function versionsOf(
  { store, locator }: AssetsCore,
  { assetId, namespace }: AssetPlace,
): Promise<AssetInfo[]> {
  const record = await store.info(assetId, { namespace })
  if (!record) throw assetNotFound(assetId)
  let oldest = record
  const line = [record]
  for (let id = record.attributes.previous; id !== undefined; id = oldest.attributes.previous) {
    const before = await store.info(id, { namespace })
    if (!before) break
    oldest = before
    line.unshift(before)
  }
  const younger: AssetRecord[] = []
  for (let cursor: string | null = null; ; ) {
    const page = await store.list({ namespace, limit: 1000, cursor })
    younger.push(...page.records.filter(({ attributes }) => attributes.previous !== undefined))
    cursor = page.next
    const last = page.records.at(-1)
    if (cursor === null || !last || last.createdAt < oldest.createdAt) break
  }
  const known = new Set(line.map((one) => one.assetId))
  // Oldest first, so that a version comes after the one that it was made from.
  for (const one of younger.reverse()) {
    const { previous = '' } = one.attributes
    if (!known.has(previous) || known.has(one.assetId)) continue
    known.add(one.assetId)
    line.push(one)
  }
  return line
    .sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
    .map((one) => infoOf(one, locator))
}
