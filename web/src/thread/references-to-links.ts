import { findEmbedded } from '../references/kinds.ts'

/**
 * Markdown whose embedded references (`<|asset://…|>`) are links and picture addresses that Markdown knows: a link
 * without a text where one stands alone, the bare address where one is the target of a link or a picture.
 */
export function referencesToLinks(text: string): string {
  let result = ''
  let end = 0
  for (const found of findEmbedded(text)) {
    const before = text.slice(end, found.start)
    const isTarget = before.endsWith('](') && text[found.end] === ')'
    result += before + (isTarget ? `<${found.url}>` : `[](<${found.url}>)`)
    end = found.end
  }
  return result + text.slice(end)
}
