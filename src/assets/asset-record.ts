import { ByrefError } from '../core/errors.ts'
import { isoTime } from '../core/iso-time.ts'
import { newId } from '../core/new-id.ts'
import { assertAssetId } from '../core/refs/asset-id.ts'
import type { AssetRecord, StoreSaveOptions } from './asset-store.ts'
import { sha256 } from './bodies/digest.ts'
import { kindOf, normalizeMimeType } from './bodies/mime-type.ts'

/**
 * The record of a new asset, with an id of its own unless the caller gave one.
 *
 * @throws ByrefError `asset_invalid` for a malformed time
 */
export function newRecord(
  body: { digest: string; size: number },
  mime: string,
  options: StoreSaveOptions,
): AssetRecord {
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

/** Whether the record's time is over. */
export function isExpired(record: Pick<AssetRecord, 'expiresAt'>, now = Date.now()): boolean {
  return record.expiresAt !== null && Date.parse(record.expiresAt) <= now
}

/** Digests of every body that the record needs, each once. */
export function bodiesOf(record: AssetRecord): { digest: string; size: number }[] {
  const own = { digest: record.digest, size: record.size }
  return [own, ...record.parts.filter((part) => part.digest !== record.digest)]
}

/**
 * Refuses, before a body is read, an asset that no record can be made of: see {@link checkAbout}; also parts of another
 * digest than their name.
 *
 * @throws ByrefError `invalid_reference`, `asset_invalid`
 */
export function checkSave(mime: string, options: StoreSaveOptions): void {
  checkAbout(mime, options)
  for (const { digest, bytes } of options.parts ?? []) checkDigest(digest, sha256(bytes))
}

/**
 * The half of {@link checkSave} for stores that hash the parts themselves: ids, namespaces, MIME types and times.
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
 * Refuses a part of another digest than it is named by.
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

/** The error for an id that names nothing here. */
export function assetNotFound(assetId: string): ByrefError {
  return new ByrefError('asset_not_found', `There is no asset ${JSON.stringify(assetId)} here.`)
}

/** The error for an id that is taken. */
export function assetExists(assetId: string): ByrefError {
  return new ByrefError(
    'asset_exists',
    `There is an asset ${JSON.stringify(assetId)} already, and assets never change: choose another id.`,
  )
}

/** The error of a store that is given live objects and cannot keep them. */
export function objectsUnsupported(backend: string): ByrefError {
  return new ByrefError(
    'asset_unsupported',
    `The ${backend} store cannot keep live objects; the memory store can.`,
  )
}

function distinctParts(options: StoreSaveOptions): { digest: string; size: number }[] {
  const parts = new Map<string, number>()
  for (const part of options.parts ?? []) parts.set(part.digest, part.bytes.byteLength)
  return [...parts].map(([digest, size]) => ({ digest, size }))
}

/** As times sort: in UTC, with milliseconds. */
function timeIn(options: StoreSaveOptions, name: 'createdAt' | 'expiresAt'): string | null {
  const text = options[name] ?? null
  if (text === null) return null
  const time = isoTime(text)
  if (Number.isNaN(time)) {
    throw new ByrefError(
      'asset_invalid',
      `${name} ${JSON.stringify(text)} is no time; write it as ISO 8601.`,
    )
  }
  return new Date(time).toISOString()
}
