// examples/next with the packed package, without and with DuckDB: built by Next.js, started, and opened in Chromium. Run by
// check-package.mjs with the project's Node: node scripts/check-next.mjs byref.tgz folder
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { hasBrowser, openBrowser } from '../test/e2e/browser.ts'
import { environment, node, root, run, say } from './setup.mjs'

const MOST_PROMPT = 5_000

/** A route beside those of the example: what needs optional peers, and files of the package, in a bundle. */
const ROUTE = `
import { createAssets } from 'byref'
import { createSqliteLog } from 'byref/sqlite'
import { createServer } from 'byref/server'
import { agent } from '../byref.js'

const server = createServer({ agent })

export async function GET() {
  const assets = createAssets()
  const csv = new TextEncoder().encode('a,b\\n1,2\\n3,4\\n')
  const { table } = await assets.importFile(csv, { name: 'x.csv' })
  const sql = await assets
    .query({ sql: \`select sum(a) as total from "\${table.ref}"\` })
    .then(async ({ ref }) => (await assets.resolve(ref)).rows, ({ message }) => message)
  await createSqliteLog(':memory:').close()
  const { status } = await server.fetch(new Request('http://127.0.0.1/api/conversations'))
  return Response.json({ sql, status })
}
`

const [tarball, folder] = process.argv.slice(2)
const app = join(folder, 'next')
const next = join(app, 'node_modules/next/dist/bin/next')
const env = environment({ NEXT_TELEMETRY_DISABLED: '1' })
const install = (name) => {
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', name], { cwd: app, env })
}

cpSync(join(root, 'examples/next'), app, {
  recursive: true,
  filter: (path) => !/[/\\](node_modules|\.next)$/.test(path),
})
mkdirSync(join(app, 'app/check'))
writeFileSync(join(app, 'app/check/route.js'), ROUTE)
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

install(tarball)
const sql = 'SQL over tables needs the package @duckdb/node-api, which is not installed'
await check(`${sql}: npm install @duckdb/node-api`)
install(`@duckdb/node-api@${manifest.devDependencies['@duckdb/node-api']}`)
await check([{ total: 4 }])

/** Builds and starts the app, and looks at what its routes and its page do. */
async function check(sql) {
  run(node, [next, 'build'], { cwd: app, env })
  const port = await freePort()
  const server = spawn(node, [next, 'start', '-p', String(port)], {
    ...{ cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] },
  })
  try {
    for await (const text of server.stdout) if (/Ready/.test(text)) break
    const url = `http://127.0.0.1:${port}`
    const answer = await fetch(`${url}/check`)
    assert.deepEqual(await answer.json(), { sql, status: 200 })
    await checkAgent(url)
    if (hasBrowser) await checkPage(url)
    else assert(!process.env.BYREF_REQUIRE_BROWSER, 'There is no browser for this machine')
  } finally {
    server.kill()
    await once(server, 'close')
  }
}

/** The agent of byref behind createChatHandler. */
async function checkAgent(url) {
  const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Take a picture' }] }
  const body = JSON.stringify({ id: crypto.randomUUID(), messages: [message] })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/agent`, { method: 'POST', headers, body })
  const text = await answer.text()
  assert.match(text, /"assetRef":"asset:/)
  assert.match(text, /Here it is\./)
}

/** Two turns of the page: the picture is shown from its URL, and is in no prompt, no request and no other response. */
async function checkPage(url) {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    const wire = []
    page.on('request', (request) => wire.push(request.postData() ?? ''))
    page.on('response', (response) => {
      wire.push(response.text().catch(() => ''))
    })
    await page.goto(url)
    for (const turn of [1, 2]) {
      await page.getByRole('button', { name: 'Take a picture' }).click()
      await page
        .getByText('The last prompt had')
        .nth(turn - 1)
        .waitFor()
    }
    const pictures = await page.getByRole('img', { name: 'stripes' }).all()
    assert.equal(pictures.length, 2)
    await page.waitForFunction(() => document.images[0].complete)
    const [width, src] = await pictures[0].evaluate((image) => [image.naturalWidth, image.src])
    assert.equal(width, 256)
    assert.match(src, /\/api\/assets\//)
    const prompts = await page.getByText('The last prompt had').allTextContents()
    const sizes = prompts.map((text) => Number(/\d+/.exec(text)?.[0]))
    assert(
      sizes.every((size) => size > 0 && size <= MOST_PROMPT),
      `Prompts of ${sizes} characters`,
    )
    const bytes = Buffer.from(await (await fetch(src)).arrayBuffer())
    const all = (await Promise.all(wire)).join('\n')
    // However many bytes are before it, base64 of the picture has one of these.
    for (const shift of [0, 1, 2]) {
      const part = bytes.subarray(9_000 + shift, 9_060 + shift).toString('base64')
      assert(!all.includes(part), 'The picture is on the wire as base64')
    }
    say(`a picture of ${bytes.length} bytes, prompts of ${sizes.join(' and ')} characters`)
  } finally {
    await browser.close()
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}
