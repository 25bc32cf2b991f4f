import { newId } from '../content/new-id.ts'
import { ByrefError } from '../errors.ts'
import type { AssetRecord, StoreSaveOptions } from './asset-store.ts'
import { kindOf } from './bodies/mime-type.ts'

/** The record of a new asset, with an id of its own unless the caller gave one. */
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
    createdAt: options.createdAt ?? new Date().toISOString(),
    expiresAt: options.expiresAt ?? null,
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
