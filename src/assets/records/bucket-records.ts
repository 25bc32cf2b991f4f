import { checkOptions } from '../../check-options.ts'
import { createTurns } from '../../content/in-turn.ts'
import { newId } from '../../content/new-id.ts'
import { ByrefError } from '../../errors.ts'
import { assetExists, isExpired } from '../asset-record.ts'
import { checkedConnector } from '../bodies/s3/errors.ts'
import { BUCKET_OPTIONS, connectorOf, type S3BucketOptions } from '../bodies/s3-bodies.ts'
import { nonce } from '../nonce.ts'
import { assetOfPlace, type BucketSpace, bucketSpace, parseUse } from './bucket-layout.ts'
import {
  type HeldEntry,
  objectsUnder,
  parseEntry,
  putEntry,
  putText,
  readEntries,
  readEntry,
  readText,
} from './bucket-objects.ts'
import { tidyBucket } from './bucket-tidy.ts'
import { createBodyUses } from './bucket-uses.ts'
import { putOnce } from './claim.ts'
import { checkRoom, usageOf } from './quota.ts'
import type { NewEntry, RecordIndex } from './record-index.ts'
import { newestFirst } from './record-page.ts'

const ATTEMPTS = 5

/**
 * Records as objects in a bucket, below `records/`: an index without a database, for servers whose reads and listings are
 * consistent (AWS, R2, MinIO, Swift). It is not transactional: what is cut off leaves parts of records that are invisible
 * and that a sweep removes; a quota is exact within one process only; equal bytes that two processes save in one moment may be
 * kept twice; of two processes that delete one asset in one moment both may be told that they did; usage, and what is over,
 * is found by reading every record. Where that matters, use a database.
 */
