import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { crashDuringEdits } from '../../scripts/torture/edits/edit-crash.ts'
import { crashAtPoints, crashAtRandom } from '../../scripts/torture/runs/crash.ts'
import { processes } from '../../scripts/torture/runs/processes.ts'
import { temporaryFolder } from './byref-process.ts'

// Short; the long runs are `node scripts/torture/runs/crash.ts`, `node scripts/torture/runs/processes.ts` and
// `node scripts/torture/edits/edit-crash.ts`.

const folder = temporaryFolder()
afterAll(folder.remove)

function newFolder(name: string): string {
  const path = join(folder.path, name)
  mkdirSync(path)
  return path
}

describe('a process that is killed in the middle of a run', () => {
  it('costs nothing, at points of its own choice', async () => {
    const { kills } = await crashAtPoints({ folder: newFolder('points'), every: 43 })
    expect(kills).toBeGreaterThan(3)
  })

  it('costs nothing, at random moments', async () => {
    const { kills, conversations } = await crashAtRandom({ folder: newFolder('random'), kills: 6 })
    expect(kills).toBe(6)
    expect(conversations).toBeGreaterThan(0)
  })
})

describe('a process that is killed in the middle of an edit', () => {
  it.each([
    { kind: 'files', every: 11 },
    { kind: 'table', every: 6 },
  ] as const)('leaves the old version or the new one: $kind', async ({ kind, every }) => {
    const folder = newFolder(`edits of ${kind}`)
    expect(await crashDuringEdits({ folder, kind, every })).toBeGreaterThan(1)
  })
})

describe('processes that work on the same conversations', () => {
  it.each([{ count: 2 }, { count: 8 }])(
    'run one at a time and agree, $count of them',
    async ({ count }) => {
      const options = { processes: count, conversations: 25, seconds: 4 / Math.sqrt(count) }
      const report = await processes({ folder: newFolder(`${count}`), ...options })
      expect(Math.min(report.messages, report.approvals, report.cancels)).toBeGreaterThan(0)
    },
  )
})
