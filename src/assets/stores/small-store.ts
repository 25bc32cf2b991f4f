import { ByrefError } from '../../core/errors.ts'
import { isAssetId } from '../../core/refs/asset-ref.ts'
import type { AssetAttributes, AssetRecord, AssetStore, StoreSaveOptions } from '../asset-store.ts'
import { decodeBase64 } from '../bodies/data-url.ts'
import { isJsonType } from '../bodies/mime-type.ts'
import { orFailed } from './with-codes.ts'

/** A store with three methods, and maybe `delete`. */
export type SmallStore = AssetStore & { delete?: (assetId: string) => Promise<unknown> }

/**
 * The content of a small store: unchanged files, and structured content with its parts in one bundle. Errors of the
 * store become `storage_failed`.
 */
export class SmallStoreContent {
  readonly #store: SmallStore

  constructor(store: SmallStore) {
    this.#store = store
  }

  /** Returns the id that the store chose. */
  async save(body: Uint8Array, mime: string, options: StoreSaveOptions): Promise<string> {
    const { structured } = options.attributes ?? {}
    const stored = structured ? bundle(body, mime, options) : body
    const type = structured ? BUNDLE_TYPE : mime
    const saved = await orFailed('save the asset', () => this.#store.save(stored, type))
    const assetId = saved?.assetId
    if (isAssetId(assetId)) return assetId
    throw new ByrefError('storage_failed', 'The store returned no usable "assetId".')
  }

  load(assetId: string): Promise<Bundle> {
    return orFailed('read the asset', async () => {
      const found = await this.#store.get(assetId)
      if (found?.bytes instanceof Uint8Array) return unbundle(found)
      throw new ByrefError('storage_failed', 'The store returned no "bytes" for the asset.')
    })
  }

  /** Returns the body or a part of a record. */
  async part(record: AssetRecord, digest: string): Promise<Uint8Array> {
    const { body, parts } = await this.load(record.assetId)
    const bytes = digest === record.digest ? body : parts.get(digest)
    if (bytes) return bytes
    throw new ByrefError('storage_failed', `The store returned no part ${digest} of the asset.`)
  }

  /** Returns the content under an id, or null. */
  async lookUp(assetId: string): Promise<Bundle | null> {
    const store = this.#store
    if (store.info) {
      const info = await orFailed('look up the asset', () => store.info?.(assetId))
      return info ? this.load(assetId) : null
    }
    try {
      const found = await store.get(assetId)
      return found?.bytes ? unbundle(found) : null
    } catch {
      // Without an `info` that tells more, such a store reports a missing asset like this.
      return null
    }
  }

  urlFor(assetId: string, options: { expiresIn?: number }): Promise<string> {
    return orFailed('make a URL of the asset', () => this.#store.urlFor(assetId, options))
  }

  /** @throws ByrefError `asset_unsupported` if the store has no `delete` */
  async delete(assetId: string): Promise<void> {
    const message = 'This store cannot remove assets: it has no method "delete".'
    if (!this.#store.delete) throw new ByrefError('asset_unsupported', message)
    await orFailed('remove the asset', () => this.#store.delete?.(assetId))
  }
}

/** The MIME type of structured content in a small store. */
const BUNDLE_TYPE = 'application/vnd.byref.asset+json'

/** Structured content with everything that belongs to it. */
export interface Bundle {
  body: Uint8Array
  mime: string
  attributes: AssetAttributes
  parts: Map<string, Uint8Array>
  /** The namespace at the time of the save. Null for a body that does not contain it. */
  namespace: string | null
  expiresAt: string | null
}

/** Returns one JSON document with a body, its description and its parts. */
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

/** Reads a document of {@link bundle}. Any other body is returned unchanged. */
function unbundle(stored: { bytes: Uint8Array; mime: string }): Bundle {
  const { bytes, mime } = stored
  if (mime !== BUNDLE_TYPE) {
    return { body: bytes, mime, attributes: {}, parts: new Map(), namespace: null, expiresAt: null }
  }
  const document = JSON.parse(Buffer.from(bytes).toString('utf8'))
  const { attributes, namespace = null, expiresAt = null } = document
  const parts = Object.entries(document.parts).map(
    ([digest, text]) => [digest, decodeBase64(String(text)) ?? new Uint8Array()] as const,
  )
  const body = Buffer.from(document.body, encodingOf(document.mime))
  return { body, mime: document.mime, attributes, parts: new Map(parts), namespace, expiresAt }
}

/** Tables are not text. */
function encodingOf(mime: string): 'utf8' | 'base64' {
  return isJsonType(mime) ? 'utf8' : 'base64'
}
