import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  assertSoundEdits,
  assertWholeAssets,
  DOCUMENTS,
  openEditWorld,
  playEdits,
  prepareEdits,
} from '../../scripts/torture/edits/edit-world.ts'
import { createLife } from '../../scripts/torture/runs/life.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-edits-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a process that dies during edits', () => {
  it.each([
    { kind: 'files', least: 40, atOnce: 8, every: 1 },
    // Dead lives keep the processes of their queries until they are released. A query takes long, so only every third
    // point is used; `node scripts/torture/edits/edit-crash.ts` kills at all of them.
    { kind: 'table', least: 12, atOnce: 1, every: 3 },
  ] as const)('leaves old versions or new ones, and goes on: $kind', async (test) => {
    const { kind, least, atOnce, every } = test
    const documents = DOCUMENTS[kind]
    const start = join(folder, kind)
    await prepareEdits(start, documents)

    /** Dies at a point, and continues. Returns false if the conversation ended before the point. */
    async function dies(point: number): Promise<boolean> {
      const own = `${start}-${point}`
      await cp(start, own, { recursive: true })
      const life = createLife(point)
      const released = new AbortController()
      const world = openEditWorld(own, documents, life, released.signal)
      const played = playEdits(world).then(() => false)
      const isDead = await Promise.race([played, life.ended.then(() => true)])
      try {
        await assertWholeAssets(own, documents)
        await playEdits(openEditWorld(own, documents))
        await assertSoundEdits(own, documents)
      } catch (error) {
        throw new Error(`After a death at ${point}: ${error}`, { cause: error })
      } finally {
        released.abort()
      }
      return isDead
    }

    for (let first = 1; ; first += atOnce * every) {
      const points = Array.from({ length: atOnce }, (_, i) => first + i * every)
      const ends = await Promise.all(points.map(dies))
      const alive = ends.indexOf(false)
      if (alive === -1) continue
      expect(first + (alive - 1) * every).toBeGreaterThan(least)
      break
    }
  })
})
