import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ModelMessage } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { noisePng } from '../../prompt/fixtures/bodies.ts'

// The real Workflow SDK: its compiler and its local world, which stores each step in files.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const GAUGE = 'workflow//./gauge-workflow//gauge'

// Inside the project, because bundles import packages.
mkdirSync(join(root, '.cache'), { recursive: true })
const base = mkdtempSync(join(root, '.cache', 'workflow-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const flags = ['--conditions=byref-source', '--no-warnings']
const bundles = join(base, 'bundles')
beforeAll(async () => {
  const program = fileURLToPath(new URL('fixtures/build-workflow.ts', import.meta.url))
  const gauge = fileURLToPath(new URL('fixtures/gauge', import.meta.url))
  await promisify(execFile)(process.execPath, [...flags, program, gauge, bundles])
})

const programOf = (folder: string, how: readonly string[]) => [
  ...flags,
  fileURLToPath(new URL('fixtures/run-workflow.ts', import.meta.url)),
  join(bundles, 'workflows.mjs'),
  folder,
  ...how,
]
const envOf = (folder: string, settings: Record<string, string>) => ({
  ...process.env,
  GAUGE_FOLDER: folder,
  // A step is stored before it runs.
  WORKFLOW_OPTIMISTIC_INLINE_START: '0',
  ...settings,
})

/** A step belongs to the process that began it. After this time, another process may run it. */
const TAKING_OVER = { WORKFLOW_INLINE_OWNERSHIP_LEASE_SECONDS: '1' }

/** Runs a workflow in its own process until it has returned. */
async function run(folder: string, how: readonly string[], settings: Record<string, string> = {}) {
  const options = { env: envOf(folder, settings), timeout: 120_000 }
  const { stdout } = await promisify(execFile)(process.execPath, programOf(folder, how), options)
  const { result, streamed } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  return { messages: result as ModelMessage[], streamed: streamed as { type: string }[] }
}

const starting = (content: unknown = 'Go') => [
  'start',
  GAUGE,
  JSON.stringify([{ role: 'user', content }]),
]
const PICTURE = Buffer.from(await noisePng(256))

const newFolder = () => mkdtempSync(join(base, 'run-'))
const linesOf = (folder: string, file: string) =>
  readFileSync(join(folder, file), 'utf8').trim().split('\n')

function resultsIn(messages: readonly ModelMessage[]): unknown[] {
  return messages.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.flatMap((part) => (part.type === 'tool-result' ? Object(part.output).value : []))
      : [],
  )
}

/** The number of bytes that the Workflow SDK stored. */
function storedIn(folder: string): number {
  const files = globSync('world/**', { cwd: folder }).map((file) => statSync(join(folder, file)))
  return files.reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
}

describe('durableOptions in WorkflowAgent', () => {
  it('continues in another process after a kill, with references in all steps', async () => {
    const folder = newFolder()
    await expect(run(folder, starting(), { GAUGE_DIES: 'size' })).rejects.toMatchObject({
      signal: 'SIGKILL',
    })
    const { messages, streamed } = await run(folder, ['go on'], TAKING_OVER)
    const [one, two, rows, size, count, missing] = resultsIn(messages)
    const ref = expect.stringMatching(/^asset:\/\//)
    expect(one).toEqual({ gauge: 1, assetRef: ref, mimeType: 'image/png', kind: 'image' })
    expect(two).toMatchObject({ gauge: 2, assetRef: ref })
    expect(rows).toMatchObject({ assetRef: ref, offloaded: true, preview: expect.anything() })
    expect([size, count]).toEqual(['1000000 bytes', '20000 rows'])
    expect(missing).toContain('There is no asset "nothing"')
    // Only the call during which the process died runs again.
    const [first, second, ...sizes] = linesOf(folder, 'calls').sort()
    expect([first, second]).toEqual(['photograph 1', 'photograph 2'])
    expect(sizes.length).toBeGreaterThan(1)
    expect(storedIn(folder)).toBeLessThan(200_000)
    const types = streamed.map(({ type }) => type)
    expect(types.filter((type) => type === 'tool-result')).toHaveLength(5)
    expect(types).toEqual(expect.arrayContaining(['tool-call', 'text-delta', 'tool-error']))
    expect(JSON.stringify(streamed).length).toBeLessThan(20_000)
    const { assetRef } = Object(one)
    const rootDir = join(folder, 'assets')
    const { bytes } = await createAssets({ config: { backend: 'fs', fs: { rootDir } } }).get(
      assetRef,
    )
    expect(bytes).toHaveLength(1_000_000)
  })

  it('asks the tool about values, waits for a person, and is continued by another process', async () => {
    const folder = newFolder()
    const settings = { GAUGE_SCRIPT: 'approve' }
    const first = spawn(process.execPath, programOf(folder, [...starting(), '1-publish-0']), {
      env: envOf(folder, settings),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const text of first.stdout) if (`${text}`.includes('waiting')) break
    const isOver = once(first, 'exit')
    first.kill('SIGKILL')
    await isOver
    const how = ['go on', '1-publish-0']
    const { messages } = await run(folder, how, { ...settings, ...TAKING_OVER })
    expect(resultsIn(messages)[1]).toBe('1000000 bytes published')
    expect(storedIn(folder)).toBeLessThan(200_000)
  })

  it('shows models the images that people refer to, and stores their references only', async () => {
    const folder = newFolder()
    const rootDir = join(folder, 'assets')
    const { ref } = await createAssets({ config: { backend: 'fs', fs: { rootDir } } }).save(PICTURE)
    const text = { type: 'text', text: 'What do you see?' }
    const content = [text, { type: 'file', data: ref, mediaType: 'image/png' }]
    const { messages } = await run(folder, starting(content), { GAUGE_SCRIPT: 'see' })
    expect(messages.at(-1)?.content).toEqual([{ type: 'text', text: 'I see it.' }])
    const [prompt] = linesOf(folder, 'requests')
    expect(prompt?.includes(PICTURE.toString('base64'))).toBe(true)
    expect(storedIn(folder)).toBeLessThan(100_000)
  })

  it('shows models the names of results and how to read long ones', async () => {
    const folder = newFolder()
    await run(folder, starting())
    const [first, second, third] = linesOf(folder, 'requests').map((line) => JSON.parse(line))
    expect(first.tools).toEqual(['photograph', 'rows', 'count', 'size', 'publish'])
    expect(second.prompt).toContain('†result#3')
    expect(second.prompt).toContain('## References')
    expect(third.tools).toEqual(expect.arrayContaining(['fetch_asset', 'search_asset']))
  })
})
