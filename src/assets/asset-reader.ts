import { ByrefError } from '../core/errors.ts'
import type { AssetMeta } from '../core/messages/asset.ts'
import {
  explainMissing,
  type FieldKey,
  FieldPathError,
  resolveFieldPath,
} from '../core/refs/field-path.ts'
import { readContent } from './asset-content.ts'
import type { AssetPlace, AssetRefInput, NamespaceOption } from './asset-locator.ts'
import { assetNotFound } from './asset-record.ts'
import type { AssetRecord, StoreOpened } from './asset-store.ts'
import type { AssetScope, Assets, OpenOptions } from './assets-contract.ts'
import { type AssetsCore, infoOf } from './assets-core.ts'
import { byteRange, plain, readBytes, streamOf } from './bodies/body.ts'
import { base64Of, dataUrlOf, fitsText } from './bodies/data-url.ts'
import { markedEncoding } from './bodies/text-encoding.ts'
import { documentForm } from './documents/document-form.ts'
import { tableFacts } from './tables/table-facts.ts'
import { valueAsFile } from './value-as-file.ts'

/** The half of {@link Assets} that reads. */
export type AssetReader = Pick<
  Assets,
  | 'get'
  | 'getBase64'
  | 'getDataUrl'
  | 'open'
  | 'info'
  | 'urlFor'
  | 'list'
  | 'delete'
  | 'resolve'
  | 'text'
  | 'rows'
  | 'meta'
>

/** Signed URLs of S3 live no longer: 7 days, in seconds. */
const MAX_URL_S = 7 * 24 * 3600

