import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'

export const root = join(import.meta.dirname, '../..')

const MOVED: Record<string, string> = {
  'bench/README.md': 'more/measurements.md',
  'CONTRIBUTING.md': 'more/contributing.md',
  'CHANGELOG.md': 'more/changelog.md',
  'site/api/README.md': 'reference/api/index.md',
}

/** Returns the path of the page for a Markdown file of the repository. */
export function pageOf(file: string): string {
  return MOVED[file] ?? file.replace(/^(docs|site)\//, '').replace(/^api\//, 'reference/api/')
}

/** Returns the id of a heading by GitHub's rule, so that a link works on the site and in a git host. */
export function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

/** Returns the path of the page that shows another file of the repository. */
export function sourcePageOf(file: string): string {
  return `source/${file}.md`
}

/** Returns the Markdown of that page. */
export function sourceText(file: string): string {
  const text = readFileSync(join(root, file), 'utf8')
  const language = extname(file).slice(1) || 'text'
  return `# ${file}\n\n\`\`\`\`${language}\n${text}\n\`\`\`\`\n`
}

/** Whether the site has the unchanged file. */
export function isCopied(file: string): boolean {
  return /^docs\/(.*\.(png|svg)|llms\.txt)$/.test(file)
}

/** Returns the path on the site for a link to a file of the repository. */
export function targetOf(file: string): string {
  if (file.endsWith('.md')) return pageOf(file)
  return isCopied(file) ? file.replace(/^docs\//, '') : sourcePageOf(file)
}

/**
 * Returns the file of the repository that a link in a Markdown file leads to. Null if it leads elsewhere, such as to
 * a heading or another site.
 */
export function linkedFile(from: string, href: string): { file: string; hash: string } | null {
  const [, path = '', hash = ''] = /^([^#?]*)(.*)$/.exec(decodeURI(href)) ?? []
  if (path === '' || /^([a-z]+:|\/)/i.test(path)) return null
  const target = resolve(dirname(from), path)
  const file = relative(root, target).replaceAll('\\', '/')
  if (file.startsWith('..') || !existsSync(target)) return null
  return { file, hash }
}

/** Returns the Markdown files that become pages. */
export function writtenPages(): string[] {
  const others = ['bench/README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
  return [...globSync('docs/**/*.md', { cwd: root }), ...others]
}

/**
 * Returns the files that the pages link to and that are not pages: examples, sources. Each is shown on its own page.
 */
export function linkedSources(): string[] {
  const linked = writtenPages().flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, href = '']) => linkedFile(join(root, page), href)?.file ?? '')
      .filter((file) => file !== '' && !file.endsWith('.md') && !isCopied(file))
  })
  return [...new Set(linked)].sort()
}
