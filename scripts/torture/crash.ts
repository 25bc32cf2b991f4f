// node scripts/torture/crash.ts [rounds=50] [saves=1000]: kills a process that saves, again and again, and looks at what
// is left.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFsAssetStore } from '../../src/assets/stores/fs/fs.ts'
import { bodyOf, digestOf } from './bodies.ts'
import { assertNoLeftovers, assertSoundFolder } from './sound.ts'

/** What all rounds together did. */
export interface CrashReport {
  rounds: number
  givenOut: number
  deleted: number
}

/**
 * Kills a saving process `rounds` times at random, each time in the same folder. After each: every id that was given out
 * is whole, every visible asset is, leftovers are swept, and nothing is there that nobody needs.
 */
export async function crash(options: {
  rounds: number
  saves: number
  folder: string
  log?: (line: string) => void
}): Promise<CrashReport> {
  const { rounds, saves, folder, log = () => {} } = options
  const expected = new Map<string, string>()
  let deleted = 0
  for (let round = 0; round < rounds; round++) {
    const lines = await runUntilKilled(folder, round * saves, saves)
    const gone = new Set(lines.flatMap((line) => line.match(/^deleted (\S+)$/)?.[1] ?? []))
    const killedInDelete: string[] = []
    for (const line of lines) {
      const [number = '', size = '', id] = line.split(' ')
      if (!id || !/^\d+$/.test(number) || gone.has(id)) continue
      if (Number(number) % 5 === 0) killedInDelete.push(id)
      expected.set(
        id,
        digestOf(bodyOf(Number(number) % 7 === 0 ? 0 : Number(number), Number(size))),
      )
    }
    deleted += gone.size

    const store = createFsAssetStore({ rootDir: folder })
    await store.ready()
    // One that was being removed when the process died may be there or not; then it is whole or gone.
    for (const id of killedInDelete) if (!(await store.info(id))) expected.delete(id)
    for (const [id, digest] of expected) {
      const { bytes } = await store.get(id)
      assert.equal(digestOf(bytes), digest, `asset ${id} is whole`)
    }
    const { assets } = await store.usage()
    assert.ok(assets >= expected.size, `${assets} assets, ${expected.size} given out`)
    assert.ok(assets <= expected.size + 12 * (round + 1), 'no more than were being saved')
    // Stores of this process are alive: each has a folder of its own, and nothing in it.
    await assertNoLeftovers(folder, round + 1)
    await assertSoundFolder(folder, store)
    log(
      `round ${round + 1}: ${lines.length - 1} lines, ${expected.size} assets to keep, ${assets} there`,
    )
  }
  return { rounds, givenOut: expected.size, deleted }
}

/** Starts the child, kills it at a random moment of its work, and gives the whole lines that it wrote. */
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
