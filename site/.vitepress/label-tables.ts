import type { MarkdownRenderer } from 'vitepress'

/** Converts empty table headers to plain cells, because a screen reader would announce a header without a name. */
export function labelTables(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('inline', 'label-tables', ({ tokens }) => {
    for (const [i, token] of tokens.entries()) {
      const [content, close] = [tokens[i + 1], tokens[i + 2]]
      if (token.type !== 'th_open' || content?.content !== '' || !close) continue
      token.tag = 'td'
      close.tag = 'td'
    }
  })
}
