// Checks the chat of create-byref with the packed package, with and without DuckDB: built by Next.js, started, and
// opened in Chromium. Run by check-create.mjs.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasBrowser, openBrowser } from '../test/e2e/browser.ts'
import { freePort } from './free-port.ts'
import { environment, node, QUIET, root, run, say } from './setup.mjs'

/** Two questions with two previews. The rows have 477,082 characters, and the chart has 103,489. */
const MOST_PROMPT = 20_000

/** A route beside those of the app. It needs optional peers, and files of the package, in a bundle. */
const ROUTE = `
import { generateText, stepCountIs, tool } from 'ai'
import { createAssets } from 'byref'
import { byReference } from 'byref/ai-sdk'
import { createServer } from 'byref/server'
import { createSqliteLog } from 'byref/sqlite'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'
import { getAgent } from '../../lib/agent'

export async function GET() {
  const assets = createAssets()
  const csv = new TextEncoder().encode('a,b\\n1,2\\n3,4\\n')
  const { table } = await assets.importFile(csv, { name: 'x.csv' })
  const sql = await assets
    .query({ sql: \`select sum(a) as total from "\${table.ref}"\` })
    .then(async ({ ref }) => (await assets.resolve(ref)).rows, ({ message }) => message)
  await createSqliteLog(':memory:').close()
  const agent = getAgent()
  const { status } = await createServer({ agent }).fetch(
    new Request('http://127.0.0.1/api/conversations'),
  )
  return Response.json({ sql, status, photo: await takePicture() })
}

/** The prompts of the agent's model. */
export function POST() {
  const prompts = getAgent().model.requests.map(({ prompt }) => JSON.stringify(prompt).length)
  return Response.json(prompts)
}

async function takePicture() {
  const refs = byReference({ outputs: 'references' })
  const camera = tool({
    inputSchema: z.object({}),
    execute: () => ({ photo: new Uint8Array(100_000) }),
  })
  const { steps } = await generateText({
    model: refs.model(scriptedModel([{ calls: [{ name: 'camera', arguments: {} }] }, 'Done.'])),
    tools: refs.tools({ camera }),
    prompt: 'Take a picture',
    stopWhen: stepCountIs(2),
  })
  return steps[0].toolResults[0].output.photo
}
`

/** Builds, starts and opens the app in a folder with installed packages. */
export async function checkNext(app) {
  const env = environment({ NEXT_TELEMETRY_DISABLED: '1' })
  mkdirSync(join(app, 'app/check'))
  writeFileSync(join(app, 'app/check/route.js'), ROUTE)
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const sql = 'SQL over tables needs the package @duckdb/node-api, which is not installed'
  await check({ app, env, sql: `${sql}: npm install @duckdb/node-api` })
  const duckdb = `@duckdb/node-api@${manifest.devDependencies['@duckdb/node-api']}`
  const install = ['install', ...QUIET, duckdb]
  run('npm', install, { cwd: app, env })
  await check({ app, env, sql: [{ total: 4 }] })
}

/** Builds and starts the app, and checks its routes and its page. */
async function check({ app, env, sql }) {
  const next = join(app, 'node_modules/next/dist/bin/next')
  run(node, [next, 'build'], { cwd: app, env })
  const port = await freePort()
  const server = spawn(node, [next, 'start', '-H', '127.0.0.1', '-p', String(port)], {
    cwd: app,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    for await (const text of server.stdout) if (/Ready/.test(text)) break
    const url = `http://127.0.0.1:${port}`
    const answer = await fetch(`${url}/check`)
    const { photo, ...rest } = await answer.json()
    assert.deepEqual(rest, { sql, status: 200 })
    assert.match(photo.assetRef, /^asset:\/\/\w+$/)
    await checkAgent(url)
    if (hasBrowser) await checkPage(url)
    else assert(!process.env.BYREF_REQUIRE_BROWSER, 'There is no browser for this machine')
  } finally {
    server.kill()
    await once(server, 'close')
  }
}

/** A question by HTTP, as `useChat` sends it. */
async function checkAgent(url) {
  const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Chart a year' }] }
  const body = JSON.stringify({ id: crypto.randomUUID(), messages: [message] })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/api/chat`, { method: 'POST', headers, body })
  const chunks = (await answer.text())
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)))
  const chart = chunks.find(({ type, data }) => type === 'data-asset' && data.kind === 'image')
  const image = await fetch(new URL(chart.data.url, url))
  assert.equal(image.headers.get('content-type'), 'image/svg+xml')
  assert.equal((await image.text()).length, chart.data.size)
  const text = chunks.map(({ type, delta }) => (type === 'text-delta' ? delta : '')).join('')
  assert.match(text, /Here it is\./)
}

/** Two turns of the page: the chart is shown from its URL, and is in no prompt, no request and no other response. */
async function checkPage(url) {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    const wire = []
    page.on('request', (request) => wire.push(request.postData() ?? ''))
    page.on('response', (response) => {
      if (!response.url().includes('/api/assets/')) wire.push(response.text().catch(() => ''))
    })
    await page.goto(url)
    for (const turn of [1, 2]) {
      await page.getByRole('textbox', { name: 'Message' }).fill('Chart a year')
      await page.getByRole('button', { name: 'Send' }).click()
      await answersOn(page)
        .nth(turn - 1)
        .waitFor()
    }
    const src = await chartOn(page)
    await page.reload()
    await answersOn(page).nth(1).waitFor()
    assert.equal(await chartOn(page), src)
    const asked = await fetch(`${url}/check`, { method: 'POST' })
    const sizes = (await asked.json()).slice(-4)
    assert(
      sizes.every((size) => size > 0 && size <= MOST_PROMPT),
      `Prompts of ${sizes} characters`,
    )
    const bytes = Buffer.from(await (await fetch(src)).arrayBuffer())
    const all = (await Promise.all(wire)).join('\n')
    assert(!all.includes(bytes.toString('utf8', 9_000, 9_060)), 'The chart is on the wire')
    // With any number of bytes before it, base64 of the chart contains one of these.
    for (const shift of [0, 1, 2]) {
      const part = bytes.subarray(9_000 + shift, 9_060 + shift).toString('base64')
      assert(!all.includes(part), 'The chart is on the wire as base64')
    }
    say(`a chart of ${bytes.length} bytes, prompts of ${sizes.join(', ')} characters`)
  } finally {
    await browser.close()
  }
}

function answersOn(page) {
  return page.getByText('My prompt had')
}

/** Resolves to the URL of the first of two charts, when it is loaded. */
async function chartOn(page) {
  await page.waitForFunction(() => document.images.length === 2 && document.images[0].complete)
  const found = await page.evaluate(() => [document.images[0].naturalWidth, document.images[0].src])
  const [width, src] = found
  assert.equal(width, 800)
  assert.match(src, /\/api\/assets\//)
  return src
}
