import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { packageFile } from '../package-file.ts'

// Only scripts of the workbench run, and nothing loads from other sites: files and answers of models cannot send anything.
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  // Vite inlines small fonts.
  "font-src 'self' data:",
  "frame-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Hidden files, such as `.env` and `.git/config`, are not served. `.well-known` is. */
const HIDDEN = /\/\.(?!well-known\/)/

/** Lets browsers cache files whose names contain a hash of their content, such as `main-DY4YfrkT.js`. */
const HASHED = /^\/assets\/[^/]+-[\w-]{8}\.(?:js|css|woff2)$/

const EXTENSION = /\.[^/.]+$/

/**
 * Serves the files of a folder, by default of the workbench, and its page for every other path, so that each view has a
 * URL. A missing file is 404: a path with an extension, unless a browser opens it as a page.
 */
export function appFiles(folder: string | null = packageFile('dist/web')): Hono {
  const app = new Hono()
  const page = `${folder}/index.html`
  if (folder === null || !existsSync(page)) {
    return app.get('*', (c) => {
      return c.text('The workbench is not built: run npm run build:web. The API is at /api.', 404)
    })
  }
  const file = serveStatic({ root: folder, precompressed: true })
  app.get('*', async (c, next) => {
    const found = HIDDEN.test(c.req.path) ? undefined : await file(c, async () => {})
    if (!found) return next()
    if (found.headers.get('content-type')?.startsWith('text/html')) return asPage(found)
    if (HASHED.test(c.req.path)) {
      found.headers.set('cache-control', 'public, max-age=31536000, immutable')
    }
    return found
  })
  app.get('*', async (c) => {
    const isPage = c.req.header('accept')?.includes('text/html')
    if (EXTENSION.test(c.req.path) && !isPage) return c.notFound()
    return asPage(c.html(await readFile(page, 'utf8')))
  })
  return app
}

function asPage(response: Response): Response {
  response.headers.set('content-security-policy', POLICY)
  response.headers.set('cache-control', 'no-cache')
  return response
}
