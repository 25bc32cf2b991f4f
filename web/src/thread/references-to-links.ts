import { findTextMarks, formatAssetRef, parseAssetRef } from 'byref/client'

/**
 * Markdown whose references between `<|` and `|>` are such that Markdown knows: of assets, links without a text where
 * they stand alone, the bare address where they are the target of a link or a picture; of variables, code with the marks, which
 * the renderer shows as what it names.
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
