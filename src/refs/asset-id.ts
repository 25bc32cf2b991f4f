import { ByrefError } from '../errors.ts'

/** The first level of every asset: a closed set, and never an id or a namespace (spec R2). */
export const ASSET_FIELDS: readonly string[] = [
  'asset_type',
  'asset_id',
  'asset_name',
  'description',
  'content_type',
  'content',
]

/**
 * Whether the text may be an asset's id or a namespace (spec R2): 1 to 200 characters, no control character, not `.`
 * or `..`, none of the fields of an asset. A slash is allowed, and encoded in a URL.
 */
export function isAssetId(text: string): boolean {
  return flaw(text) === null
}

/** Throws `invalid_reference` with the reason unless {@link isAssetId}. `what` names the thing in the message. */
export function assertAssetId(text: string, what: 'asset id' | 'namespace' = 'asset id'): void {
  const reason = typeof text === 'string' ? flaw(text) : 'it is not text'
  if (reason === null) return
  const shown = JSON.stringify(String(text).slice(0, 60))
  throw new ByrefError('invalid_reference', `${shown} is no ${what}: ${reason}.`)
}

function flaw(text: string): string | null {
  if (text === '') return 'it is empty'
  if (text.length > 200) return 'it is longer than 200 characters'
  if (text === '.' || text === '..') return 'it is a path step'
  if (ASSET_FIELDS.includes(text)) return 'it is the name of a field that every asset has'
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 32 || (code > 126 && code < 160)) return 'it has a control character'
  }
  return null
}
