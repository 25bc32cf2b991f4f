// Runs the service of worker.mjs on Miniflare, which runs Cloudflare's workerd.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const SIZE = 20_000_000
const TRANSFERS = 10
/**
 * Maximum additional memory for a transfer of 200 MB in both directions, in bytes. Miniflare keeps its R2 in the same
 * process.
 */
const MEMORY = 500_000_000

/** Bundles like Cloudflare's own tools: Node modules by their full name, and no other external modules. */
const nodeModules = {
  name: 'modules of Node',
  setup({ onResolve }) {
    const names = builtinModules.filter((name) => !name.startsWith('_'))
    onResolve({ filter: new RegExp(`^(${names.join('|')})$`) }, ({ path }) => ({
      path: `node:${path}`,
      external: true,
    }))
  },
}
const { outputFiles } = await build({
  entryPoints: ['worker.mjs'],
  bundle: true,
  format: 'esm',
  platform: 'browser',
  write: false,
  logLevel: 'error',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['node:*', 'cloudflare:*'],
  plugins: [nodeModules],
})
const miniflare = new Miniflare({
  modules: [{ type: 'ESModule', path: 'worker.mjs', contents: outputFiles[0].text }],
  compatibilityDate: '2026-07-01',
  compatibilityFlags: ['nodejs_compat'],
  r2Buckets: ['MEDIA'],
})

async function fetched(path, init) {
  const response = await miniflare.dispatchFetch(`http://service${path}`, init)
  if (!response.ok) throw new Error(await response.text())
  return response
}

/** Returns the maximum memory of the largest workerd process so far, in bytes. 0 without /proc. */
function peak() {
  const peaks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((id) => {
      try {
        const status = readFileSync(`/proc/${id}/status`, 'utf8')
        if (!/^Name:\tworkerd$/m.test(status)) return 0
        return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
      } catch {
        return 0
      }
    })
  return Math.max(0, ...peaks)
}

try {
  const here = await (await fetched('/run')).json()
  assert.match(here.sqlite, /^dependency_missing: This needs node:sqlite/)
  console.log('workerd', JSON.stringify(here.prompts))
  const bytes = randomBytes(SIZE)
  const digest = createHash('sha256').update(bytes).digest('hex')
  const before = peak()
  let ref
  for (let i = 0; i < TRANSFERS; i++) {
    const saved = await (await fetched('/', { method: 'PUT', body: bytes })).json()
    assert.equal(saved.size, SIZE)
    ref = saved.ref
    const hash = createHash('sha256')
    const file = await fetched(`/assets/${encodeURIComponent(ref)}`)
    for await (const chunk of file.body) hash.update(chunk)
    assert.equal(hash.digest('hex'), digest)
  }
  const grown = peak() - before
  const range = { headers: { range: 'bytes=7-106' } }
  const part = await (await fetched(`/assets/${encodeURIComponent(ref)}`, range)).arrayBuffer()
  assert.deepEqual(Buffer.from(part), bytes.subarray(7, 107))
  const told = await (await fetched(`/ask?ref=${ref}`)).json()
  assert.deepEqual({ text: told.text, bytes: told.bytes }, { text: 'Done.', bytes: SIZE })
  assert.ok(told.prompt < 6_000, `the prompt has ${told.prompt} characters`)
  console.log(
    `R2: ${TRANSFERS} times ${SIZE / 1e6} MB up and down, ${Math.round(grown / 1e6)} MB of memory`,
  )
  assert.ok(grown < MEMORY, `${grown} bytes of memory`)
} finally {
  await miniflare.dispose()
}
