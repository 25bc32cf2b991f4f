import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import type { AssetMeta } from '../core/messages/asset-meta.ts'
import { isWholePath } from '../core/refs/asset-ref.ts'
import {
  explainMissing,
  type FieldKey,
  FieldPathError,
  resolveFieldPath,
} from '../core/refs/field-path.ts'
import { readField } from './asset-content.ts'
import type { AssetPlace, AssetRefInput, NamespaceOption } from './asset-locator.ts'
import { assetNotFound, firstVersionOf, recordsOf } from './asset-record.ts'
import type { AssetInfo, AssetRecord, StoreOpened } from './asset-store.ts'
import type { AssetReader, AssetScope, OpenOptions } from './assets-contract.ts'
import { type AssetsCore, infoOf } from './assets-core.ts'
import { byteRange, plain, readBytes, streamOf } from './bodies/body.ts'
import { base64Of, dataUrlOf, fitsText } from './bodies/data-url.ts'
import { documentForm, readsAsText } from './bodies/mime-type.ts'
import { decodeText, markedEncoding } from './bodies/text-encoding.ts'
import { cacheKey } from './content-access.ts'
import type { AssetText } from './documents/document-text.ts'
import { isRows, tableFacts } from './tables/table-facts.ts'
import { type FileValue, valueAsFile } from './value-as-file.ts'

/** Maximum lifetime of signed URLs of S3: 7 days, in seconds. */
const MAX_URL_S = 7 * 24 * 3600

/** Creates the reading methods of one scope. */
export function createAssetReader(core: AssetsCore, scope: AssetScope): AssetReader {
  const { store, locator } = core

  const locate = (ref: AssetRefInput, options?: NamespaceOption): AssetPlace =>
    locator.locate(ref, options, scope.namespace)
  const recordOf = (ref: AssetRefInput, options?: NamespaceOption): Promise<AssetRecord> =>
    recordAt(core, locate(ref, options))

  return {
    get: async (ref, options) => readPlace(core, locate(ref, options)),

    async open(ref, options = {}) {
      const place = locate(ref, options)
      const { record, stored } = await openStored(core, place, options)
      const info = infoOf(record, locator)
      if (stored) {
        const { start, end, stream } = stored
        return { info, mime: record.mime, size: record.size, start, end, stream }
      }
      const { bytes, mime } = await valueBody(core, record, place.fieldPath)
      const range = byteRange(bytes.byteLength, options.start, options.end)
      const stream = streamOf(bytes.subarray(range.start, range.end))
      return { info, mime, size: bytes.byteLength, ...range, stream }
    },

    async getBase64(ref, options) {
      const { bytes, mime } = await readPlace(core, locate(ref, options), { asText: true })
      return { base64: base64Of(bytes), mime }
    },

    async getDataUrl(ref, options) {
      const { bytes, mime } = await readPlace(core, locate(ref, options), { asText: true })
      return dataUrlOf(bytes, mime)
    },

    info: async (ref, options) => infoOf(await recordOf(ref, options), locator),

    async urlFor(ref, options = {}) {
      const { inline, expiresIn } = options
      checkExpiresIn(expiresIn)
      const place = locate(ref, options)
      const record = await recordAt(core, place)
      if (!isWholePath(place.fieldPath) || record.attributes.marked) {
        const { bytes, mime } = await valueBody(core, record, place.fieldPath)
        return dataUrlOf(bytes, mime)
      }
      if (inline && !fitsText(record.size)) throw tooLong(record)
      return store.urlFor(place.assetId, { namespace: place.namespace, inline, expiresIn })
    },

    async list(options = {}) {
      const namespace = locator.namespaceFor(options, scope.namespace)
      const { records, next } = await store.list({ ...options, namespace })
      return { assets: records.map((record) => infoOf(record, locator)), next }
    },

    async delete(ref, options) {
      const { assetId, namespace, fieldPath } = locate(ref, options)
      if (!fieldPath) return store.delete(assetId, { namespace })
      if (!(await store.info(assetId, { namespace }))) return false
      const message = 'Assets never change: a field cannot be deleted. Delete the whole asset.'
      throw new ByrefError('asset_invalid', message)
    },

    async resolve(ref, options) {
      const place = locate(ref, options)
      return valueAt(core, await recordAt(core, place), place.fieldPath)
    },

    text: async (ref, options) => textAt(core, locate(ref, options)),

    async rows(ref, options = {}) {
      const place = locate(ref, options)
      const record = await recordAt(core, place)
      const { listRows, noRows, tableRows } = await import('./tables/table-rows.ts')
      const table = tableFacts(record)
      if (table && isRows(place.fieldPath)) {
        return tableRows(record, table, { ...core, signal: options.signal })
      }
      const name = locator.refOf(record.assetId, record.namespace, place.fieldPath)
      const value = await valueAt(core, record, place.fieldPath)
      if (!Array.isArray(value)) throw noRows(name)
      return listRows(value, name)
    },

    versions: async (ref, options) => versionsAt(core, locate(ref, options)),

    async meta(ref, options) {
      const record = await recordOf(ref, options)
      // The stored meta lacks the fields that the record has.
      const meta = record.attributes.meta as Partial<AssetMeta> | undefined
      return { ...assetOf(record, "<class 'Uint8Array'>"), ...meta }
    },
  }
}

