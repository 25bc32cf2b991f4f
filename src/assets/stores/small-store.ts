import { ByrefError, errorMessage } from '../../core/errors.ts'
import { isAssetId } from '../../core/refs/asset-id.ts'
import type { AssetAttributes, AssetRecord, AssetStore, StoreSaveOptions } from '../asset-store.ts'
import { decodeBase64 } from '../bodies/data-url.ts'
import { isJsonType } from '../bodies/mime-type.ts'

/** A store of three methods, which may also delete. */
export type SmallStore = AssetStore & { delete?: (assetId: string) => Promise<unknown> }

/** What a small store keeps: files as they are, structured content with its parts in one bundle. */
export interface SmallStoreContent {
  /** Gives back the id that the store chose. */
  save(body: Uint8Array, mime: string, options: StoreSaveOptions): Promise<string>
  load(assetId: string): Promise<Bundle>
  /** The body or a part of a record. */
  part(record: AssetRecord, digest: string): Promise<Uint8Array>
  /** What there is under an id, or null. */
  lookUp(assetId: string): Promise<Bundle | null>
  urlFor(assetId: string, options: { expiresIn?: number }): Promise<string>
  /** @throws ByrefError `asset_unsupported` where the store has no `delete` */
  delete(assetId: string): Promise<void>
}

/** The content of a small store; whatever fails there is a `storage_failed`. */
export function smallStoreContent(store: SmallStore): SmallStoreContent {
  function load(assetId: string): Promise<Bundle> {
    return orFailed('read', async () => {
      const found = await store.get(assetId)
      if (found?.bytes instanceof Uint8Array) return unbundle(found)
      throw new ByrefError('storage_failed', 'The store gave back no "bytes" of the asset.')
    })
  }

  return {
    load,

    async save(body, mime, options) {
      const { structured } = options.attributes ?? {}
      const stored = structured ? bundle(body, mime, options) : body
      const type = structured ? BUNDLE_TYPE : mime
      const saved = await orFailed('save', () => store.save(stored, type))
      const assetId = saved?.assetId
      if (isAssetId(assetId)) return assetId
      throw new ByrefError('storage_failed', 'The store gave back no usable "assetId".')
    },

    async part(record, digest) {
      const { body, parts } = await load(record.assetId)
      const bytes = digest === record.digest ? body : parts.get(digest)
      if (bytes) return bytes
      throw new ByrefError('storage_failed', `The store gave back no part ${digest} of the asset.`)
    },

    async lookUp(assetId) {
      if (store.info) {
        const info = await orFailed('look up', () => store.info?.(assetId))
        return info ? load(assetId) : null
      }
      try {
        const found = await store.get(assetId)
        return found?.bytes ? unbundle(found) : null
      } catch {
        // Without an `info` that says more, this is how such a store says that there is nothing.
        return null
      }
    },

    urlFor: (assetId, options) => orFailed('name a URL of', () => store.urlFor(assetId, options)),

    async delete(assetId) {
      if (store.delete) await orFailed('remove', () => store.delete?.(assetId))
      else {
        throw new ByrefError(
          'asset_unsupported',
          'This store cannot remove assets: it has no method "delete".',
        )
      }
    },
  }
}

/** A store of one's own may answer at once, or throw before there is a promise. */
async function orFailed<T>(doing: string, ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ByrefError) throw error
    throw new ByrefError(
      'storage_failed',
      `The store could not ${doing} the asset: ${errorMessage(error)}`,
      { cause: error },
    )
  }
}

/** The type under which a small store sees structured content. */
const BUNDLE_TYPE = 'application/vnd.byref.asset+json'

/** Structured content with everything that belongs to it. */
export interface Bundle {
  body: Uint8Array
  mime: string
  attributes: AssetAttributes
  parts: Map<string, Uint8Array>
  /** As it was saved; null for a body that does not say it. */
  namespace: string | null
  expiresAt: string | null
}

/** One JSON document of a body, what is said of it, and its parts. */
function bundle(
  body: Uint8Array,
  mime: string,
  options: Pick<StoreSaveOptions, 'attributes' | 'parts' | 'namespace' | 'expiresAt'>,
): Uint8Array {
  const parts = (options.parts ?? []).map(({ digest, bytes }) => [
    digest,
    Buffer.from(bytes).toString('base64'),
  ])
  const document = {
    version: 1,
    mime,
    attributes: options.attributes ?? {},
    namespace: options.namespace ?? null,
    expiresAt: options.expiresAt ?? null,
    parts: Object.fromEntries(parts),
    body: Buffer.from(body).toString(encodingOf(mime)),
  }
  return Buffer.from(JSON.stringify(document))
}

/** What {@link bundle} made; any other body as it is. */
function unbundle(stored: { bytes: Uint8Array; mime: string }): Bundle {
  const { bytes, mime } = stored
  if (mime !== BUNDLE_TYPE) {
    return { body: bytes, mime, attributes: {}, parts: new Map(), namespace: null, expiresAt: null }
  }
  const document = JSON.parse(Buffer.from(bytes).toString('utf8'))
  const parts = Object.entries(document.parts).map(
    ([digest, text]) => [digest, decodeBase64(String(text)) ?? new Uint8Array()] as const,
  )
  return {
    body: Buffer.from(document.body, encodingOf(document.mime)),
    mime: document.mime,
    attributes: document.attributes,
    parts: new Map(parts),
    namespace: document.namespace ?? null,
    expiresAt: document.expiresAt ?? null,
  }
}

/** Tables are no text. */
function encodingOf(mime: string): 'utf8' | 'base64' {
  return isJsonType(mime) ? 'utf8' : 'base64'
}
