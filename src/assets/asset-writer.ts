import { ByrefError } from '../core/errors.ts'
import type { AssetCreated } from '../core/events/events.ts'
import type { AssetMeta } from '../core/messages/asset.ts'
import { assetMeta } from '../core/messages/asset-meta.ts'
import { createdPayload, type KeptBody } from './asset-events.ts'
import type { AssetInfo, AssetMaker } from './asset-info.ts'
import { checkAssetId } from './asset-locator.ts'
import type { AssetAttributes, AssetBody, StorePart, StoreSaveOptions } from './asset-store.ts'
import type {
  AssetScope,
  Assets,
  SaveAssetOptions,
  SaveOptions,
  StructuredAssetInput,
} from './assets-contract.ts'
import { type AssetsCore, infoOf } from './assets-core.ts'
import { cancelBody } from './bodies/body.ts'
import { type BodyInput, takeBody } from './bodies/body-input.ts'
import { normalizeMimeType, parseMimeType } from './bodies/mime-type.ts'
import { sniff } from './bodies/sniff.ts'
import { type EncodedContent, encodeContent } from './content-encoding.ts'
import { defined } from './defined.ts'
import { namedAssets } from './named-assets.ts'
import { type NewBody, storeBody } from './store-body.ts'

/** The half of {@link Assets} that saves. */
export interface AssetWriter extends Pick<Assets, 'save' | 'saveAsset' | 'reportError'> {
  /** Saves JSON that is made as it is read, under an id and with a meta that are known before. */
  saveEncoded(asset: EncodedAsset, options: SaveAssetOptions): Promise<AssetInfo>
}

/** A structured asset, taken apart. */
export interface EncodedAsset {
  /** Absent, the store chooses; the meta's own `asset_id` does not matter. */
  assetId?: string
  name: string | null
  /** What the body is. Default: JSON, as `encodeContent` makes it. */
  mime?: string
  body: AssetBody
  attributes: AssetAttributes
  parts?: StorePart[]
  objects?: unknown[]
}

