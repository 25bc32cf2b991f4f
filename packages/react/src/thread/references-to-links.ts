import { findTextMarks, formatAssetRef, parseAssetRef } from 'byref/client'

/** The scheme of links to variables, which only {@link referencesToLinks} writes. */
export const VARIABLE_SCHEME = 'variable'

/**
 * Converts references between `<|` and `|>` to standard Markdown. Each becomes a link without text, or the bare address
 * if it is the target of a link or an image. The address of a variable is `variable:`, with the reference encoded.
 */
export function referencesToLinks(text: string): string {
  let result = ''
  let end = 0
  for (const mark of findTextMarks(text)) {
    if (mark.type !== 'asset' && mark.type !== 'variable') continue
    const before = text.slice(end, mark.start)
    const url = mark.type === 'variable' ? variableUrl(mark.text) : assetUrl(mark.ref)
    const isTarget = before.endsWith('](') && text[mark.end] === ')'
    result += before + (isTarget ? `<${url}>` : `[](<${url}>)`)
    end = mark.end
  }
  return result + text.slice(end)
}

/** Returns the variable reference that an address names, or null. */
export function variableOf(url: string): string | null {
  const [scheme, encoded] = url.split(':', 2)
  if (scheme !== VARIABLE_SCHEME || !encoded) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

function variableUrl(reference: string): string {
  return `${VARIABLE_SCHEME}:${encodeURIComponent(reference)}`
}

function assetUrl(ref: Parameters<typeof parseAssetRef>[0]): string {
  const parts = parseAssetRef(ref)
  return parts ? formatAssetRef(parts) : ''
}
