const TAG = /<(\/?)([a-z][a-z0-9]*)[^>]*>|([^<]+)/gi
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
}

/**
 * The text of simple, well-formed HTML, such as mammoth makes of a DOCX, as Markdown: headings, lists, and tables of a line
 * for each row. Styles and pictures are left out.
 */
export function htmlText(html: string): string {
  const lines: string[] = []
  let line = ''
  /** The cells of the row that is open, and how many tables are. */
  let cells: string[] = []
  let depth = 0
  const lists: { isOrdered: boolean; items: number }[] = []

  function endLine(): void {
    if (depth > 0) {
      // A cell is one line, whatever is in it.
      if (line !== '' && !line.endsWith(' ')) line += ' '
      return
    }
    if (line.trim() !== '') lines.push(line.trimEnd(), ...(lists.length > 0 ? [] : ['']))
    line = ''
  }

  function open(tag: string): void {
    if (tag === 'table' && depth === 0) endLine()
    if (tag === 'table') depth++
    else if (tag === 'br') line += depth > 0 ? ' ' : '\n'
    else if (depth > 0) return
    else if (/^h[1-6]$/.test(tag)) line += `${'#'.repeat(Number(tag[1]))} `
    else if (tag === 'ul' || tag === 'ol') {
      endLine()
      lists.push({ isOrdered: tag === 'ol', items: 0 })
    } else if (tag === 'li') {
      const list = lists.at(-1)
      if (list)
        line += `${'  '.repeat(lists.length - 1)}${list.isOrdered ? `${++list.items}.` : '-'} `
    }
  }

  function close(tag: string): void {
    if (/^(p|h[1-6]|li)$/.test(tag)) endLine()
    else if (tag === 'ul' || tag === 'ol') {
      endLine()
      lists.pop()
      if (lists.length === 0 && depth === 0) lines.push('')
    } else if (tag === 'table' && --depth === 0) lines.push('')
    // A table within a cell is part of its text.
    else if (depth === 1 && /^t[dh]$/.test(tag)) {
      cells.push(line.trim().replaceAll('|', '\\|').replace(/\s+/g, ' '))
      line = ''
    } else if (depth === 1 && tag === 'tr') {
      lines.push(`| ${cells.join(' | ')} |`)
      cells = []
    }
  }

  for (const [, slash, tag, text] of html.matchAll(TAG)) {
    if (text !== undefined) line += decoded(text)
    else if (slash) close((tag ?? '').toLowerCase())
    else open((tag ?? '').toLowerCase())
  }
  endLine()
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
}

function decoded(text: string): string {
  return text.replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}
