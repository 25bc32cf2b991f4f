import type { AssetMeta } from '../content/asset.ts'
import {
  explainMissing,
  type FieldKey,
  FieldPathError,
  resolveFieldPath,
} from '../refs/field-path.ts'
import { readContent } from './asset-content.ts'
import type { AssetPlace } from './asset-locator.ts'
import { assetNotFound } from './asset-record.ts'
import type { AssetRecord } from './asset-store.ts'
import type { AssetsCore } from './assets-core.ts'
import { valueAsFile } from './value-as-file.ts'

/** What is read where a reference names the asset itself (spec R3). */
const CONTENT: readonly FieldKey[] = ['content']

/**
 * The record of the asset that a reference leads to.
 *
 * @throws ByrefError `asset_not_found`
 */
export async function recordAt({ store }: AssetsCore, place: AssetPlace): Promise<AssetRecord> {
  const record = await store.info(place.assetId, { namespace: place.namespace })
  if (!record) throw assetNotFound(place.assetId)
  return record
}

/**
 * The value at a path in an asset: of a field, or of the content where none is named. A path that leads nowhere reads no
 * bytes but those that it leads through.
 *
 * @throws ByrefError `field_not_found`, and what {@link readContent} throws
 */
export async function valueAt(
  { store, cache, locator, config }: AssetsCore,
  record: AssetRecord,
  fieldPath: readonly FieldKey[] = CONTENT,
): Promise<unknown> {
  const nameOf = (path: readonly FieldKey[]): string =>
    locator.refOf(record.assetId, record.namespace, [...path])
  if (fieldPath[0] !== 'content') {
    return resolveFieldPath(assetOf(record, null), fieldPath, { format: nameOf })
  }
  const content = await readContent(record, { store, cache, limits: config.limits })
  const found = await content.at(fieldPath.slice(1))
  if (found.isFound) return found.value
  const prefix = fieldPath.slice(0, found.depth + 1)
  const key = fieldPath[found.depth + 1] as FieldKey
  const message = explainMissing(nameOf(prefix), found.container, key)
  throw new FieldPathError(message, fieldPath, prefix)
}

/** Whether a reference names the whole body, and no field in it. */
export function isWhole({ fieldPath }: AssetPlace): boolean {
  return !fieldPath || (fieldPath.length === 1 && fieldPath[0] === 'content')
}

/** A value as a body: a field's, or the whole content's, where only byref can read its stored form. */
export async function valueBody(
  core: AssetsCore,
  record: AssetRecord,
  fieldPath: readonly FieldKey[] = CONTENT,
): Promise<{ bytes: Uint8Array; mime: string }> {
  const refOf = (path: readonly FieldKey[]): string =>
    core.locator.refOf(record.assetId, record.namespace, [...fieldPath, ...path])
  return valueAsFile(await valueAt(core, record, fieldPath), { refOf })
}

/** The meta of a file, which has none of its own. */
export function fileMeta(record: AssetRecord): AssetMeta {
  return assetOf(record, "<class 'Uint8Array'>") as unknown as AssetMeta
}

/** The asset as structured-assets.md has it, in its order of keys. */
function assetOf(record: AssetRecord, content: unknown): Record<string, unknown> {
  const { asset_type, description, content_type } = record.attributes
  return {
    ...(asset_type !== undefined && { asset_type }),
    asset_id: record.assetId,
    ...(record.name !== null && { asset_name: record.name }),
    ...(description !== undefined && { description }),
    content_type: content_type ?? record.mime,
    content,
  }
}
