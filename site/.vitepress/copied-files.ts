import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Plugin } from 'vite'
import {
  linkedFile,
  linkedSources,
  pageOf,
  root,
  sourcePageOf,
  sourceText,
  targetOf,
  writtenPages,
} from './pages.ts'
import { apiEntries } from './read-sidebars.ts'

const docs = join(root, 'docs')

/** Copies images, and for readers of text llms.txt and the Markdown of every page, beside the pages. */
export function copyFiles(outDir: string): void {
  const write = (page: string, text: string) => {
    mkdirSync(dirname(join(outDir, page)), { recursive: true })
    writeFileSync(join(outDir, page), text)
  }
  for (const file of globSync('images/*', { cwd: docs })) {
    cpSync(join(docs, file), join(outDir, file))
  }
  for (const file of [...writtenPages(), ...globSync('site/api/*.md', { cwd: root })]) {
    write(pageOf(file), markdownOf(file))
  }
  for (const file of linkedSources()) write(sourcePageOf(file), sourceText(file))
  write('llms.txt', llmsTxt())
}

/** Serves llms.txt while the site is being edited. */
export function serveLlmsTxt(): Plugin {
  return {
    name: 'byref-llms-txt',
    configureServer({ middlewares }) {
      middlewares.use('/llms.txt', (_request, response) => {
        response.setHeader('content-type', 'text/plain; charset=utf-8')
        response.end(llmsTxt())
      })
    },
  }
}

/** Returns the text of a page with links to the copies on the site. */
function markdownOf(file: string): string {
  const folder = dirname(pageOf(file))
  return readFileSync(join(root, file), 'utf8').replace(
    /\]\(([^)\s]+)\)/g,
    (link, href: string) => {
      const linked = linkedFile(join(root, file), href)
      return linked ? `](${relative(folder, targetOf(linked.file))}${linked.hash})` : link
    },
  )
}

/** Returns docs/llms.txt, with the generated pages before the decisions. */
function llmsTxt(): string {
  const lines = apiEntries().map(
    ({ name, title }) =>
      `- [${title}](reference/api/${name}.md): types and functions of \`${title}\``,
  )
  const types = `## Types of every entry\n\n${lines.join('\n')}\n\n`
  return readFileSync(join(docs, 'llms.txt'), 'utf8').replace(/^## Decisions$/m, `${types}$&`)
}
