import { ByrefError } from '../errors.ts'

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
