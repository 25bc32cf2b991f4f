// A server in its own process. The parent asks for its CPU time and memory.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { createAgent } from '../../src/agent/agent.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { toMessage } from '../../src/core/messages/to-message.ts'
import { createSqliteLog } from '../../src/log/sqlite-log.ts'
import { createServer } from '../../src/server/create-server.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const [kind, conversations = '10'] = process.argv.slice(2)
const started = kind === 'bare' ? await bare() : await byref(Number(conversations))
process.on('disconnect', () => process.exit(0))
process.on('message', (asked) => {
  if (asked === 'gc') globalThis.gc?.()
  if (asked === 'stop') process.exit(0)
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send?.({ cpuMs: (user + system) / 1000, rss, live: heapUsed + external })
})
process.send?.(started)

/** byref on SQLite and files, like `byref serve`, with an instant model. */
async function byref(count: number) {
  const log = createSqliteLog(join(folder, 'log.sqlite'))
  const agent = createAgent({
    model: scriptedModel(Array.from({ length: 2000 }, () => 'Hello.')),
    assets: { store: createFsAssetStore({ rootDir: join(folder, 'assets') }) },
    log,
  })
  for (let n = 0; n < count; n++) {
    await log.append(`c${n}`, [
      { type: 'NEW_MESSAGE', payload: toMessage({ role: 'user', content: `message ${n}` }) },
    ])
  }
  const large = await agent.assets.save(new Uint8Array(100_000_000).fill(7), 'application/x-bench')
  const small = await agent.assets.save(new Uint8Array(10_000).fill(7), 'application/x-bench')
  const server = createServer({ agent, app: null })
  const { url } = await server.listen({ port: 0 })
  const content = (id: string) => `${url}/api/assets/${id}/content`
  return {
    url,
    large: content(large.assetId),
    small: content(small.assetId),
    json: `${url}/api/conversations?limit=50`,
  }
}

/** The minimum in Hono: its own static files, and a route that returns a stored text. */
async function bare() {
  writeFileSync(join(folder, 'large'), new Uint8Array(100_000_000).fill(7))
  writeFileSync(join(folder, 'small'), new Uint8Array(10_000).fill(7))
  const app = new Hono()
  let text = ''
  app.post('/json', async (c) => {
    text = await c.req.text()
    return c.body(null, 204)
  })
  app.get('/json', (c) => c.body(text, 200, { 'content-type': 'application/json' }))
  // The benchmarks may have their own copy of Hono, with different types.
  app.use('/*', serveStatic({ root: folder }) as never)
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  return { url, large: `${url}/large`, small: `${url}/small`, json: `${url}/json` }
}