/** Saves in one scope, and tells `onEvent`. */
export function createAssetWriter(core: AssetsCore, scope: AssetScope): AssetWriter {
  const { store, locator, config, payloads } = core

  function makerOf(options: AssetMaker): AssetMaker {
    const { by = 'system', tool, toolCallId, origin } = { ...scope, ...defined(options) }
    return defined({ by, tool, toolCallId, origin })
  }

  /** Stores a body with its record, and tells of it. */
  async function saveBody(
    body: Omit<NewBody, 'kept'>,
    about: StoreSaveOptions,
    options: SaveAssetOptions,
  ): Promise<AssetInfo> {
    const { signal } = options
    const maker = makerOf(options)
    const expiresAt = timeOf(options.expiresAt)
    const label = scope.label?.()
    const attributes = { ...about.attributes, ...maker, ...(label ? { label } : {}) }
    const kept = scope.onEvent ? payloads.keep() : null
    const stored = { ...about, expiresAt, signal, attributes }
    const info = infoOf(await storeBody(core, { ...body, kept }, stored), locator)
    if (kept)
      await tellOf(
        createdPayload(info, maker, about.attributes?.meta as AssetMeta | undefined),
        kept,
      )
    return info
  }

  async function tellOf(created: AssetCreated, kept: KeptBody): Promise<void> {
    try {
      const payload = payloads.withBody(created, kept)
      await scope.onEvent?.({ type: 'ASSET_CREATED', payload })
    } finally {
      kept.isSettled = true
    }
  }

  function idAndNamespace(
    options: SaveAssetOptions,
    assetId?: string,
  ): Pick<StoreSaveOptions, 'assetId' | 'namespace'> {
    const namespace = locator.namespaceFor(options, scope.namespace)
    return { namespace, assetId: assetId === undefined ? undefined : checkAssetId(assetId) }
  }

  /** Saves a file. */
  async function saveFile(
    input: BodyInput,
    { type, claim, meta, ...options }: SaveOptions & FileAbout,
  ): Promise<AssetInfo> {
    const { mime, name: ownName, ...taken } = takeBody(input, options.owned)
    try {
      const name = options.name ?? ownName
      const claimed = claim ?? (mime !== null && parseMimeType(mime) ? mime : null)
      const where = idAndNamespace(options, options.assetId)
      const { description, assetType: asset_type } = options
      const typeOf = (head: Uint8Array, complete: boolean) =>
        type ?? sniff(head, { claim: claimed, name, complete })
      const attributes = defined({ description, asset_type, meta })
      return await saveBody({ ...taken, typeOf }, { ...where, name, attributes }, options)
    } catch (error) {
      cancelBody(taken.body, error)
      throw error
    }
  }

  async function saveEncoded(asset: EncodedAsset, options: SaveAssetOptions): Promise<AssetInfo> {
    const { assetId, name, body, attributes, parts, objects } = asset
    const type = attributes.content_type ?? 'application/json'
    const jsonType = /^application\/(.+\+)?json$/.test(type) ? type : 'application/json'
    const mime = asset.mime ?? jsonType
    const size = body instanceof Uint8Array ? body.byteLength : 0
    try {
      const where = idAndNamespace(options, assetId)
      const about = {
        ...where,
        name,
        parts,
        objects,
        attributes: { ...attributes, structured: true },
      }
      return await saveBody({ body, size, typeOf: () => mime }, about, options)
    } catch (error) {
      cancelBody(body, error)
      throw error
    }
  }

  return {
    save: async (input, mime, options = {}) => saveFile(input, { ...options, claim: mime }),

    async saveAsset(asset, options = {}) {
      checkContentType(asset)
      const file = fileOf(asset)
      if (file) {
        const { asset_id = '', asset_name: name, asset_type: assetType, description } = asset
        const isText = typeof asset.content === 'string'
        const meta = assetMeta({ ...asset, asset_id, ...(isText && { content: STRING }) })
        const about = { name, assetType, description, meta, assetId: asset.asset_id }
        return saveFile(file.input, { ...options, ...file, ...about })
      }
      const encoded = await encodeAsset(asset, config.limits.depth)
      if (!store.keepsObjects) refuseObjects(encoded, store.backend)
      return saveEncoded(encoded, options)
    },

    saveEncoded,

    async reportError({ code, message, mime, ...options }) {
      const { by = 'system', ...maker } = makerOf(options)
      const payload = defined({ code, message, mime, by, ...maker })
      await scope.onEvent?.({ type: 'ASSET_ERROR', payload })
    },
  }
}

/** In a meta what stands for the content of a text file: its body is in no event. */
const STRING = "<class 'str'>"

/** What is known of a file before it is saved. */
interface FileAbout {
  /** What it is; absent where its bytes say so. */
  type?: string
  claim?: string | null
  /** What a model is told of it. */
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

/** Content that is a file by itself: bytes, a Blob, or text of a text type, which stays what it is called. */
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

/** The asset as it is at the call, taken apart. */
async function encodeAsset(
  asset: StructuredAssetInput,
  depth: number,
): Promise<EncodedAsset & Pick<EncodedContent, 'objectPaths'>> {
  const { asset_id, asset_name, asset_type, description, content_type, content } = asset
  const meta = assetMeta({ ...asset, asset_id: asset_id ?? '' })
  const references = [...namedAssets(content, { bareIds: false })]
  const { json, marked, parts, objects, objectPaths } = await encodeContent(content, { depth })
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
  return { assetId: asset_id, name, body, attributes, parts, objects, objectPaths }
}

function refuseObjects({ objectPaths }: { objectPaths: string[] }, backend: string): void {
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
    throw new ByrefError('asset_invalid', `expiresAt ${JSON.stringify(time)} is no time.`)
  }
  return date.toISOString()
}
