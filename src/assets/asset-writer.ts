import { assetMeta } from '../content/asset-meta.ts'
import { ByrefError } from '../errors.ts'
import { createdPayload } from './asset-events.ts'
import { checkAssetId } from './asset-locator.ts'
import type { AssetAttributes, AssetBody, AssetRecord, StorePart } from './asset-store.ts'
import type {
  AssetFailure,
  AssetInfo,
  AssetMaker,
  AssetScope,
  Assets,
  SaveAssetOptions,
  SaveOptions,
  StructuredAssetInput,
} from './assets.ts'
import { type AssetsCore, infoOf } from './assets-core.ts'
import { type BodyInput, limitBody, peek, tapBody, toBody } from './bodies/body.ts'
import { parseMimeType } from './bodies/mime-type.ts'
import { SNIFF_BYTES, sniff } from './bodies/sniff.ts'
import { type EncodedContent, encodeContent } from './content-encoding.ts'
import { defined } from './defined.ts'
import { namedAssets } from './named-assets.ts'
import { exceeded } from './quota.ts'

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
  /** JSON, as `encodeContent` makes it. */
  body: AssetBody
  attributes: AssetAttributes
  parts?: StorePart[]
  objects?: unknown[]
}

/** Saves in one scope, and tells `onEvent`. */
export function createAssetWriter(core: AssetsCore, scope: AssetScope): AssetWriter {
  const { store, locator, config, payloads } = core
  const { limits } = config

  async function announce(
    record: AssetRecord,
    options: AssetMaker,
    bytes: Uint8Array | null,
  ): Promise<AssetInfo> {
    const info = infoOf(record, locator)
    if (!scope.onEvent) return info
    const payload = payloads.withBody(createdPayload(info, makerOf(options)), bytes)
    await scope.onEvent({ type: 'ASSET_CREATED', payload })
    return info
  }

  function makerOf(options: AssetMaker): AssetMaker {
    const { by = 'system', tool, toolCallId, origin } = { ...scope, ...defined(options) }
    return defined({ by, tool, toolCallId, origin })
  }

  async function save(
    input: BodyInput,
    mime?: string | null,
    options: SaveOptions = {},
  ): Promise<AssetInfo> {
    const namespace = locator.namespaceFor(options, scope.namespace)
    const assetId = options.assetId === undefined ? undefined : checkAssetId(options.assetId)
    const claim = mime ?? (input instanceof Blob ? input.type : null)
    const name = options.name ?? (input instanceof File ? input.name : null)
    const { head, complete, body } = await peek(toBody(input), SNIFF_BYTES)
    const type = await sniff(head, { claim, name, complete })
    const about = { namespace, assetId, name, expiresAt: timeOf(options.expiresAt) }
    const attributes = defined({
      description: options.description,
      asset_type: options.assetType,
      ...makerOf(options),
    })
    const { owned, signal } = options
    let bytes: (() => Uint8Array | null) | undefined
    const record = await withinLimits(body, namespace, async (limited) => {
      const tap = scope.onEvent ? tapBody(limited, limits.eventBytes) : null
      bytes = tap?.bytes
      const rest = { ...about, owned, signal, attributes }
      return (await store.save(tap?.body ?? limited, type, rest)).info
    })
    return announce(record, options, bytes?.() ?? null)
  }

  async function saveAsset(
    asset: StructuredAssetInput,
    options: SaveAssetOptions = {},
  ): Promise<AssetInfo> {
    const { asset_id, asset_name, asset_type, description, content_type, content } = asset
    const isType = parseMimeType(content_type) !== null
    const bytes = isType ? plainBytes(content, content_type) : null
    if (bytes) {
      const about = { assetId: asset_id, name: asset_name, assetType: asset_type, description }
      return save(bytes, content_type, { ...options, ...about })
    }
    const assetId = asset_id === undefined ? undefined : checkAssetId(asset_id)
    const encoded = await encodeContent(content, { depth: limits.depth })
    refuseObjects(encoded)
    const references = [...namedAssets(content, { bareIds: false })]
    const meta = assetMeta({ ...asset, asset_id: assetId ?? '' })
    return saveEncoded(
      {
        assetId,
        name: asset_name ?? null,
        body: Buffer.from(encoded.json),
        parts: encoded.parts,
        objects: encoded.objects,
        attributes: defined({
          asset_type,
          description,
          content_type,
          meta,
          marked: encoded.marked || undefined,
          references: references.length > 0 ? references : undefined,
        }),
      },
      options,
    )
  }

  function refuseObjects(encoded: EncodedContent): void {
    if (encoded.objects.length === 0 || store.keepsObjects) return
    throw new ByrefError(
      'asset_unsupported',
      `The ${store.backend} store cannot keep the live object at ${encoded.objectPaths[0] || '/'}; save its data or bytes instead, or use the memory store.`,
    )
  }

  async function saveEncoded(asset: EncodedAsset, options: SaveAssetOptions): Promise<AssetInfo> {
    const namespace = locator.namespaceFor(options, scope.namespace)
    const contentType = asset.attributes.content_type ?? 'application/json'
    const mime = /^application\/(.+\+)?json$/.test(contentType) ? contentType : 'application/json'
    const record = await withinLimits(asset.body, namespace, async (body) => {
      const saved = await store.save(body, mime, {
        namespace,
        assetId: asset.assetId,
        name: asset.name,
        expiresAt: timeOf(options.expiresAt),
        signal: options.signal,
        owned: true,
        parts: asset.parts,
        objects: asset.objects,
        attributes: { ...asset.attributes, structured: true, ...makerOf(options) },
      })
      return saved.info
    })
    const bytes = asset.body instanceof Uint8Array ? asset.body : null
    return announce(record, options, bytes)
  }

  /** Saves a body of at most the limit's size, if the namespace has room for it. */
  async function withinLimits(
    body: AssetBody,
    namespace: string | null,
    run: (body: AssetBody) => Promise<AssetRecord>,
  ): Promise<AssetRecord> {
    const limited = limitBody(body, limits.bodyBytes)
    const known = limited instanceof Uint8Array ? limited.byteLength : 0
    const reserved = await core.quota.reserve(namespace, known)
    try {
      const record = await run(limitBody(limited, reserved.room, () => exceeded(limits)))
      reserved.end(record.size)
      return record
    } catch (error) {
      reserved.end(null)
      throw error
    }
  }

  async function reportError({ code, message, mime, ...options }: AssetFailure): Promise<void> {
    const { by = 'system', ...maker } = makerOf(options)
    const payload = defined({ code, message, mime, by, ...maker })
    await scope.onEvent?.({ type: 'ASSET_ERROR', payload })
  }

  return { save, saveAsset, saveEncoded, reportError }
}

/** Content that is a body by itself: bytes, or text of a text type. */
function plainBytes(content: unknown, type: string): Uint8Array | null {
  if (content instanceof Uint8Array) return content
  if (content instanceof ArrayBuffer) return new Uint8Array(content)
  return typeof content === 'string' && /^text\//i.test(type) ? Buffer.from(content) : null
}

function timeOf(time: Date | string | null | undefined): string | null {
  if (time === null || time === undefined) return null
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) {
    throw new ByrefError('asset_invalid', `expiresAt ${JSON.stringify(time)} is no time.`)
  }
  return date.toISOString()
}