/** Reads in one scope. */
export function createAssetReader(core: AssetsCore, scope: AssetScope): AssetReader {
  const { store, locator } = core

  function locate(ref: AssetRefInput, options?: NamespaceOption): AssetPlace {
    return locator.locate(ref, options, scope.namespace)
  }

  /** The record, and the body as it is stored: none for a field, and for content whose stored form only byref reads. */
  async function openStored(
    place: AssetPlace,
    range: OpenOptions = {},
  ): Promise<{ record: AssetRecord; stored: StoreOpened | null }> {
    if (!isWhole(place)) return { record: await recordAt(core, place), stored: null }
    const { start, end, signal } = range
    const { assetId, namespace } = place
    const opened = await store.open(assetId, { namespace, start, end, signal })
    if (!opened) throw assetNotFound(assetId)
    const { record } = opened
    if (!record.attributes.marked) return { record, stored: opened }
    await opened.stream.cancel()
    return { record, stored: null }
  }

  async function openWhole({ assetId, namespace }: AssetPlace): Promise<StoreOpened> {
    const opened = await store.open(assetId, { namespace })
    if (!opened) throw assetNotFound(assetId)
    return opened
  }

  async function read(ref: AssetRefInput, options?: NamespaceOption, { asText = false } = {}) {
    const place = locate(ref, options)
    const { record, stored } = await openStored(place)
    if (!stored) return valueBody(core, record, place.fieldPath)
    const { stream } = stored
    if (asText && !fitsText(record.size)) {
      await stream.cancel()
      throw tooLong(record)
    }
    return { bytes: plain(await readBytes(stream)), mime: record.mime }
  }

  return {
    get: (ref, options) => read(ref, options),

    async open(ref, options = {}) {
      const place = locate(ref, options)
      const { record, stored } = await openStored(place, options)
      const info = infoOf(record, locator)
      if (!stored) {
        const { bytes, mime } = await valueBody(core, record, place.fieldPath)
        return { info, mime, ...openBytes(bytes, options.start, options.end) }
      }
      const { start, end, stream } = stored
      return { info, mime: record.mime, size: record.size, start, end, stream }
    },

    async getBase64(ref, options) {
      const { bytes, mime } = await read(ref, options, { asText: true })
      return { base64: base64Of(bytes), mime }
    },

    async getDataUrl(ref, options) {
      const { bytes, mime } = await read(ref, options, { asText: true })
      return dataUrlOf(bytes, mime)
    },

    async info(ref, options) {
      return infoOf(await recordAt(core, locate(ref, options)), locator)
    },

    async urlFor(ref, options = {}) {
      const { inline, expiresIn } = options
      checkExpiresIn(expiresIn)
      const place = locate(ref, options)
      const record = await recordAt(core, place)
      if (!isWhole(place) || record.attributes.marked) {
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
      if (fieldPath) {
        if (!(await store.info(assetId, { namespace }))) return false
        throw new ByrefError('asset_invalid', 'Assets never change: a field cannot be deleted.')
      }
      return store.delete(assetId, { namespace })
    },

    async resolve(ref, options) {
      const place = locate(ref, options)
      return valueAt(core, await recordAt(core, place), place.fieldPath)
    },

    async text(ref, options) {
      const place = locate(ref, options)
      const record = await recordAt(core, place)
      const whole = isWhole(place) && !record.attributes.marked
      const known = whole ? documentForm(record.mime) : null
      const { bytes, mime } = known ? { bytes: null, mime: record.mime } : await read(ref, options)
      const form = known ?? documentForm(mime)
      if (!form) return { text: textOf(bytes ?? new Uint8Array(), mime), pages: [1] }
      const { documentText } = await import('./documents/document-text.ts')
      const { assetId, namespace, digest, name } = record
      const id = [namespace, assetId, digest, 'text', ...(whole ? [] : (place.fieldPath ?? []))]
      const open = async () => (bytes ? streamOf(bytes) : (await openWhole(place)).stream)
      const key = store.readsOnce ? null : JSON.stringify(id)
      const source = { form, name: name ?? assetId, key, open }
      return documentText(source, { cache: core.cache, limits: core.config.limits })
    },

    async rows(ref, options = {}) {
      const place = locate(ref, options)
      const record = await recordAt(core, place)
      const { listRows, noRows } = await import('./tables/table-rows.ts')
      const table = tableFacts(record)
      if (table && isRows(place.fieldPath)) {
        const { tableRows } = await import('./tables/table-content.ts')
        return tableRows(record, table, { ...core, signal: options.signal })
      }
      const name = locator.refOf(record.assetId, record.namespace, place.fieldPath)
      const value = await valueAt(core, record, place.fieldPath)
      if (!Array.isArray(value)) throw noRows(name)
      return listRows(value, name)
    },

    async meta(ref, options) {
      const record = await recordAt(core, locate(ref, options))
      const meta = record.attributes.meta as AssetMeta | undefined
      return meta ? { ...meta, asset_id: record.assetId } : fileMeta(record)
    },
  }
}

/** @throws ByrefError `asset_unsupported` for bytes that are not text */
function textOf(bytes: Uint8Array, mime: string): string {
  try {
    return new TextDecoder(markedEncoding(bytes), { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ByrefError('asset_unsupported', `The asset is ${mime} and not text.`, { cause })
  }
}

/** Whether a path below a table stands for all of its rows. */
function isRows(path: readonly FieldKey[] | undefined): boolean {
  return !path || path.join('/') === 'content' || path.join('/') === 'content/rows'
}

function checkExpiresIn(seconds: number | undefined): void {
  if (seconds === undefined || (Number.isInteger(seconds) && seconds > 0 && seconds <= MAX_URL_S)) {
    return
  }
  throw new ByrefError(
    'bad_request',
    `expiresIn is ${seconds}; give whole seconds, from 1 to ${MAX_URL_S} (7 days).`,
  )
}

function tooLong({ assetId, size }: AssetRecord): ByrefError {
  return new ByrefError(
    'asset_too_large',
    `Asset ${JSON.stringify(assetId)} has ${size} bytes, too many for one text; read it by open().`,
  )
}

function openBytes(bytes: Uint8Array, start?: number, end?: number) {
  const range = byteRange(bytes.byteLength, start, end)
  const stream = streamOf(bytes.subarray(range.start, range.end))
  return { size: bytes.byteLength, ...range, stream }
}

/** What is read where a reference names the asset itself (spec R3). */
const CONTENT: readonly FieldKey[] = ['content']

/**
 * The record of the asset that a reference leads to.
 *
 * @throws ByrefError `asset_not_found`
 */
async function recordAt({ store }: AssetsCore, place: AssetPlace): Promise<AssetRecord> {
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
  const content = await readContent(record, { store, cache, limits: config.limits })
  const found = await content.at(fieldPath.slice(1))
  if (found.isFound) return found.value
  const prefix = fieldPath.slice(0, found.depth + 1)
  const key = fieldPath[found.depth + 1] as FieldKey
  const message = explainMissing(nameOf(prefix), found.container, key)
  throw new FieldPathError(message, fieldPath, prefix)
}

/** Whether a reference names the whole body, and no field in it. */
function isWhole({ fieldPath }: AssetPlace): boolean {
  return !fieldPath || (fieldPath.length === 1 && fieldPath[0] === 'content')
}

/** A value as a body: a field's, or the whole content's, where only byref can read its stored form. */
async function valueBody(
  core: AssetsCore,
  record: AssetRecord,
  fieldPath: readonly FieldKey[] = CONTENT,
): Promise<{ bytes: Uint8Array; mime: string }> {
  const refOf = (path: readonly FieldKey[]): string =>
    core.locator.refOf(record.assetId, record.namespace, [...fieldPath, ...path])
  return valueAsFile(await valueAt(core, record, fieldPath), { refOf })
}

/** The meta of a file, which has none of its own. */
function fileMeta(record: AssetRecord): AssetMeta {
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
