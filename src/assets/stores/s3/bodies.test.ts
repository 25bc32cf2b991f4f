import { describe, expect, it } from 'vitest'
import { newRecord } from '../../asset-record.ts'
import { sha256 } from '../../bodies/digest.ts'
import { memoryConnector } from '../../fixtures/stores.ts'
import { nonce } from '../../nonce.ts'
import type { StoredRecord } from '../stored-record.ts'
import { holdBody, releaseBodies, restoreBody, type S3Bucket } from './bodies.ts'
import type { S3Connector } from './connector.ts'
import { s3Space } from './layout.ts'

const space = s3Space('', null)

/** A bucket whose requests take a while, each another. */
function slowBucket(): S3Bucket & { keys(): string[] } {
  const memory = memoryConnector()
  const slow = (run: (argument: never) => Promise<unknown>) => async (argument: never) => {
    await pause(30)
    const result = await run(argument)
    await pause(30)
    return result
  }
  const connector = Object.fromEntries(
    Object.entries(memory).map(([name, run]) => [
      name,
      typeof run === 'function' ? slow(run) : run,
    ]),
  ) as unknown as S3Connector
  return { connector, bucket: 'b', keys: () => [...memory.objects.keys()].sort() }
}

/** Mostly short, now and then long, so that anything can overtake anything. */
function pause(most: number): Promise<void> {
  return new Promise((go) => setTimeout(go, Math.random() ** 3 * most))
}

async function hold(at: S3Bucket, body: string): Promise<StoredRecord> {
  const about = { digest: sha256(body), size: body.length }
  const record = { ...newRecord(about, 'text/plain', {}), holder: nonce() }
  const write = async (key: string) => {
    const bytes = Buffer.from(body)
    await at.connector.put({ bucket: at.bucket, key, body: bytes, contentType: 'text/plain' })
  }
  await holdBody(at, space, { ...about, holder: record.holder, write })
  return record
}

describe('holdBody and releaseBodies on s3', () => {
  it.each([1, 2, 3])(
    'leave exactly what is held, with %i removers and a saver',
    async (removers) => {
      await Promise.all(
        Array.from({ length: 400 }, async (_, round) => {
          const at = slowBucket()
          const body = `body ${round}`
          const digest = sha256(body)
          const held = await Promise.all(Array.from({ length: removers }, () => hold(at, body)))
          const saving = pause(60).then(() => hold(at, body))
          await Promise.all(
            held.map((record) => pause(30).then(() => releaseBodies(at, space, record))),
          )
          const { holder } = await saving
          expect(at.keys()).toEqual([space.body(digest), `${space.refsOf(digest)}${holder}`].sort())
          await Promise.all([
            releaseBodies(at, space, await hold(at, body)),
            saving.then((record) => releaseBodies(at, space, record)),
          ])
          expect(at.keys()).toEqual([])
        }),
      )
    },
    30_000,
  )

  it('put a body back that a killed remover left aside', async () => {
    const at = slowBucket()
    const { digest } = await hold(at, 'x')
    await at.connector.copy({
      bucket: 'b',
      key: space.body(digest),
      to: `${space.asideOf(digest)}1`,
    })
    await at.connector.delete({ bucket: 'b', key: space.body(digest) })
    expect(await restoreBody(at, space, digest)).toBe(true)
    expect(await restoreBody(at, space, sha256('y'))).toBe(false)
    expect(at.keys()).toContain(space.body(digest))
  })
})
