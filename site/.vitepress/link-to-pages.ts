import type { MarkdownRenderer } from 'vitepress'
import { linkedFile, targetOf } from './pages.ts'

/**
 * Converts links between files of the repository to links between pages of the site. A broken link stays unchanged,
 * and fails the build.
 */
export function linkToPages(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('inline', 'link-to-pages', ({ tokens, env }) => {
    const from = env.realPath ?? env.path
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue
      const linked = linkedFile(from, token.attrGet('href') ?? '')
      if (linked) token.attrSet('href', `/${targetOf(linked.file)}${linked.hash}`)
    }
  })
}
