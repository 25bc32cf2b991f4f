import type { AssetOrigin } from '../core/events/events.ts'
import type { AssetPayloads } from './asset-events.ts'
import type { AssetLocator } from './asset-locator.ts'
import type { AssetRecord, FullAssetStore, StoreQuota } from './asset-store.ts'
import type { ResolvedAssetsConfig } from './assets-config.ts'
import type { AssetInfo } from './assets-contract.ts'
import type { ContentCache } from './content-access.ts'
import { defined } from './defined.ts'
import { tableFacts } from './tables/table-facts.ts'

/** The state that all views of one `createAssets` share. */
export interface AssetsCore {
  store: FullAssetStore
  config: ResolvedAssetsConfig
  locator: AssetLocator
  cache: ContentCache
  payloads: AssetPayloads
  /** Absent if a namespace has no quota. */
  quota: StoreQuota | undefined
}

/** Returns the public description of a record. */
export function infoOf(record: AssetRecord, locator: AssetLocator): AssetInfo {
  const table = tableFacts(record)
  const { by, tool, toolCallId } = record.attributes
  return {
    assetId: record.assetId,
    ref: locator.refOf(record.assetId, record.namespace),
    namespace: record.namespace,
    mime: record.mime,
    kind: record.kind,
    size: record.size,
    digest: record.digest,
    name: record.name,
    description: record.attributes.description ?? null,
    createdAt: record.createdAt,
    expiresAt: record.expiresAt,
    structured: record.attributes.structured ?? false,
    table: table && { rows: table.rows, columns: table.columns.length, source: table.source },
    ...(record.attributes.previous === undefined
      ? {}
      : { previous: locator.refOf(record.attributes.previous, record.namespace) }),
    ...defined({ by: by as AssetOrigin | undefined, tool, toolCallId }),
    ...(record.attributes.label ? { label: record.attributes.label } : {}),
  }
}
