import { defined } from '../core/defined.ts'
import type { AssetOrigin } from '../core/events/events.ts'
import type { EventBodies } from './asset-events.ts'
import type { AssetLocator } from './asset-locator.ts'
import type { AssetInfo, AssetRecord, FullAssetStore, StoreQuota } from './asset-store.ts'
import type { ResolvedAssetsConfig } from './assets-config.ts'
import type { ContentCache } from './content-access.ts'
import { tableFacts } from './tables/table-facts.ts'

/** The state that all views of one `createAssets` share. */
export interface AssetsCore {
  store: FullAssetStore
  config: ResolvedAssetsConfig
  locator: AssetLocator
  cache: ContentCache
  eventBodies: EventBodies
  /** Absent if a namespace has no quota. */
  quota: StoreQuota | undefined
}

/** Returns the public description of a record. */
export function infoOf(record: AssetRecord, locator: AssetLocator): AssetInfo {
  const table = tableFacts(record)
  const { assetId, namespace, mime, kind, size, digest, name, createdAt, expiresAt } = record
  const { description, structured, previous, by, tool, toolCallId, label } = record.attributes
  return defined({
    assetId,
    ref: locator.refOf(assetId, namespace),
    namespace,
    mime,
    kind,
    size,
    digest,
    name,
    description: description ?? null,
    createdAt,
    expiresAt,
    structured: structured ?? false,
    table: table && { rows: table.rows, columns: table.columns.length, source: table.source },
    previous: previous === undefined ? undefined : locator.refOf(previous, namespace),
    by: by as AssetOrigin | undefined,
    tool,
    toolCallId,
    label,
  })
}
