import { ByrefError } from '../core/errors.ts'
import { isoTime } from '../core/iso-time.ts'
import { newId } from '../core/new-id.ts'
import { assertAssetId, formatAssetRef } from '../core/refs/asset-ref.ts'
import type { FieldKey } from '../core/refs/field-key.ts'
import { parseVariableRef } from '../core/refs/variable-ref.ts'
import type { AssetRecord, FullAssetStore, StoreSaveOptions } from './asset-store.ts'
import { type BodyDigest, sha256 } from './bodies/digest.ts'
import { kindOf, normalizeMimeType } from './bodies/mime-type.ts'

/**
 * Creates the record of a new asset. The id is new unless the caller chose one.
 *
 * @throws ByrefError `asset_invalid` for a malformed time
 */
export function newRecord(body: BodyDigest, mime: string, options: StoreSaveOptions): AssetRecord {
  return {
    version: 1,
    assetId: options.assetId ?? newId(),
    namespace: options.namespace ?? null,
    mime,
    kind: kindOf(mime),
    size: body.size,
    digest: body.digest,
    name: options.name ?? null,
    createdAt: timeIn(options, 'createdAt') ?? new Date().toISOString(),
    expiresAt: timeIn(options, 'expiresAt'),
    attributes: options.attributes ?? {},
    parts: distinctParts(options),
  }
}

/** Returns whether the record has expired. */
export function isExpired(record: Pick<AssetRecord, 'expiresAt'>, now = Date.now()): boolean {
  return record.expiresAt !== null && Date.parse(record.expiresAt) <= now
}

/** Returns the digests of all bodies that the record needs, without repetition. */
export function bodiesOf(record: AssetRecord): BodyDigest[] {
  const body = { digest: record.digest, size: record.size }
  return [body, ...record.parts.filter((part) => part.digest !== record.digest)]
}

/**
 * Rejects an asset that cannot be recorded, before its body is read: see {@link checkAbout}. Also rejects parts whose
 * digest does not match their name.
 *
 * @throws ByrefError `invalid_reference`, `asset_invalid`
 */
export function checkSave(mime: string, options: StoreSaveOptions): void {
  checkAbout(mime, options)
  for (const { digest, bytes } of options.parts ?? []) checkDigest(digest, sha256(bytes))
}

/**
 * Does the part of {@link checkSave} for stores that hash parts themselves: checks ids, namespaces, MIME types and
 * times.
 *
 * @throws ByrefError `invalid_reference`, `asset_invalid`
 */
export function checkAbout(mime: string, options: StoreSaveOptions): void {
  if (options.assetId !== undefined) assertAssetId(options.assetId)
  if (options.namespace != null) assertAssetId(options.namespace, 'namespace')
  normalizeMimeType(mime)
  timeIn(options, 'createdAt')
  timeIn(options, 'expiresAt')
}

/**
 * Rejects a part whose digest does not match its name.
 *
 * @throws ByrefError `asset_invalid`
 */
export function checkDigest(named: string, actual: string): void {
  if (named === actual) return
  throw new ByrefError(
    'asset_invalid',
    `A part is named ${JSON.stringify(named)}, but the SHA-256 of its bytes is ${actual}.`,
  )
}

/** Returns the error for an unknown id. `namespace` is the one that the reference names. */
export function assetNotFound(assetId: string, namespace?: string): ByrefError {
  const missing = `There is no asset ${JSON.stringify(assetId)}`
  // A model may write a path as it does after a variable: asset://id/content[0].name.
  const path = parseVariableRef(`†_${assetId}`)
  const { kind = `_${assetId}`, path: keys = [] } = path?.type === 'variable' ? path : {}
  const name = kind.slice(1)
  if (namespace === undefined) {
    const advice = keys.length > 0 ? ` ${fieldAdvice(name, keys)}` : ''
    return new ByrefError('asset_not_found', `${missing} here.${advice}`)
  }
  const where = `in the namespace ${JSON.stringify(namespace)}, or you may not read it.`
  const advice = fieldAdvice(namespace, [name, ...keys])
  return new ByrefError('asset_not_found', `${missing} ${where} ${advice}`)
}

function fieldAdvice(id: string, keys: readonly FieldKey[]): string {
  const path = keys[0] === 'content' && keys.length > 1 ? keys : ['content', ...keys]
  const ref = formatAssetRef({ id, fieldPath: [...path] })
  return `For a field of the asset ${JSON.stringify(id)}, write ${ref}.`
}

/** Returns the error for an id that is already used. */
export function assetExists(assetId: string): ByrefError {
  return new ByrefError(
    'asset_exists',
    `Asset ${JSON.stringify(assetId)} already exists, and assets never change: choose another id.`,
  )
}

/** Returns the error of a store that cannot keep live objects. */
export function objectsUnsupported(backend: string): ByrefError {
  return new ByrefError(
    'asset_unsupported',
    `The ${backend} store cannot keep live objects; the memory store can.`,
  )
}

function distinctParts(options: StoreSaveOptions): BodyDigest[] {
  const parts = new Map<string, number>()
  for (const part of options.parts ?? []) parts.set(part.digest, part.bytes.byteLength)
  return [...parts].map(([digest, size]) => ({ digest, size }))
}

/** Returns a time in a form that sorts: UTC, with milliseconds. */
function timeIn(options: StoreSaveOptions, name: 'createdAt' | 'expiresAt'): string | null {
  const text = options[name] ?? null
  if (text === null) return null
  const time = isoTime(text)
  if (Number.isNaN(time)) {
    throw new ByrefError(
      'asset_invalid',
      `${name} ${JSON.stringify(text)} is not a valid time; write it as ISO 8601.`,
    )
  }
  return new Date(time).toISOString()
}

/** Yields the records of a namespace that have not expired, newest first. */
export async function* recordsOf(
  store: FullAssetStore,
  namespace: string | null,
): AsyncGenerator<AssetRecord> {
  let cursor: string | null = null
  do {
    const page = await store.list({ namespace, limit: 1000, cursor })
    yield* page.records
    cursor = page.next
  } while (cursor !== null)
}

/** Returns the id of the first version of an asset, which may be the asset itself. */
export function firstVersionOf({ assetId, attributes }: AssetRecord): string {
  return attributes.firstVersion ?? assetId
}

/** Returns the attributes `previous` and `firstVersion` of the next version of an asset. */
export function versionAfter(record: AssetRecord): { previous: string; firstVersion: string } {
  return { previous: record.assetId, firstVersion: firstVersionOf(record) }
}
