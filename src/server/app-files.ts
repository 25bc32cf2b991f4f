import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono, type MiddlewareHandler } from 'hono'
import { packageFile } from '../package-file.ts'

// No scripts but our own, nothing from elsewhere: what a model or a file says cannot load or send anything.
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

/** Browsers keep the files whose names change with what is in them, as the build's own do: `main-DY4YfrkT.js`. */
const kept: MiddlewareHandler = async (c, next) => {
  await next()
  const isNamedByContent = /-[\w-]{8}\.\w+$/.test(c.req.path)
  if (c.res.ok && isNamedByContent) c.header('cache-control', 'public, max-age=31536000, immutable')
}

/** The workbench: its files, and its page for every other address, so that each can be opened directly. */
export function appFiles(folder: string | null = packageFile('dist/web')): Hono {
  const app = new Hono()
  const page = `${folder}/index.html`
  if (folder === null || !existsSync(page)) {
    return app.get('*', (c) => {
      return c.text('The workbench is not built: npm run build:web. The API is at /api.', 404)
    })
  }
  app.get(
    '/assets/:file{[^/]+\\.(?:js|css)}',
    kept,
    serveStatic({ root: folder, precompressed: true }),
    (c) => c.notFound(),
  )
  app.get('/samples/*', serveStatic({ root: folder }), (c) => c.notFound())
  app.use('/offline.html', serveStatic({ root: folder }))
  app.use('/:file{.+\\.(?:svg|png|ico|webmanifest|txt)}', serveStatic({ root: folder }))
  app.get('*', async (c) => {
    c.header('content-security-policy', POLICY)
    c.header('cache-control', 'no-cache')
    return c.html(await readFile(page, 'utf8'))
  })
  return app
}