/**
 * Returns the record and the stored body. The body is null for a field, and for content whose stored form only byref
 * can read.
 */
async function openStored(
  core: AssetsCore,
  place: AssetPlace,
  { start, end, signal }: OpenOptions = {},
): Promise<{ record: AssetRecord; stored: StoreOpened | null }> {
  if (!isWholePath(place.fieldPath)) return { record: await recordAt(core, place), stored: null }
  const { assetId, namespace } = place
  const opened = await core.store.open(assetId, { namespace, start, end, signal })
  if (!opened) throw assetNotFound(assetId)
  const { record } = opened
  if (!record.attributes.marked) return { record, stored: opened }
  await opened.stream.cancel()
  return { record, stored: null }
}

async function readPlace(core: AssetsCore, place: AssetPlace, { asText = false } = {}) {
  const { record, stored } = await openStored(core, place)
  if (!stored) return valueBody(core, record, place.fieldPath)
  if (asText && !fitsText(record.size)) {
    await stored.stream.cancel()
    throw tooLong(record)
  }
  return { bytes: plain(await readBytes(stored.stream)), mime: record.mime }
}

async function textAt(core: AssetsCore, place: AssetPlace): Promise<AssetText> {
  const record = await recordAt(core, place)
  const whole = isWholePath(place.fieldPath) && !record.attributes.marked
  const known = whole ? documentForm(record.mime) : null
  const { bytes, mime } = known ? { bytes: null, mime: record.mime } : await readPlace(core, place)
  const form = known ?? documentForm(mime)
  if (!form) return { text: textOf(bytes ?? new Uint8Array(), mime), pages: [1] }
  const { documentText } = await import('./documents/document-text.ts')
  const { assetId, namespace, name } = record
  const path = whole ? [] : (place.fieldPath ?? [])
  const source = {
    form,
    name: name ?? assetId,
    namespace,
    key: cacheKey(record, 'text', ...path),
    async open(signal?: AbortSignal) {
      if (bytes) return streamOf(bytes)
      const opened = await core.store.open(assetId, { namespace, signal })
      if (!opened) throw assetNotFound(assetId)
      return opened.stream
    },
  }
  return documentText(source, { cache: core.cache, limits: core.config.limits })
}

