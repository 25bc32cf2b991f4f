import { ByrefError } from '../errors.ts'
import { ASSET_FIELDS, assertAssetId, isAssetId } from './asset-id.ts'
import { type FieldKey, indexOf, isFieldKey } from './field-key.ts'

/**
 * A reference to an asset, or to a field in it, as JSON (structured-assets.md, "Asset Reference").
 * `field_path` starts at the first level of the asset; null is the asset itself. It may be absent only where nothing
 * but a reference can stand.
 */
export interface AssetRef {
  asset_id: string
  field_path?: FieldKey[] | null
  namespace?: string
}

/** The parts of a reference. `namespace` and `fieldPath` are absent where there is none. */
export interface AssetRefParts {
  id: string
  namespace?: string
  fieldPath?: FieldKey[]
}

const SCHEME = /^asset:\/\//i
/** Where the segments start in a URL that is split at its slashes. */
const FIRST = 2

/** Well-formed UTF-8, percent-encoded (RFC 3629, table 3-7 of Unicode): what this matches always decodes. */
const ENCODED =
  /%[0-7][\da-f]|%(?:c[2-9a-f]|d[\da-f])%[89ab][\da-f]|%(?:e0%[ab]|e[1-9a-cef]%[89ab]|ed%[89])[\da-f]%[89ab][\da-f]|%(?:f0%[9ab]|f[1-3]%[89ab]|f4%8)[\da-f](?:%[89ab][\da-f]){2}/gi

/**
 * Whether the value is a reference: an `asset://` URL, or an object with `asset_id`, `field_path` and optionally
 * `namespace`, and no other key. An object without `field_path` is plain data here: {@link parseAssetRef} reads it.
 */
export function isAssetRef(value: unknown): boolean {
  if (typeof value === 'string') return parseUrl(value) !== null
  return typeof value === 'object' && value !== null && 'field_path' in value
    ? parseObject(value) !== null
    : false
}

/** The asset's id: of a reference, or the id itself where a bare one is given. Throws `invalid_reference` on the rest. */
export function extractAssetId(ref: string | AssetRef): string {
  const parts = parseAssetRef(ref)
  if (parts) return parts.id
  if (typeof ref === 'string' && isAssetId(ref) && !ref.includes('://')) return ref
  throw new ByrefError(
    'invalid_reference',
    `${show(ref)} names no asset: give an id, asset://<id> or {"asset_id": "<id>", "field_path": null}.`,
  )
}

/**
 * The parts of a reference (URL or object); null if it breaks the grammar (spec R1, R2). Canonical integers come as
 * numbers, all other keys as text. Linear in the text; never throws.
 */
export function parseAssetRef(ref: string | AssetRef): AssetRefParts | null {
  return typeof ref === 'string' ? parseUrl(ref) : parseObject(ref)
}

/**
 * The URL of a reference; {@link parseAssetRef} gives the same parts back, also for keys that look like integers.
 * Throws `invalid_reference` for a bad id, and for a field path that would read as something else: it has to start
 * with one of {@link ASSET_FIELDS}.
 */
export function formatAssetRef({ id, namespace, fieldPath = [] }: AssetRefParts): string {
  assertAssetId(id)
  if (namespace !== undefined) assertAssetId(namespace, 'namespace')
  if (!isAddressable(fieldPath, namespace !== undefined)) {
    throw new ByrefError(
      'invalid_reference',
      `A field path starts with one of ${ASSET_FIELDS.join(', ')}; ${JSON.stringify(fieldPath)} does not. Did you mean ${JSON.stringify(['content', ...fieldPath])}?`,
    )
  }
  const names = namespace === undefined ? [id] : [namespace, id]
  const path = [...names.map(encode), ...fieldPath.map(encodeKey)].join('/')
  return `asset://${path}${fieldPath.at(-1) === '' ? '/' : ''}`
}

/** The object form of parsed parts: what travels in JSON. */
export function toAssetRef({ id, namespace, fieldPath }: AssetRefParts): AssetRef {
  const ref: AssetRef = { asset_id: id, field_path: fieldPath ?? null }
  if (namespace !== undefined) ref.namespace = namespace
  return ref
}

/** Percent-decodes once: what is malformed stays as written, `+` is a plus. */
export function decodeSegment(text: string): string {
  return text.includes('%') ? text.replace(ENCODED, decodeURIComponent) : text
}

function parseUrl(text: string): AssetRefParts | null {
  const url = text.trim()
  if (!SCHEME.test(url)) return null
  const segments = url.split('/')
  if (segments.length > FIRST + 1 && segments.at(-1) === '') segments.pop()
  const first = decodeSegment(segments[FIRST] as string)
  if (segments.length === FIRST + 1) return toParts(first, undefined, segments, FIRST + 1)
  const second = decodeSegment(segments[FIRST + 1] as string)
  if (isField(second)) return toParts(first, undefined, segments, FIRST + 1)
  if (segments.length === FIRST + 2 || isField(decodeSegment(segments[FIRST + 2] as string))) {
    return toParts(second, first, segments, FIRST + 2)
  }
  return second === '' ? null : toParts(first, undefined, segments, FIRST + 1)
}

/** The field path is what follows from segment `start` on. */
function toParts(id: string, namespace: string | undefined, segments: string[], start: number) {
  if (!isAssetId(id) || (namespace !== undefined && !isAssetId(namespace))) return null
  const parts: AssetRefParts = { id }
  if (namespace !== undefined) parts.namespace = namespace
  if (segments.length === start) return parts
  const fieldPath: FieldKey[] = []
  for (let i = start; i < segments.length; i++) fieldPath.push(decodeKey(segments[i] as string))
  parts.fieldPath = fieldPath
  return parts
}

function parseObject(value: object): AssetRefParts | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
  const { asset_id: id, field_path: path = null, namespace, ...rest } = value as Partial<AssetRef>
  if (typeof id !== 'string' || !isAssetId(id) || Object.keys(rest).length > 0) return null
  if ('namespace' in value && !(typeof namespace === 'string' && isAssetId(namespace))) return null
  if (path !== null && !(Array.isArray(path) && path.every(isFieldKey))) return null
  if (path?.[0] === '') return null
  const found: AssetRefParts = { id }
  if (namespace !== undefined) found.namespace = namespace
  if (path && path.length > 0) found.fieldPath = [...path]
  return found
}

function isField(key: FieldKey | undefined | null): boolean {
  return typeof key === 'string' && ASSET_FIELDS.includes(key)
}

/** Whether a URL with this path reads back as the same reference (spec R2). */
function isAddressable(path: readonly FieldKey[], hasNamespace: boolean): boolean {
  if (path.length === 0 || isField(path[0])) return true
  return !hasNamespace && path.length > 1 && path[0] !== '' && !isField(path[1])
}

/** A text key of digits is told from an index by its encoded first digit: `%32024` is the text "2024". */
function encodeKey(key: FieldKey): string {
  if (typeof key === 'string') {
    return indexOf(key) === -1 ? encode(key) : `%3${key}`
  }
  if (!isFieldKey(key)) {
    throw new ByrefError('invalid_reference', `${key} is no index: give an integer from 0 up.`)
  }
  return String(key)
}

function decodeKey(segment: string): FieldKey {
  const index = indexOf(segment)
  return index === -1 ? decodeSegment(segment) : index
}

/** Lone surrogates have no UTF-8: they stay as they are. */
function encode(text: string): string {
  return text.replace(/\P{Cs}+/gu, encodeURIComponent)
}

function show(ref: unknown): string {
  const text = typeof ref === 'string' ? ref : (JSON.stringify(ref) ?? String(ref))
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
