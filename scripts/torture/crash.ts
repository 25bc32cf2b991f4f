// node scripts/torture/crash.ts [rounds=50] [saves=1000]: kills a saving process again and again, and checks what is
// left.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FullAssetStore } from '../../src/assets/asset-store.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { digestOf } from '../../src/testing/asset-store/check.ts'
import { numberedAsset } from './numbered-asset.ts'
import { assertSoundFolder } from './sound.ts'

/** What all rounds together did. */
export interface CrashReport {
  rounds: number
  givenOut: number
  deleted: number
}

const AT_ONCE = 12
/** Older assets are removed, so that the last round takes no longer than the fifth. */
const ROUNDS_KEPT = 4
const BASE_URL = 'https://example.com'

/**
 * Kills a saving process `rounds` times at random, each time in the same folder. After each kill: every reported
 * asset is complete, with its parts and under its URL, so is every visible asset, leftovers are swept, and nothing
 * unneeded is left.
 */
export async function crash(options: {
  rounds: number
  saves: number
  folder: string
  log?: (line: string) => void
}): Promise<CrashReport> {
  const { rounds, saves, folder, log = () => {} } = options
  /** Ids by number of the assets that were reported and not removed. */
  const expected = new Map<number, string>()
  let givenOut = 0
  let deleted = 0
  for (let round = 0; round < rounds; round++) {
    const lines = await runUntilKilled(folder, round * saves, saves)
    const gone = new Set(lines.flatMap((line) => line.match(/^deleted (\d+)$/)?.[1] ?? []))
    for (const line of lines) {
      const [, number, id] = line.match(/^(\d+) (\S+)$/) ?? []
      if (number && id && !gone.has(number)) expected.set(Number(number), id)
    }

    const store = createFsAssetStore({ rootDir: folder, baseUrl: BASE_URL })
    await store.ready()
    for (const [number, id] of expected) {
      const { namespace, removed } = numberedAsset(number)
      // An asset that was being removed when the process died may exist or not. If it exists, it is complete.
      if (removed && !(await store.info(id, { namespace }))) expected.delete(number)
      else await assertWhole(store, folder, { number, id })
    }
    const counts = [await store.usage(), await store.usage({ namespace: 'other' })]
    const assets = counts.reduce((sum, usage) => sum + usage.assets, 0)
    assert.ok(assets >= expected.size, `${assets} assets, ${expected.size} given out`)
    assert.ok(assets <= expected.size + AT_ONCE * (round + 1), 'no more than were being saved')
    await assertSoundFolder(folder, store)
    log(
      `round ${round + 1}: ${lines.length - 1} lines, ${expected.size} assets to keep, ${assets} there`,
    )
    givenOut += lines.length - 1 - gone.size
    deleted += gone.size + (await removeOlder(store, expected, (round - ROUNDS_KEPT) * saves))
    await store.close?.()
  }
  return { rounds, givenOut, deleted }
}

async function removeOlder(
  store: FullAssetStore,
  expected: Map<number, string>,
  first: number,
): Promise<number> {
  const old = [...expected].filter(([number]) => number < first)
  for (const [number, id] of old) {
    assert.ok(await store.delete(id, { namespace: numberedAsset(number).namespace }))
    expected.delete(number)
  }
  return old.length
}

async function assertWhole(
  store: FullAssetStore,
  folder: string,
  asset: { number: number; id: string },
): Promise<void> {
  const { number, id } = asset
  const { body, namespace, parts } = numberedAsset(number)
  const { bytes } = await store.get(id, { namespace })
  assert.equal(digestOf(bytes), digestOf(body), `asset ${number} is whole`)
  for (const { digest } of parts) {
    const opened = await store.open(id, { namespace, part: digest })
    const part = new Uint8Array(await new Response(opened?.stream).arrayBuffer())
    assert.equal(digestOf(part), digest, `a part of asset ${number} is whole`)
  }
  const url = await store.urlFor(id, { namespace })
  const published = await readFile(join(folder, 'bodies', url.slice(BASE_URL.length)))
  assert.equal(digestOf(published), digestOf(body), `asset ${number} is whole under its URL`)
}

/** Starts the child, kills it at a random moment of its work, and returns the complete lines that it printed. */
async function runUntilKilled(folder: string, first: number, saves: number): Promise<string[]> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'crash-child.ts'), folder, String(first), String(saves)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  const after = 1 + Math.floor(Math.random() * saves)
  const ended = new Promise<void>((go) => child.once('exit', () => go()))
  for await (const chunk of child.stdout) {
    output += chunk
    if (output.split('\n').length <= after) continue
    await new Promise((go) => setTimeout(go, Math.random() * 5))
    child.kill('SIGKILL')
  }
  await ended
  return output.split('\n').slice(0, -1)
}

if (import.meta.main) {
  const [rounds = 50, saves = 1000] = process.argv.slice(2).map(Number)
  const folder = await mkdtemp(join(tmpdir(), 'byref-crash-'))
  console.log(await crash({ rounds, saves, folder, log: console.log }))
  await rm(folder, { recursive: true, force: true })
}
