// Fails if a link in the built site leads to a missing page, file or heading, or if a page loads anything from
// another site. The links in the Markdown beside the pages must lead to files.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const dist = join(import.meta.dirname, 'dist')
const pages = globSync('**/*.html', { cwd: dist }).filter((page) => page !== '404.html')
const texts = new Map(pages.map((page) => [page, readFileSync(join(dist, page), 'utf8')]))
const ids = new Map(
  [...texts].map(([page, text]) => [
    page,
    new Set([...text.matchAll(/ id="([^"]+)"/g)].map(second)),
  ]),
)
const problems = new Set<string>()
for (const [page, text] of texts) {
  for (const [, link = ''] of text.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
    const problem = problemOf(page, link.replaceAll('&amp;', '&'))
    if (problem) problems.add(`${page} → ${link}: ${problem}`)
  }
  for (const [, link] of text.matchAll(
    /<(?:link|script|img)[^>]*?(?:href|src)="((?:https?:)?\/\/[^"]*)"/g,
  )) {
    problems.add(`${page} loads ${link}`)
  }
}
for (const file of globSync('**/*.md', { cwd: dist })) {
  const text = readFileSync(join(dist, file), 'utf8')
  const prose = text.replace(/^(`{3,})[\s\S]*?^\1$/gm, '').replace(/`[^`\n]+`/g, 'code')
  for (const [, path = ''] of prose.matchAll(/\]\((?!https?:|mailto:|<)([^)#\s]+)/g)) {
    if (!existsSync(join(dist, dirname(file), path))) problems.add(`${file} → ${path}`)
  }
}
for (const problem of problems) console.error(problem)
console.error(`${pages.length} pages, ${problems.size} broken links`)
process.exitCode = pages.length > 50 && problems.size === 0 ? 0 : 1

function problemOf(page: string, link: string): string | null {
  if (/^(https?|mailto):/.test(link)) return null
  const [, path = '', hash = ''] = /^([^#?]*)(?:\?[^#]*)?#?(.*)$/.exec(link) ?? []
  const from = path.startsWith('/') ? join(dist, path) : resolve(dist, dirname(page), path)
  let target = path === '' ? page : relative(dist, decodeURI(from))
  if (path.endsWith('/')) target = join(target, 'index.html')
  if (!existsSync(join(dist, target))) return 'there is no such page'
  const known = ids.get(target)
  return hash === '' || !known || known.has(decodeURIComponent(hash)) ? null : 'no such heading'
}

function second(match: RegExpMatchArray): string {
  return match[1] ?? ''
}
