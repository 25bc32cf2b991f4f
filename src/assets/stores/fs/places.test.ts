import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testFolder } from '../../fixtures/stores.ts'
import { newStoredRecord } from '../stored-record.ts'
import { fsLayout } from './layout.ts'
import { createPlaces } from './places.ts'

const layout = fsLayout(testFolder())
const { record: pathOf, records } = layout.space(null)

async function write(assetId: string, day: number): Promise<void> {
  const createdAt = `2026-01-0${day}T00:00:00.000Z`
  const record = newStoredRecord({ digest: '', size: 0 }, 'text/plain', { assetId, createdAt })
  const path = pathOf(assetId)
  await mkdir(dirname(path), { recursive: true })
  await rm(path, { force: true })
  await writeFile(path, JSON.stringify(record))
}

/** As if nothing had changed in the folders for a minute. */
async function age(): Promise<void> {
  const old = new Date(Date.now() - 60_000)
  for (const shard of await readdir(records)) await utimes(join(records, shard), old, old)
}

describe('createPlaces', () => {
  it('sees what is new, what went, and what came in place of another', async () => {
    const placesOf = createPlaces(layout)
    const days = async () => {
      const places = await placesOf(null)
      return places.map(({ assetId, createdAt }) => `${assetId} ${createdAt.slice(8, 10)}`).sort()
    }
    expect(await days()).toEqual([])
    await write('a', 1)
    await write('b', 2)
    for (let round = 0; round < 3; round++) {
      expect(await days()).toEqual(['a 01', 'b 02'])
      await age()
    }
    await write('a', 3)
    expect(await days()).toEqual(['a 03', 'b 02'])
    await write('a', 4)
    await rm(pathOf('b'))
    expect(await days()).toEqual(['a 04'])
    await writeFile(pathOf('a'), '{"half":')
    await age()
    await createPlaces(layout)(null)
    await rm(records, { recursive: true })
    expect(await days()).toEqual([])
  })
})
