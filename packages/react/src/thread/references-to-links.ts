import { findTextMarks, formatAssetRef, parseAssetRef } from 'byref/client'

/**
 * Converts references between `<|` and `|>` to standard Markdown. An asset becomes a link without text, or the bare
 * address if it is the target of a link or an image. A variable becomes code with the marks, which the renderer
 * replaces by its value.
 */
export function referencesToLinks(text: string): string {
  let result = ''
  let end = 0
  for (const mark of findTextMarks(text)) {
    if (mark.type !== 'asset' && mark.type !== 'variable') continue
    const before = text.slice(end, mark.start)
    result += before
    if (mark.type === 'variable') result += `\`\` <|${mark.text}|> \`\``
    else {
      const parts = parseAssetRef(mark.ref)
      const url = parts ? formatAssetRef(parts) : ''
      const isTarget = before.endsWith('](') && text[mark.end] === ')'
      result += isTarget ? `<${url}>` : `[](<${url}>)`
    }
    end = mark.end
  }
  return result + text.slice(end)
}
