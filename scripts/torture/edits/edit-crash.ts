// node scripts/torture/edits/edit-crash.ts [every=1]: kills processes during edits, at each append and each step of a
// save, and checks what is left.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  assertSoundEdits,
  assertWholeAssets,
  DOCUMENTS,
  openEditWorld,
  playEdits,
  prepareEdits,
} from './edit-world.ts'

/**
 * Kills a process at each point of its edits, or at every n-th, in its own folder. Checks that what it left is
 * complete, and that this process can continue. Returns the number of kills.
 */
export async function crashDuringEdits({
  folder,
  kind,
  every,
}: {
  folder: string
  kind: keyof typeof DOCUMENTS
  every: number
}): Promise<number> {
  const documents = DOCUMENTS[kind]
  const start = join(folder, kind)
  await prepareEdits(start, documents)
  let kills = 0
  for (let point = 1; ; point += every) {
    const own = `${start}-${point}`
    await cp(start, own, { recursive: true })
    const isKilled = await runChild(own, kind, point)
    try {
      await assertWholeAssets(own, documents)
      await playEdits(openEditWorld(own, documents))
      await assertSoundEdits(own, documents)
    } catch (error) {
      throw new Error(`Killed at point ${point} of ${kind}: ${error}`, { cause: error })
    }
    await rm(own, { recursive: true })
    if (!isKilled) return kills
    kills++
  }
}

/** Runs a child until it ends or dies. Returns true if it was killed. */
async function runChild(folder: string, kind: string, point: number): Promise<boolean> {
  const file = join(import.meta.dirname, 'edit-child.ts')
  const child = spawn(process.execPath, [...process.execArgv, file, folder, kind, `${point}`], {
    stdio: 'inherit',
  })
  const [code, signal] = await once(child, 'exit')
  assert.ok(code === 0 || signal === 'SIGKILL', `the child ended with ${code ?? signal}`)
  return signal === 'SIGKILL'
}

if (import.meta.main) {
  const every = Number(process.argv[2] ?? 1)
  const folder = await mkdtemp(join(tmpdir(), 'byref-edits-'))
  for (const kind of ['files', 'table'] as const) {
    console.log(kind, await crashDuringEdits({ folder, kind, every }), 'kills')
  }
  await rm(folder, { recursive: true, force: true })
}
