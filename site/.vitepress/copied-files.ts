import { cpSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { root } from './pages.ts'

const docs = join(root, 'docs')

/** Puts pictures, and for readers that prefer text llms.txt and the Markdown of every page, beside the pages. */
export function copyFiles(outDir: string): void {
  for (const file of globSync(['**/*.md', 'images/*', 'llms.txt'], { cwd: docs })) {
    cpSync(join(docs, file), join(outDir, file))
  }
}

/** Serves llms.txt while the site is edited. */
export function serveLlmsTxt(): Plugin {
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
