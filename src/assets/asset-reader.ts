import type { AssetMeta } from '../content/asset.ts'
import { ByrefError } from '../errors.ts'
import {
  explainMissing,
  type FieldKey,
  FieldPathError,
  resolveFieldPath,
} from '../refs/field-path.ts'
import { readContent } from './asset-content.ts'
import type { AssetPlace, AssetRefInput, NamespaceOption } from './asset-locator.ts'
import { assetNotFound } from './asset-record.ts'
import type { AssetRecord } from './asset-store.ts'
import type { AssetScope, Assets, OpenedAsset, OpenOptions } from './assets.ts'
import { type AssetsCore, infoOf } from './assets-core.ts'
import { plain, streamOf } from './bodies/body.ts'
import { byteRange } from './bodies/byte-range.ts'
import { base64Of, dataUrlOf } from './bodies/data-url.ts'
import { valueAsBody } from './value-body.ts'

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
  | 'meta'
>

/** Reads in one scope. */
export function createAssetReader(core: AssetsCore, scope: AssetScope): AssetReader {
  const { store, locator, cache } = core

  function locate(ref: AssetRefInput, options?: NamespaceOption): AssetPlace {
    return locator.locate(ref, options, scope.namespace)
  }

  async function recordAt(place: AssetPlace): Promise<AssetRecord> {
    const record = await store.info(place.assetId, { namespace: place.namespace })
    if (!record) throw assetNotFound(place.assetId)
    return record
  }

  async function valueAt({ fieldPath = ['content'], ...place }: AssetPlace): Promise<unknown> {
    const record = await recordAt(place)
    const nameOf = (path: readonly FieldKey[]): string =>
      locator.refOf(record.assetId, record.namespace, [...path])
    if (fieldPath[0] !== 'content') {
      return resolveFieldPath(assetOf(record, null), fieldPath, { format: nameOf })
    }
    const content = await readContent(record, { store, cache, limits: core.config.limits })
    const found = await content.at(fieldPath.slice(1))
    if (found.isFound) return found.value
    const prefix = fieldPath.slice(0, found.depth + 1)
    const key = fieldPath[found.depth + 1] as FieldKey
    const message = explainMissing(nameOf(prefix), found.container, key)
    throw new FieldPathError(message, fieldPath, prefix)
  }

  /** A field's value as a body; null where the reference names the whole body. */
  async function fieldBody(place: AssetPlace): Promise<{ bytes: Uint8Array; mime: string } | null> {
    const { assetId, namespace, fieldPath } = place
    if (!fieldPath || (fieldPath.length === 1 && fieldPath[0] === 'content')) return null
    const nameOf = (path: readonly FieldKey[]): string =>
      locator.refOf(assetId, namespace, [...fieldPath, ...path])
    return valueAsBody(await valueAt(place), { nameOf })
  }

  async function get(ref: AssetRefInput, options?: NamespaceOption) {
    const place = locate(ref, options)
    const found = await fieldBody(place)
    const { bytes, mime } =
      found ?? (await store.get(place.assetId, { namespace: place.namespace }))
    return { bytes: plain(bytes), mime }
  }

  async function open(ref: AssetRefInput, options: OpenOptions = {}): Promise<OpenedAsset> {
    const place = locate(ref, options)
    const body = await fieldBody(place)
    if (body) {
      const size = body.bytes.byteLength
      const range = byteRange(size, options.start, options.end)
      const info = infoOf(await recordAt(place), locator)
      const stream = streamOf(body.bytes.subarray(range.start, range.end))
      return { info, mime: body.mime, size, ...range, stream }
    }
    const { start, end, signal } = options
    const opened = await store.open(place.assetId, {
      namespace: place.namespace,
      start,
      end,
      signal,
    })
    if (!opened) throw assetNotFound(place.assetId)
    return {
      info: infoOf(opened.record, locator),
      mime: opened.record.mime,
      size: opened.record.size,
      start: opened.start,
      end: opened.end,
      stream: opened.stream,
    }
  }

  return {
    get,
    open,

    async getBase64(ref, options) {
      const { bytes, mime } = await get(ref, options)
      return { base64: base64Of(bytes), mime }
    },

    async getDataUrl(ref, options) {
      const { bytes, mime } = await get(ref, options)
      return dataUrlOf(bytes, mime)
    },

    async info(ref, options) {
      return infoOf(await recordAt(locate(ref, options)), locator)
    },

    async urlFor(ref, options = {}) {
      const place = locate(ref, options)
      const body = await fieldBody(place)
      if (body) return dataUrlOf(body.bytes, body.mime)
      const { inline, expiresIn } = options
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
      const deleted = await store.delete(assetId, { namespace })
      if (deleted) core.quota.forget(namespace)
      return deleted
    },

    async resolve(ref, options) {
      return valueAt(locate(ref, options))
    },

    async meta(ref, options) {
      const record = await recordAt(locate(ref, options))
      const meta = record.attributes.meta as AssetMeta | undefined
      return meta ? { ...meta, asset_id: record.assetId } : fileMeta(record)
    },
  }
}

/** The asset as structured-assets.md has it, in its order of keys. */
export function assetOf(record: AssetRecord, content: unknown): Record<string, unknown> {
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

function fileMeta(record: AssetRecord): AssetMeta {
  return assetOf(record, "<class 'Uint8Array'>") as unknown as AssetMeta
}
