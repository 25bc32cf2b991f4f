import { checkOptions, is } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { bodiesOf } from '../asset-record.ts'
import type { AssetRecord } from '../asset-store.ts'
import { readBytes, streamOf } from '../bodies/body.ts'
import type { BodyStore, ListedBody } from '../bodies/body-store.ts'
import { digestOfStream, sha256 } from '../bodies/digest.ts'
import type { PlacedBody, RecordIndex } from '../records/record-index.ts'
import { RECORD_EXTENSION, spaceName } from './save-asset.ts'
import { PARTS } from './store-parts.ts'
import { disownBodies, isOfStore } from './sweep-store.ts'
import { withCodes } from './with-codes.ts'

/** The result of {@link rebuildRecords}. */
export interface RebuiltRecords {
  /** Number of assets that were added to the index. */
  assets: number
  /** Keys of records that cannot be read or whose bodies are incomplete: those assets are lost. */
  lost: string[]
}

/**
 * Restores a lost index from the records among the bodies, which a store with `recordFiles` keeps. Every body is read, so
 * that each record gets the bytes that its digests name. The bodies then belong to the new index. An asset whose removal
 * was interrupted may reappear; existing records stay. Nobody else may use the bodies meanwhile.
 *
 * @throws ByrefError `config_invalid` if there are bodies but no records among them: they stay with the lost index
 */
export async function rebuildRecords(
  parts: { records: RecordIndex; bodies: BodyStore },
  options?: { signal?: AbortSignal },
): Promise<RebuiltRecords> {
  const { recordFiles: _, ...both } = PARTS
  const { records, bodies: given } = checkOptions('rebuildRecords', parts, both)
  const bodies = withCodes(given)
  const { signal } = checkOptions('rebuildRecords', options, { signal: is.signal })
  await bodies.check?.()
  await records.open()
  /** By folder of the namespace, and digest. */
  const places = new Map<string, PlacedBody>()
  const found: { key: string; digest: string; record: AssetRecord | null }[] = []
  for await (const body of bodies.list('')) {
    signal?.throwIfAborted()
    const { key, size } = body
    if (isOfStore(key)) continue
    const [space = ''] = key.split('/')
    if (key.endsWith(`.${RECORD_EXTENSION}`))
      found.push({ key, ...(await readRecord(bodies, body)) })
    else {
      const { digest } = await digestOfStream(await openWhole(bodies, body))
      places.set(`${space} ${digest}`, { digest, size, key })
    }
  }

  if (found.length === 0 && places.size > 0) {
    throw new ByrefError(
      'config_invalid',
      `There are no records among these bodies (${bodies.name}): only a store with recordFiles keeps them.`,
    )
  }
  let assets = 0
  const lost: string[] = []
  for (const { key, digest, record } of found) {
    const space = spaceName(record?.namespace ?? null)
    const needed = record
      ? bodiesOf(record).map((body) => places.get(`${space} ${body.digest}`))
      : []
    const placed = needed.filter((body) => body !== undefined)
    if (!record || placed.length < needed.length) lost.push(key)
    else if (await added(records, { record, bodies: [...placed, { digest, size: 0, key }] }))
      assets++
  }
  await disownBodies(bodies)
  return { assets, lost }
}

async function added(
  records: RecordIndex,
  entry: { record: AssetRecord; bodies: PlacedBody[] },
): Promise<boolean> {
  try {
    await records.add(entry)
    return true
  } catch (error) {
    if (error instanceof ByrefError && error.code === 'asset_exists') return false
    throw error
  }
}

async function openWhole(bodies: BodyStore, { key, size }: ListedBody) {
  const stream = size === 0 ? null : await bodies.open(key, { start: 0, end: size, size })
  return stream ?? streamOf(new Uint8Array())
}

async function readRecord(bodies: BodyStore, body: ListedBody) {
  const bytes = await readBytes(await openWhole(bodies, body))
  return { digest: sha256(bytes), record: parseRecord(Buffer.from(bytes).toString('utf8')) }
}

function parseRecord(text: string): AssetRecord | null {
  try {
    const record = JSON.parse(text) as AssetRecord | null
    return record?.version === 1 && Array.isArray(record.parts) ? record : null
  } catch {
    return null
  }
}
