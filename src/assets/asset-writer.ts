import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { type AssetMeta, assetMeta } from '../core/messages/asset-meta.ts'
import { OFFLOADED_TYPE } from '../core/messages/offloaded.ts'
import { createdPayload, type KeptBody } from './asset-events.ts'
import { checkAssetId } from './asset-locator.ts'
import type {
  AssetAttributes,
  AssetBody,
  AssetInfo,
  AssetMaker,
  AssetRecord,
  StorePart,
  StoreSaveOptions,
} from './asset-store.ts'
import type {
  AssetFailure,
  AssetScope,
  SaveAssetOptions,
  SaveOptions,
  StructuredAssetInput,
} from './assets-contract.ts'
import { type AssetsCore, infoOf } from './assets-core.ts'
import { cancelBody, meterStream, peek } from './bodies/body.ts'
import { type BodyInput, takeBody } from './bodies/body-input.ts'
import { normalizeMimeType, parseMimeType } from './bodies/mime-type.ts'
import { SNIFF_BYTES, sniff } from './bodies/sniff.ts'
import { encodeContent } from './content-encoding.ts'
import { namedAssets } from './named-assets.ts'
import { quotaExceeded } from './records/record-index.ts'

/** Options of a save that may be a new version of an asset. */
export interface VersionOptions extends SaveAssetOptions {
  /** The id of the previous version. */
  previous?: string
  /** The id of the first version. */
  firstVersion?: string
}

/** A structured asset in its stored form. */
export interface EncodedAsset {
  /** Default: chosen by the store. The `asset_id` of the meta is ignored. */
  assetId?: string
  name: string | null
  /** The type of the body. Default: JSON, as `encodeContent` makes it. */
  mime?: string
  body: AssetBody
  attributes: AssetAttributes
  parts?: StorePart[]
  objects?: unknown[]
  /** The paths of the objects. */
  objectPaths?: string[]
}

const OPTIONS_ARE_THIRD =
  'The second argument of assets.save is a MIME type or null, and options are the third: assets.save(body, null, { name })'

/** Saves assets in one scope, and reports them to `onEvent`. */
export class AssetWriter {
  readonly #core: AssetsCore
  readonly #scope: AssetScope

  constructor(core: AssetsCore, scope: AssetScope) {
    this.#core = core
    this.#scope = scope
  }

  async save(
    input: BodyInput,
    mime?: string | null,
    options: SaveOptions = {},
  ): Promise<AssetInfo> {
    if (typeof mime === 'object' && mime !== null) {
      cancelBody(input, null)
      throw new ByrefError('config_invalid', OPTIONS_ARE_THIRD)
    }
    return this.saveFile(input, { ...options, claim: mime })
  }

  async saveAsset(asset: StructuredAssetInput, options: VersionOptions = {}): Promise<AssetInfo> {
    checkContentType(asset)
    const file = fileOf(asset)
    if (file) {
      const { asset_id = '', asset_name: name, asset_type: assetType, description } = asset
      const isText = typeof asset.content === 'string'
      const meta = assetMeta({ ...asset, asset_id, ...(isText && { content: STRING }) })
      const about = { name, assetType, description, meta, assetId: asset.asset_id }
      return this.saveFile(file.input, { ...options, ...file, ...about })
    }
    const { store, config } = this.#core
    const { content, asset_id: assetId } = asset
    const isEncoded = content instanceof PreparedContent
    const encoded = isEncoded ? content.asset : await encodeAsset(asset, config.limits.depth)
    if (!store.keepsObjects) checkNoObjects(encoded, store.backend)
    return this.saveEncoded({ ...encoded, assetId }, options)
  }

  /** Saves JSON, or a stream of it, with a known id and meta. */
  async saveEncoded(asset: EncodedAsset, options: VersionOptions): Promise<AssetInfo> {
    const { assetId, name, body, parts, objects } = asset
    const attributes = { ...asset.attributes, structured: true }
    const type = attributes.content_type ?? 'application/json'
    const jsonType = /^application\/(.+\+)?json$/.test(type) ? type : 'application/json'
    const size = body instanceof Uint8Array ? body.byteLength : 0
    const typeOf = () => asset.mime ?? jsonType
    const about = { assetId, name, parts, objects, attributes }
    return this.#saveBody({ body, size, typeOf }, about, options)
  }

  async reportError({ code, message, mime, ...options }: AssetFailure): Promise<void> {
    const { by = 'system', ...maker } = this.#makerOf(options)
    const payload = defined({ code, message, mime, by, ...maker })
    await this.#scope.onEvent?.({ type: 'ASSET_ERROR', payload })
  }