export function bucketRecords(options: S3BucketOptions): RecordIndex {
  const { bucket, keyPrefix = '' } = options
  checkOptions('bucketRecords', options, BUCKET_OPTIONS)
  const connector = checkedConnector(connectorOf(options))
  const at = { connector, bucket }
  const root = `${keyPrefix}records/`
  const uses = createBodyUses(at)
  const inTurn = createTurns()
  const described = new Map<string | null, Promise<void>>()
  const spaceOf = (namespace: string | null) => bucketSpace(root, namespace)

  function describe(namespace: string | null): Promise<void> {
    const text = JSON.stringify({ namespace })
    const begun = described.get(namespace) ?? putText(at, spaceOf(namespace).description, text)
    described.set(namespace, begun)
    begun.catch(() => described.delete(namespace))
    return begun
  }

  async function spaces(): Promise<(string | null)[]> {
    const found: (string | null)[] = []
    for await (const { key } of objectsUnder(at, `${root}spaces/`)) {
      const text = await readText(at, key)
      if (text !== null) found.push(namespaceIn(text, key))
    }
    return found
  }

  async function entriesOf(namespace: string | null): Promise<HeldEntry[]> {
    const keys: string[] = []
    for await (const { key } of objectsUnder(at, spaceOf(namespace).assets)) keys.push(key)
    const entries: HeldEntry[] = []
    await readEntries(at, keys, (entry) => entry && entries.push(entry))
    return entries
  }

  async function usageIn(namespace: string | null, now: number, more: NewEntry['bodies'] = []) {
    const live = (await entriesOf(namespace)).filter(({ record }) => !isExpired(record, now))
    return usageOf(
      live.map(({ bodies }) => bodies),
      more,
    )
  }

  async function add(entry: NewEntry): Promise<{ unused: string[]; missing: string[] }> {
    const { record, isChosen } = entry
    const space = spaceOf(record.namespace)
    if (isChosen && (await readEntry(at, space.asset(record.assetId)))) {
      throw assetExists(record.assetId)
    }
    await describe(record.namespace)
    const holder = nonce()
    try {
      const { bodies, unused, missing } = await uses.begin(space, entry.bodies, holder)
      if (missing.length > 0) {
        await uses.end(space, bodies, holder)
        return { unused: [], missing }
      }
      await putText(at, space.place(record, holder), '')
      if (!(await putEntry(at, space, { record, bodies, holder, isChosen }))) {
        throw assetExists(record.assetId)
      }
      return { unused, missing: [] }
    } catch (error) {
      // What it leaves, a sweep finds; the first error is the one to tell.
      await withdraw(space, entry, holder).catch(() => {})
      throw error
    }
  }

  /** The record goes first: it may be there although no answer said so. */
  async function withdraw(space: BucketSpace, { record, bodies }: NewEntry, holder: string) {
    const key = space.asset(record.assetId)
    const there = await readEntry(at, key)
    if (there?.holder === holder) await connector.delete({ bucket, key })
    await connector.delete({ bucket, key: space.place(record, holder) })
    for (const { digest } of bodies) {
      for await (const { key: use } of objectsUnder(at, space.usesOf(digest))) {
        const body = parseUse(space, use)
        // Somebody else may use the body by now, or begin to.
        if (body.holder === holder) await uses.end(space, [body], holder)
      }
    }
  }

  return {
    name: 'bucket',
    keepsObjects: false,

    async open() {
      await connector.check(bucket)
      const key = `${root}self`
      const self = { key, contentType: 'text/plain', claims: `${root}claims/` }
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const known = await readText(at, key)
        if (known) return known
        // Of many that come first, one may say the id: bodies belong to it.
        await putOnce(at, { ...self, body: Buffer.from(newId()) })
      }
      throw new ByrefError('storage_failed', `The index cannot be begun: ${key} stays empty.`)
    },

    async bodies(namespace, digests) {
      const found = await Promise.all(
        digests.map((digest) => uses.find(spaceOf(namespace), digest)),
      )
      return found.flatMap((bodies) => bodies.slice(0, 1))
    },

    async add(entry, quota) {
      if (!quota) return add(entry)
      return inTurn(spaceOf(entry.record.namespace).description, async () => {
        checkRoom(await usageIn(entry.record.namespace, Date.now(), entry.bodies), quota)
        return add(entry)
      })
    },

    async get(namespace, assetId) {
      const entry = await readEntry(at, spaceOf(namespace).asset(assetId))
      if (entry?.record.assetId !== assetId) return null
      const { record, bodies } = entry
      return { record, bodies }
    },

    async list(namespace, { after, limit, now }) {
      const space = spaceOf(namespace)
      const start = after ? space.behind(after) : undefined
      const page = { bucket, prefix: space.newest, after: start, limit }
      const { objects, more } = await connector.list(page)
      const found = new Map<string, HeldEntry>()
      const keys = objects.map(({ key }) => assetOfPlace(space, key))
      await readEntries(at, keys, (entry, key) => entry && found.set(key, entry))
      const all = objects.flatMap(({ key }) => {
        const entry = found.get(assetOfPlace(space, key))
        // A place that was left over may lead to another asset of the same id.
        return entry && space.place(entry.record, entry.holder) === key ? entry : []
      })
      const entries = all.filter(({ record }) => !isExpired(record, now))
      const last = all.at(-1)?.record
      return {
        entries: entries.map(({ record, bodies }) => ({ record, bodies })),
        next: more && last ? last : null,
      }
    },

    remove: (namespace, assetId, { now, expired = false }) => {
      const space = spaceOf(namespace)
      const key = space.asset(assetId)
      return inTurn(key, async () => {
        const text = await readText(at, key)
        const entry = text === null ? null : parseEntry(text)
        // One that is damaged has no asset, and can be removed.
        if (text === null || (entry && isExpired(entry.record, now) !== expired)) return null
        await connector.delete({ bucket, key })
        if (!entry) return []
        await connector.delete({ bucket, key: space.place(entry.record, entry.holder) })
        return uses.end(space, entry.bodies, entry.holder)
      })
    },

    usage: (namespace, now) => usageIn(namespace, now),

    async namespaces(now) {
      const found: (string | null)[] = []
      for (const namespace of await spaces()) {
        if ((await usageIn(namespace, now)).assets > 0) found.push(namespace)
      }
      return found
    },

    async expired(now, limit) {
      const over: HeldEntry[] = []
      for (const namespace of await spaces()) {
        const entries = await entriesOf(namespace)
        over.push(...entries.filter(({ record }) => isExpired(record, now)))
      }
      over.sort((a, b) => newestFirst(b.record, a.record))
      return over.slice(0, limit).map(({ record }) => record)
    },

    held: async (keys) => uses.held((await spaces()).map(spaceOf), keys),
    tidy: async (before) => tidyBucket(at, (await spaces()).map(spaceOf), before),

    async damaged(namespace) {
      const keys: string[] = []
      for await (const { key } of objectsUnder(at, spaceOf(namespace).assets)) keys.push(key)
      const found: string[] = []
      await readEntries(at, keys, (entry, key) => entry === null && found.push(key))
      return found
    },

    async close() {},
  }
}

/** @throws ByrefError `storage_failed` for a text that is damaged */
function namespaceIn(text: string, key: string): string | null {
  try {
    const { namespace } = JSON.parse(text)
    if (namespace === null || typeof namespace === 'string') return namespace
  } catch {
    // Said below.
  }
  throw new ByrefError(
    'storage_failed',
    `${key} is damaged: it says which namespace is kept beside it, as {"namespace":"…"}, or null for the one without a name. Write it again.`,
  )
}
