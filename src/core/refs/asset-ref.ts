import { ByrefError } from '../errors.ts'
import { shownJson } from '../json/json.ts'
import { type FieldKey, indexOf, isFieldKey } from './field-key.ts'

/**
 * A reference to an asset or to a field in it, as JSON. `field_path` starts at the first level of the asset;
 * null is the asset itself. It may be omitted only where just a reference is allowed.
 */
export interface AssetRef {
  asset_id: string
  field_path?: FieldKey[] | null
  namespace?: string
}

/** The parts of a reference. `namespace` and `fieldPath` are absent if the reference has none. */
export interface AssetRefParts {
  id: string
  namespace?: string
  fieldPath?: FieldKey[]
}

/** The first-level fields of every asset. They cannot be used as ids or namespaces. */
export const ASSET_FIELDS: readonly string[] = [
  'asset_type',
  'asset_id',
  'asset_name',
  'description',
  'content_type',
  'content',
]

/**
 * Whether the text is a valid asset id or namespace: 1 to 200 characters of well-formed Unicode, without
 * control characters, and not `.`, `..` or a field of an asset. A slash is allowed; URLs encode it.
 */
export function isAssetId(text: unknown): boolean {
  if (typeof text !== 'string' || text === '' || text.length > 200) return false
  // UTF-8 cannot represent lone surrogates, so different ids with them would become equal.
  if (!text.isWellFormed()) return false
  return !(text === '.' || text === '..' || ASSET_FIELDS.includes(text) || /\p{Cc}/u.test(text))
}

/** Throws `invalid_reference` unless {@link isAssetId}. `what` is used in the error message. */
export function assertAssetId(id: string, what: 'asset id' | 'namespace' = 'asset id'): void {
  if (isAssetId(id)) return
  throw new ByrefError(
    'invalid_reference',
    `${JSON.stringify(id)?.slice(0, 100)} is not a valid ${what}. Use 1 to 200 characters, without control characters or lone surrogates, and not ".", ".." or one of ${ASSET_FIELDS.join(', ')}.`,
  )
}

/** Whether a field path means the whole body of an asset: there is none, or it is `content`. */
export function isWholePath(fieldPath: readonly FieldKey[] | undefined): boolean {
  return !fieldPath || (fieldPath.length === 1 && fieldPath[0] === 'content')
}

const SCHEME = /^asset:\/\//i

/** One percent-encoded UTF-8 character: ASCII, or a lead byte with its continuation bytes. */
const ENCODED = /%[0-7][\da-f]|%[c-f][\da-f](?:%[89ab][\da-f])+/gi

/**
 * Whether the value is a reference: an `asset://` URL, or an object with `asset_id`, `field_path`, optionally
 * `namespace`, and no other key. An object without `field_path` counts as plain data here, although {@link
 * parseAssetRef} accepts it.
 */
export function isAssetRef(value: unknown): boolean {
  const isForm = typeof value === 'string' || ownField(value, 'field_path') !== undefined
  return isForm && parseAssetRef(value as AssetRef) !== null
}

/** Returns the asset's id, from a reference or from a bare id. Throws `invalid_reference` for anything else. */
export function extractAssetId(ref: string | AssetRef): string {
  return refParts(ref).id
}

/** Returns the parts of a reference, or those of a bare id. Throws `invalid_reference` for anything else. */
export function refParts(ref: string | AssetRef): AssetRefParts {
  const parts = parseAssetRef(ref)
  if (parts) return parts
  if (typeof ref === 'string' && isAssetId(ref) && !ref.includes('://')) return { id: ref }
  throw invalid(ref, 'is not an asset reference: use an id or asset://<id>')
}

/**
 * Returns the parts of a reference (URL or object); null if it is invalid. Canonical integers become numbers;
 * all other keys are text. Takes linear time and never throws.
 */
export function parseAssetRef(ref: string | AssetRef): AssetRefParts | null {
  return typeof ref === 'string' ? parseUrl(ref) : parseObject(ref)
}

