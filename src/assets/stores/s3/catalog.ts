import { ByrefError } from '../../../errors.ts'
import { isExpired } from '../../asset-record.ts'
import type { FullAssetStore } from '../../asset-store.ts'
import { pageSize } from '../../records/record-page.ts'
import { describedNamespace } from '../space-description.ts'
import { type StoredRecord, withoutHolder } from '../stored-record.ts'
import { usageOf } from '../usage-of.ts'
import { objectsUnder } from './bodies.ts'
import { recordOfPlace } from './layout.ts'
import { readAll, readRecord, readRecords, readText, type S3Root, spaceOf } from './records.ts'

/** What there is in a bucket. */
export interface S3Catalog extends Pick<FullAssetStore, 'list' | 'usage' | 'namespaces'> {
  /** Namespaces that ever held something. */
  described(): Promise<(string | null)[]>
}

/** A catalog. Records are read many at once; a page reads its own. */
export function createS3Catalog(at: S3Root, ready: () => Promise<void>): S3Catalog {
  const { connector, bucket, keyPrefix } = at

  async function described(): Promise<(string | null)[]> {
    await ready()
    const found: (string | null)[] = []
    for await (const { key } of objectsUnder(at, `${keyPrefix}spaces/`)) {
      const text = await readText(at, key)
      if (text !== null) found.push(describedNamespace(text, key))
    }
    return found
  }

  async function hasLive(namespace: string | null): Promise<boolean> {
    for await (const { key } of objectsUnder(at, spaceOf(at, { namespace }).records)) {
      const record = await readRecord(at, key)
      if (record && !isExpired(record)) return true
    }
    return false
  }

  return {
    described,

    async list(where = {}) {
      await ready()
      const { newest: prefix, ...space } = spaceOf(at, where)
      const limit = pageSize(where)
      const after = where.cursor ?? undefined
      if (after !== undefined && !after.startsWith(prefix)) {
        throw new ByrefError('bad_request', `${JSON.stringify(after)} is no cursor.`)
      }
      const { objects, more } = await connector.list({ bucket, prefix, after, limit })
      const keys = objects.map(({ key }) => recordOfPlace(space, key))
      const found = new Map<string, StoredRecord>()
      await readAll(at, keys, (record, key) => record && found.set(key, record))
      const records = objects.flatMap(({ key }) => {
        const record = found.get(recordOfPlace(space, key))
        // A place that was left over may lead to another asset of the same id.
        return record && !isExpired(record) && space.place(record) === key ? record : []
      })
      const next = more ? (objects.at(-1)?.key ?? null) : null
      return { records: records.map(withoutHolder), next }
    },

    async usage(where) {
      await ready()
      return usageOf((use) =>
        readRecords(at, spaceOf(at, where), (record) => {
          if (record && !isExpired(record)) use(record)
        }),
      )
    },

    async namespaces() {
      const found: (string | null)[] = []
      for (const namespace of await described()) {
        if (await hasLive(namespace)) found.push(namespace)
      }
      return found
    },
  }
}
