import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { testFolder } from '../../fixtures/stores.ts'
import { createSettler } from './journal.ts'
import { fsLayout } from './layout.ts'

const layout = fsLayout(testFolder())
const nothing = { records: [], bodies: new Map() }

async function journals(): Promise<number> {
  return (await readdir(layout.writers)).length
}

describe('createSettler', () => {
  afterEach(() => void vi.useRealTimers())

  it('settles when no journal has come for a while, or after some seconds when one always comes', async () => {
    await mkdir(layout.writers, { recursive: true })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const settler = createSettler(layout)
    const counts: number[] = []
    for (let i = 0; i < 120; i++) {
      const path = join(layout.writers, `${i}.journal`)
      await writeFile(path, '')
      await settler.add(path, nothing, 10)
      await vi.advanceTimersByTimeAsync(50)
      if (i % 10 === 9) counts.push(await journals())
    }
    expect(counts.slice(0, 9)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90])
    await vi.waitFor(async () => expect(await journals()).toBeLessThan(30))
    await vi.advanceTimersByTimeAsync(100)
    await vi.waitFor(async () => expect(await journals()).toBe(0))
  })

  it('does not take in more than 64 MiB', async () => {
    const settler = createSettler(layout)
    for (let i = 0; i < 5; i++) {
      const path = join(layout.writers, `${i}.journal`)
      await writeFile(path, '')
      await settler.add(path, nothing, 16 * 1024 * 1024)
    }
    expect(await journals()).toBe(0)
  })
})