  /** Saves a file. Its type is a known one, or comes from its bytes. */
  async saveFile(
    input: BodyInput,
    { type, claim, meta, ...options }: SaveOptions & FileAbout & VersionOptions,
  ): Promise<AssetInfo> {
    const { mime, name: ownName, ...taken } = takeBody(input, options.owned)
    const { assetId, description, assetType: asset_type } = options
    const name = options.name ?? ownName
    const claimed = claim ?? (mime !== null && parseMimeType(mime) ? mime : null)
    const typeOf = (head: Uint8Array, complete: boolean) =>
      type ?? sniff(head, { claim: claimed, name, complete })
    const attributes = defined({ description, asset_type, meta })
    return this.#saveBody({ ...taken, typeOf }, { assetId, name, attributes }, options)
  }

  /** Stores a body with its record and reports it. A failed save ends the body's stream. */
  async #saveBody(
    body: Omit<NewBody, 'kept'>,
    about: StoreSaveOptions,
    options: VersionOptions,
  ): Promise<AssetInfo> {
    const { eventBodies, locator } = this.#core
    const { onEvent } = this.#scope
    const maker = this.#makerOf(options)
    const stored = this.#optionsFor(body.body, about, options)
    const kept = onEvent ? eventBodies.keep() : null
    const info = infoOf(await storeBody(this.#core, { ...body, kept }, stored), locator)
    if (!kept) return info
    try {
      const meta = about.attributes?.meta as AssetMeta | undefined
      const payload = eventBodies.withBody(createdPayload(info, maker, meta), kept)
      await onEvent?.({ type: 'ASSET_CREATED', payload })
    } finally {
      kept.isDelivered = true
    }
    return info
  }

  #makerOf(options: AssetMaker): AssetMaker {
    const { by = 'system', tool, toolCallId, origin } = { ...this.#scope, ...defined(options) }
    return defined({ by, tool, toolCallId, origin })
  }

  /** Returns the options with which the store saves a body. If they are invalid, the body's stream ends. */
  #optionsFor(body: AssetBody, about: StoreSaveOptions, options: VersionOptions): StoreSaveOptions {
    const { previous, firstVersion, signal } = options
    try {
      const namespace = this.#core.locator.namespaceFor(options, this.#scope.namespace)
      if (about.assetId !== undefined) checkAssetId(about.assetId)
      const version = defined({ previous, firstVersion, label: this.#scope.label?.() })
      const attributes = { ...withShortMeta(about), ...this.#makerOf(options), ...version }
      return { ...about, namespace, expiresAt: timeOf(options.expiresAt), signal, attributes }
    } catch (error) {
      cancelBody(body, error)
      throw error
    }
  }
}

/** Returns the attributes of an asset. Their meta leaves out fields that are in the attributes or the record. */
function withShortMeta({ name, attributes = {} }: StoreSaveOptions): AssetAttributes {
  const { meta, ...rest } = attributes
  if (!isPlainObject(meta)) return attributes
  const { asset_id: _, ...fields } = meta
  const known: Record<string, unknown> = { ...rest, asset_name: name }
  const own = Object.entries(fields).filter(([key, value]) => value !== known[key])
  return { ...rest, meta: Object.fromEntries(own) }
}

/** Replaces the content of a text file in its meta, because events do not contain bodies. */
const STRING = "<class 'str'>"

/** The description of a file before it is saved. */
interface FileAbout {
  /** Its type. Absent if the type comes from the bytes. */
  type?: string
  claim?: string | null
  /** The meta that a model sees. */
  meta?: AssetMeta
}

function checkContentType({ content_type }: StructuredAssetInput): void {
  if (typeof content_type === 'string' && /^[^\r\n]+$/.test(content_type)) return
  const problem = content_type ? 'a content_type with line breaks' : 'no content_type'
  throw new ByrefError(
    'asset_invalid',
    `The asset has ${problem}: give a MIME type, "data", "command" or a type string such as "<class 'dict'>".`,
  )
}

/** Returns content that is itself a file: bytes, a Blob, or text with a text type, which keeps its type. */
function fileOf({ content, content_type }: StructuredAssetInput): {
  input: BodyInput
  type?: string
  claim?: string
  owned?: boolean
} | null {
  if (parseMimeType(content_type) === null) return null
  const isBytes = content instanceof Uint8Array || content instanceof ArrayBuffer
  if (isBytes || content instanceof Blob) return { input: content, claim: content_type }
  if (typeof content !== 'string' || !/^text\//i.test(content_type)) return null
  return { input: Buffer.from(content), type: normalizeMimeType(content_type), owned: true }
}

/** The content of an asset that was encoded before the save. Later changes have no effect. */
export class PreparedContent {
  readonly asset: EncodedAsset

  constructor(asset: EncodedAsset) {
    this.asset = asset
  }
}

/** Encodes an asset as it is at the time of the call. */
export async function encodeAsset(
  asset: StructuredAssetInput,
  depth: number,
): Promise<EncodedAsset & { body: Uint8Array }> {
  const { asset_id, asset_name, asset_type, description, content_type, content } = asset
  // The message has a preview of a large result, so the record does not need one.
  const short = asset_type === OFFLOADED_TYPE ? { items: 1, text: 40 } : {}
  const meta = assetMeta({ ...asset, asset_id: asset_id ?? '' }, short)
  const { json, marked, parts, objects, objectPaths } = await encodeContent(content, { depth })
  const mayName = objects.length > 0 || /asset_id|asset:/i.test(json)
  const references = mayName ? [...namedAssets(content, { bareIds: false })] : []
  const attributes = defined({
    asset_type,
    description,
    content_type,
    meta,
    marked: marked || undefined,
    references: references.length > 0 ? references : undefined,
  })
  const body = Buffer.from(json)
  const name = asset_name ?? null
  return { name, body, attributes, parts, objects, objectPaths }
}

function checkNoObjects({ objectPaths = [] }: EncodedAsset, backend: string): void {
  if (objectPaths.length === 0) return
  throw new ByrefError(
    'asset_unsupported',
    `The ${backend} store cannot keep the live object at ${objectPaths[0] || '/'}; save its data or bytes instead, or use the memory store.`,
  )
}

function timeOf(time: Date | string | null | undefined): string | null {
  if (time === null || time === undefined) return null
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) {
    throw new ByrefError('asset_invalid', `expiresAt ${JSON.stringify(time)} is not a valid time.`)
  }
  return date.toISOString()
}

/** A body to store. */
interface NewBody {
  /** Bytes that nobody else writes to, or a stream. */
  body: AssetBody
  /** Its minimum size in bytes. 0 if the size is known only after reading. */
  size: number
  /** Returns the body's MIME type, from its first bytes. */
  typeOf(head: Uint8Array, complete: boolean): string | Promise<string>
  /** The copy for its event. Null if nobody listens. */
  kept: KeptBody | null
}

/**
 * Saves a body of at most `limits.bodyBytes` bytes, with its parts, if the namespace has room for it. A failed save
 * ends the body's stream.
 *
 * @throws ByrefError `asset_too_large`, `quota_exceeded`, and what the store throws
 */
async function storeBody(
  { store, quota, config, eventBodies }: AssetsCore,
  { body, size, typeOf, kept }: NewBody,
  options: StoreSaveOptions,
): Promise<AssetRecord> {
  const { parts = [], namespace = null, signal } = options
  const { bodyBytes } = config.limits
  let inParts = 0
  let streamed = 0
  /** The free space of the namespace at the last check, in bytes. The store makes the final decision. */
  let left = -1
  let cancel = (reason: unknown): void => cancelBody(body, reason)

  /** Ends a stream as soon as the namespace has no room for it. */
  async function checkRoom(bytes: number): Promise<void> {
    if (!quota || bytes <= left) return
    const held = await store.usage({ namespace })
    left = held.assets < quota.assets ? quota.bytes - held.bytes : -1
    if (bytes > left) throw quotaExceeded(quota)
  }

  async function onChunk(chunk: Uint8Array): Promise<void> {
    streamed += chunk.byteLength
    checkSize(streamed, bodyBytes)
    await checkRoom(streamed + inParts)
    if (kept) eventBodies.add(kept, chunk)
  }

  try {
    signal?.throwIfAborted()
    for (const { bytes } of parts) {
      checkSize(bytes.byteLength, bodyBytes)
      inParts += bytes.byteLength
    }
    checkSize(size, bodyBytes)
    let watched = body
    if (!(body instanceof Uint8Array)) {
      await checkRoom(size + inParts)
      const metered = meterStream(body, { onChunk, signal })
      watched = metered.stream
      cancel = metered.cancel
    } else if (kept) eventBodies.add(kept, body, true)
    const { head, complete, body: whole } = await peek(watched, SNIFF_BYTES)
    const mime = await typeOf(head, complete)
    const { info } = await store.save(whole, mime, { ...options, owned: true, quota })
    return info
  } catch (error) {
    if (kept) eventBodies.drop(kept)
    cancel(error)
    throw error
  }
}

function checkSize(size: number, limit: number): void {
  if (size <= limit) return
  throw new ByrefError(
    'asset_too_large',
    `The body has more than ${limit} bytes, the limit for one asset (limits.bodyBytes).`,
  )
}