/**
 * Returns the URL of a reference. {@link parseAssetRef} returns the same parts from it, even if keys look like
 * integers. Throws `invalid_reference` for a bad id or index, and for a field path that does not start with
 * one of {@link ASSET_FIELDS}, because it would be read differently.
 */
export function formatAssetRef({ id, namespace, fieldPath = [] }: AssetRefParts): string {
  const names = namespace === undefined ? [id] : [namespace, id]
  const path = [...names.map(encode), ...fieldPath.map(encodeKey)].join('/')
  const url = `asset://${path}${fieldPath.at(-1) === '' ? '/' : ''}`
  const read = parseUrl(url)
  if (read?.id === id && read.namespace === namespace && fieldPath.every(isFieldKey)) return url
  throw invalid(
    { id, namespace, fieldPath },
    `is not a valid reference: a field path must start with one of ${ASSET_FIELDS.join(', ')}`,
  )
}

/** Returns the JSON object form of parsed parts. */
export function toAssetRef({ id, namespace, fieldPath }: AssetRefParts): AssetRef {
  const ref: AssetRef = { asset_id: id, field_path: fieldPath ?? null }
  if (namespace !== undefined) ref.namespace = namespace
  return ref
}

/** Percent-decodes once. Malformed sequences stay unchanged, and `+` is a plus. */
export function decodeSegment(text: string): string {
  return text.includes('%') ? text.replace(ENCODED, decodeOrKeep) : text
}

function decodeOrKeep(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

function parseUrl(text: string): AssetRefParts | null {
  const url = text.trim()
  if (!SCHEME.test(url)) return null
  const segments = url.slice(8).split('/')
  if (segments.length > 1 && segments.at(-1) === '') segments.pop()
  const isPath =
    segments.length === 1 || isField(segments[1]) || (segments.length > 2 && !isField(segments[2]))
  const [id, namespace] = isPath ? [segments[0]] : [segments[1], segments[0]]
  const path: FieldKey[] = []
  for (let i = isPath ? 1 : 2; i < segments.length; i++) path.push(decodeKey(segments[i] as string))
  if (path[0] === '') return null
  return toParts(decodeSegment(id as string), namespace && decodeSegment(namespace), path)
}

function parseObject(value: AssetRef): AssetRefParts | null {
  const id = ownField(value, 'asset_id')
  if (typeof id !== 'string') return null
  const { asset_id: _, field_path: path, namespace, ...rest } = { ...value }
  const keys = path ?? []
  if (Object.keys(rest).length > 0 || namespace === null) return null
  if (!Array.isArray(keys) || !keys.every(isFieldKey) || keys[0] === '') return null
  return toParts(id, namespace, [...keys])
}

/** Returns an own field of the value, not an inherited one. */
function ownField(value: unknown, key: keyof AssetRef): unknown {
  const object = Object(value) as AssetRef
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function toParts(id: string, namespace: string | undefined, fieldPath: FieldKey[]) {
  if (!isAssetId(id) || (namespace !== undefined && !isAssetId(namespace))) return null
  const parts: AssetRefParts = { id }
  if (namespace !== undefined) parts.namespace = namespace
  if (fieldPath.length > 0) parts.fieldPath = fieldPath
  return parts
}

function isField(segment = ''): boolean {
  return ASSET_FIELDS.includes(decodeSegment(segment))
}

/**
 * Encodes the first digit of a text key that looks like an index: `%32024` is the text "2024", `2024` the
 * index.
 */
function encodeKey(key: FieldKey): string {
  return typeof key === 'number' ? String(key) : indexOf(key) === -1 ? encode(key) : `%3${key}`
}

function decodeKey(segment: string): FieldKey {
  const index = indexOf(segment)
  return index === -1 ? decodeSegment(segment) : index
}

/** UTF-8 cannot represent lone surrogates, so they stay unencoded. */
function encode(text: string): string {
  return String(text).replace(/\P{Cs}+/gu, encodeURIComponent)
}

function invalid(ref: unknown, reason: string): ByrefError {
  return new ByrefError('invalid_reference', `${shownJson(ref)} ${reason}.`)
}
