import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ByrefError } from '../../errors.ts'
import type { FullAssetStore } from '../asset-store.ts'
import { sha256 } from '../bodies/digest.ts'
import type { S3Connector } from '../bodies/s3/connector.ts'
import { memoryConnector } from '../fixtures/stores.ts'
import { bucketRecords } from '../records/bucket-records.ts'
import { createS3AssetStore } from './s3.ts'

const random = (below: number) => Math.floor(Math.random() * below)

/** The connector, each of whose requests takes some turns before and after the server does it. */
function slow(connector: S3Connector, { isConditional }: { isConditional: boolean }): S3Connector {
  function late<A, R>(run: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
    return async (argument) => {
      for (let i = random(4); i > 0; i--) await turn()
      const result = await run(argument)
      for (let i = random(4); i > 0; i--) await turn()
      return result
    }
  }
  return {
    ...connector,
    put: late((object) => {
      if (isConditional || !object.ifAbsent) return connector.put(object)
      throw new ByrefError('asset_unsupported', 'no conditional writes')
    }),
    get: late(connector.get),
    delete: late(connector.delete),
    list: late(connector.list),
  }
}

/** Few bodies, parts and ids, so that stores meet on them. */
async function save(store: FullAssetStore): Promise<string | null> {
  const part = Buffer.from(`part ${random(3)}`)
  const isLong = random(2) === 0
  const body = Buffer.from(isLong ? 'long'.repeat(20_000) : `body ${random(4)}`)
  try {
    const saved = await store.save(isLong ? new Blob([body]).stream() : body, 'text/plain', {
      assetId: random(2) === 0 ? `chosen${random(4)}` : undefined,
      parts: random(2) === 0 ? [{ digest: sha256(part), bytes: part }] : [],
    })
    return saved.assetId
  } catch (error) {
    if (error instanceof ByrefError && error.code === 'asset_exists') return null
    throw error
  }
}

async function problems(store: FullAssetStore): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const one of store.verify()) if (one.problem !== null) found.push(one)
  return found
}

describe.each([
  ['with conditional writes', true],
  ['without', false],
])('processes that share a bucket %s', (_, isConditional) => {
  it('agree on the index that bodies belong to', async () => {
    for (let round = 0; round < 20; round++) {
      const connector = memoryConnector()
      const opening = Array.from({ length: 4 }, () =>
        bucketRecords({ bucket: 'b', connector: slow(connector, { isConditional }) }).open(),
      )
      expect(new Set(await Promise.all(opening)).size).toBe(1)
    }
  })

  it('lose no body and no asset to each other', async () => {
    for (let round = 0; round < 12; round++) {
      const connector = memoryConnector()
      const stores = Array.from({ length: 3 }, () =>
        createS3AssetStore({ bucket: 'b', connector: slow(connector, { isConditional }) }),
      )
      /** By id, how often it was saved, less how often somebody says to have removed it. */
      const lives = new Map<string, number>()
      const count = (id: string, by: number) => lives.set(id, (lives.get(id) ?? 0) + by)
      const work = async (store: FullAssetStore) => {
        for (let i = 0; i < 25; i++) {
          const dice = random(100)
          if (dice < 55) {
            const id = await save(store)
            if (id) count(id, 1)
          } else if (dice < 85) {
            const { records } = await store.list()
            const id = records[random(records.length)]?.assetId
            if (id && (await store.delete(id))) count(id, -1)
          } else if (dice < 95) expect(await problems(store)).toEqual([])
          else await store.sweep({ graceMs: 0 })
        }
      }
      await Promise.all([...stores, ...stores].map(work))

      const store = createS3AssetStore({ bucket: 'b', connector })
      const there = new Set((await store.list({ limit: 1000 })).records.map((one) => one.assetId))
      // Of two that remove one asset at once, both may be told that they did.
      for (const [id, left] of lives) if (left > 0) expect(there).toContain(id)
      const later = Date.now() + 48 * 3_600_000
      for (let i = 0; i < 2; i++) await store.sweep({ now: later })
      expect(await problems(store)).toEqual([])
      expect((await store.usage()).assets).toBe(there.size)
      for (const id of there) expect(await store.delete(id)).toBe(true)
      expect([...connector.objects.keys()].filter((key) => key.includes('bodies/_'))).toEqual([])
    }
  })
})
