import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'

export const root = join(import.meta.dirname, '../..')

const MOVED: Record<string, string> = {
  'bench/README.md': 'more/measurements.md',
  'CONTRIBUTING.md': 'more/contributing.md',
  'CHANGELOG.md': 'more/changelog.md',
  'site/api/README.md': 'reference/api/index.md',
}

/** The path of a page on the site, for a Markdown file of the repository. */
export function pageOf(file: string): string {
  return MOVED[file] ?? file.replace(/^(docs|site)\//, '').replace(/^api\//, 'reference/api/')
}

/** The id of a heading, by GitHub's rule, so that a link works on the site and in a git host. */
export function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

/** The path of the page on the site that shows a file of the repository that is not Markdown. */
export function sourcePageOf(file: string): string {
  return `source/${file}.md`
}

/** The Markdown of that page. */
export function sourceText(file: string): string {
  const text = readFileSync(join(root, file), 'utf8')
  const language = extname(file).slice(1) || 'text'
  return `# ${file}\n\n\`\`\`\`${language}\n${text}\n\`\`\`\`\n`
}

/** Whether the site has the file as it is. */
export function isCopied(file: string): boolean {
  return /^docs\/(.*\.(png|svg)|llms\.txt)$/.test(file)
}

/** The path on the site of what a link to a file of the repository leads to. */
export function targetOf(file: string): string {
  if (file.endsWith('.md')) return pageOf(file)
  return isCopied(file) ? file.replace(/^docs\//, '') : sourcePageOf(file)
}

/**
 * The file of the repository that a link in a Markdown file leads to. Null if it leads elsewhere, such as to a
 * heading or another site.
 */
export function linkedFile(from: string, href: string): { file: string; hash: string } | null {
  const [, path = '', hash = ''] = /^([^#?]*)(.*)$/.exec(decodeURI(href)) ?? []
  if (path === '' || /^([a-z]+:|\/)/i.test(path)) return null
  const target = resolve(dirname(from), path)
  const file = relative(root, target).replaceAll('\\', '/')
  if (file.startsWith('..') || !existsSync(target)) return null
  return { file, hash }
}

/** The Markdown files that people wrote and that are pages. */
export function writtenPages(): string[] {
  const others = ['bench/README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
  return [...globSync('docs/**/*.md', { cwd: root }), ...others]
}

/** The files that the pages link to and that are not pages: examples, sources. Each is shown on a page of its own. */
export function linkedSources(): string[] {
  const linked = writtenPages().flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, href = '']) => linkedFile(join(root, page), href)?.file ?? '')
      .filter((file) => file !== '' && !file.endsWith('.md') && !isCopied(file))
  })
  return [...new Set(linked)].sort()
}
