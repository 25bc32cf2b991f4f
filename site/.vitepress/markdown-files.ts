import { cpSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { root } from './pages.ts'

const docs = join(root, 'docs')

/** Puts the Markdown of every page and llms.txt beside the pages, for readers that prefer text. */
export function copyMarkdown(outDir: string): void {
  for (const file of globSync(['**/*.md', 'llms.txt'], { cwd: docs })) {
    cpSync(join(docs, file), join(outDir, file))
  }
}

/** Serves llms.txt while the site is edited. */
export function serveMarkdown(): Plugin {
  return {
    name: 'byref-llms-txt',
    configureServer({ middlewares }) {
      middlewares.use('/llms.txt', (_request, response) => {
        response.setHeader('content-type', 'text/plain; charset=utf-8')
        response.end(readFileSync(join(docs, 'llms.txt')))
      })
    },
  }
}
