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
    const record = JSON.parse(text)
    return record?.version === 1 && typeof record.holder === 'string' ? record : null
  } catch {
    return null
  }
}

/** What the contract shows of a record. */
export function withoutHolder({ holder: _, ...record }: StoredRecord): AssetRecord {
  return record
}
