import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono, type MiddlewareHandler } from 'hono'
import { packageFile } from '../package-file.ts'

// Only scripts of the workbench run, and nothing loads from other sites: files and answers of models cannot send anything.
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "frame-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Lets browsers cache files whose names contain a hash of their content, such as `main-DY4YfrkT.js`. */
const cachedByHash: MiddlewareHandler = async (c, next) => {
  await next()
  const hasHash = /-[\w-]{8}\.\w+$/.test(c.req.path)
  if (c.res.ok && hasHash) c.header('cache-control', 'public, max-age=31536000, immutable')
}

/** Serves the files of the workbench, and its page for every other path, so that each view has a URL. */
export function appFiles(folder: string | null = packageFile('dist/web')): Hono {
  const app = new Hono()
  const page = `${folder}/index.html`
  if (folder === null || !existsSync(page)) {
    return app.get('*', (c) => {
      return c.text('The workbench is not built: run npm run build:web. The API is at /api.', 404)
    })
  }
  const files = serveStatic({ root: folder })
  const compressed = serveStatic({ root: folder, precompressed: true })
  app.get('/assets/:file{[^/]+\\.(?:js|css)}', cachedByHash, compressed, (c) => c.notFound())
  app.get('/samples/*', files, (c) => c.notFound())
  app.use('/offline.html', files)
  app.use('/:file{.+\\.(?:svg|png|ico|webmanifest|txt)}', files)
  app.get('*', async (c) => {
    c.header('content-security-policy', POLICY)
    c.header('cache-control', 'no-cache')
    return c.html(await readFile(page, 'utf8'))
  })
  return app
}
