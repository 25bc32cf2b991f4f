import { ByrefError } from '../errors.ts'

/** The first level of every asset: a closed set, and never an id or a namespace. */
export const ASSET_FIELDS: readonly string[] = [
  'asset_type',
  'asset_id',
  'asset_name',
  'description',
  'content_type',
  'content',
]

/**
 * Whether the text may be an asset's id or a namespace: 1 to 200 characters of well-formed Unicode, no control
 * character, not `.` or `..`, none of the fields of an asset. A slash is allowed, and encoded in a URL.
 */
export function isAssetId(text: unknown): boolean {
  if (typeof text !== 'string' || text === '' || text.length > 200) return false
  // UTF-8 has no half surrogates: what encodes ids would make one id of many.
  if (!text.isWellFormed()) return false
  return !(text === '.' || text === '..' || ASSET_FIELDS.includes(text) || /\p{Cc}/u.test(text))
}

/** Throws `invalid_reference` unless {@link isAssetId}. `what` names the thing in the message. */
export function assertAssetId(id: string, what: 'asset id' | 'namespace' = 'asset id'): void {
  if (isAssetId(id)) return
  throw new ByrefError(
    'invalid_reference',
    `${JSON.stringify(id)?.slice(0, 100)} is no ${what}: it has 1 to 200 characters, none of them control characters or half surrogates, and is not ".", ".." or one of ${ASSET_FIELDS.join(', ')}.`,
  )
}