/** @throws ByrefError `asset_unsupported` for bytes that are not text */
function textOf(bytes: Uint8Array, mime: string): string {
  if (readsAsText(mime)) return decodeText(bytes)
  try {
    return new TextDecoder(markedEncoding(bytes), { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ByrefError(
      'asset_unsupported',
      `The asset is ${mime} and not text in UTF-8 or UTF-16.`,
      { cause },
    )
  }
}

function checkExpiresIn(seconds: number | undefined): void {
  if (seconds === undefined || (Number.isInteger(seconds) && seconds > 0 && seconds <= MAX_URL_S)) {
    return
  }
  throw new ByrefError(
    'bad_request',
    `expiresIn is ${seconds}: use whole seconds from 1 to ${MAX_URL_S} (7 days).`,
  )
}

function tooLong({ assetId, size }: AssetRecord): ByrefError {
  return new ByrefError(
    'asset_too_large',
    `Asset ${JSON.stringify(assetId)} has ${size} bytes, too many for one string; read it with open().`,
  )
}

/** Maximum difference between the clocks of hosts, in milliseconds. */
const CLOCK_MS = 60_000

/** Returns the versions of an asset, oldest first. */
async function versionsAt(core: AssetsCore, place: AssetPlace): Promise<AssetInfo[]> {
  const { store, locator } = core
  const { namespace } = place
  const firstId = firstVersionOf(await recordAt(core, place))
  const first = await store.info(firstId, { namespace })
  // Without the first version, its time is unknown.
  const oldest = first ? Date.parse(first.createdAt) - CLOCK_MS : -Infinity
  const versions: AssetInfo[] = []
  for await (const record of recordsOf(store, namespace)) {
    if (Date.parse(record.createdAt) < oldest) break
    if (firstVersionOf(record) === firstId) versions.push(infoOf(record, locator))
  }
  return versions.reverse()
}

/** The default path of a reference. */
const CONTENT: readonly FieldKey[] = ['content']

/**
 * Returns the record of the asset that a reference names.
 *
 * @throws ByrefError `asset_not_found`
 */
async function recordAt({ store }: AssetsCore, place: AssetPlace): Promise<AssetRecord> {
  const record = await store.info(place.assetId, { namespace: place.namespace })
  if (!record) throw assetNotFound(place.assetId)
  return record
}

/**
 * Returns the value at a path in an asset; without a path, the content. Reads only the bytes along the path, also if
 * the path does not exist.
 *
 * @throws ByrefError `field_not_found`, and what {@link readField} throws
 */
async function valueAt(
  { store, cache, locator, config }: AssetsCore,
  record: AssetRecord,
  fieldPath: readonly FieldKey[] = CONTENT,
): Promise<unknown> {
  const nameOf = (path: readonly FieldKey[]): string =>
    locator.refOf(record.assetId, record.namespace, [...path])
  if (fieldPath[0] !== 'content') {
    return resolveFieldPath(assetOf(record, null), fieldPath, { format: nameOf })
  }
  const access = { store, cache, limits: config.limits }
  const found = await readField(record, fieldPath.slice(1), access)
  if (found.isFound) return found.value
  const prefix = fieldPath.slice(0, found.depth + 1)
  const key = fieldPath[found.depth + 1] as FieldKey
  const message =
    found.container instanceof Uint8Array
      ? `${nameOf([])} is a file (${record.mime}) and has no field ${JSON.stringify(key)}. Pass the reference to the file itself.`
      : explainMissing(nameOf(prefix), found.container, key)
  throw new FieldPathError(message, fieldPath, prefix)
}

/** Returns the value at a path as a body. */
async function valueBody(
  core: AssetsCore,
  record: AssetRecord,
  fieldPath: readonly FieldKey[] = CONTENT,
): Promise<FileValue> {
  const refOf = (path: readonly FieldKey[]): string =>
    core.locator.refOf(record.assetId, record.namespace, [...fieldPath, ...path])
  return valueAsFile(await valueAt(core, record, fieldPath), { refOf })
}

/** Returns the meta of a file, which stores none, with its keys in the usual order. */
function assetOf(record: AssetRecord, content: string | null): AssetMeta {
  const { assetId: asset_id, name, mime, attributes } = record
  const { asset_type, description, content_type = mime } = attributes
  const asset_name = name ?? undefined
  return defined({ asset_type, asset_id, asset_name, description, content_type, content })
}
