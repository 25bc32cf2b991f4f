import { newRecord } from '../asset-record.ts'
import type { AssetRecord, StoreSaveOptions } from '../asset-store.ts'
import { nonce } from '../nonce.ts'

/** A record as it lies on a medium: `holder` names its refs, and no other save's. */
export type StoredRecord = AssetRecord & { holder: string }

/** The record of a new asset, with a holder of its own. */
export function newStoredRecord(
  body: { digest: string; size: number },
  mime: string,
  options: StoreSaveOptions,
): StoredRecord {
  return { ...newRecord(body, mime, options), holder: nonce() }
}

/** The record in a text; null for one that cannot be read. */
export function parseRecord(text: string): StoredRecord | null {
  try {
    const value: unknown = JSON.parse(text)
    return isStoredRecord(value) ? value : null
  } catch {
    return null
  }
}

/** Whether everything is there that finds an asset, its namespace and its bodies. */
function isStoredRecord(value: unknown): value is StoredRecord {
  const record = value as Partial<StoredRecord> | null
  if (record?.version !== 1 || !Array.isArray(record.parts)) return false
  const { holder, assetId, namespace, digest, mime, createdAt, size } = record
  const texts = [holder, assetId, namespace === null ? '' : namespace, digest, mime, createdAt]
  return texts.every((text) => typeof text === 'string') && typeof size === 'number'
}

/** What the contract shows of a record. */
export function withoutHolder({ holder: _, ...record }: StoredRecord): AssetRecord {
  return record
}
