import type { S3Bucket } from '../bodies/s3/connector.ts'
import { type BucketSpace, parseUse } from './bucket-layout.ts'
import { objectsUnder, readEntries } from './bucket-objects.ts'

/**
 * Removes what saves and deletes that were cut off left in the index before a time: uses and places without an entry, marks
 * and claims. As long as an entry is damaged, nothing that it may need counts as left. Gives how much was removed.
 */
export async function tidyBucket(
  at: S3Bucket,
  spaces: readonly BucketSpace[],
  before: number,
): Promise<number> {
  let count = 0

  async function oldUnder(prefix: string): Promise<string[]> {
    const keys: string[] = []
    for await (const { key, modifiedAt } of objectsUnder(at, prefix)) {
      if (modifiedAt <= before) keys.push(key)
    }
    return keys
  }

  async function remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) await at.connector.delete({ bucket: at.bucket, key })
    count += keys.length
  }

  for (const space of spaces) {
    // What a save writes first is listed first: then the entry of whatever is in use is there, or it is young.
    const uses = await oldUnder(space.uses)
    const places = await oldUnder(space.newest)
    const holders = new Set<string>()
    const known = new Set<string>()
    let isWhole = true
    const keys: string[] = []
    for await (const { key } of objectsUnder(at, space.assets)) keys.push(key)
    await readEntries(at, keys, (entry) => {
      if (!entry) isWhole = false
      else {
        holders.add(entry.holder)
        known.add(space.place(entry.record, entry.holder))
      }
    })
    await remove(await oldUnder(space.claims))
    await remove(await oldUnder(space.gone))
    if (!isWhole) continue
    await remove(places.filter((place) => !known.has(place)))
    await remove(uses.filter((use) => !holders.has(parseUse(space, use).holder)))
  }
  return count
}
