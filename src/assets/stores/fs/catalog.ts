import { join } from 'node:path'
import { isExpired } from '../../asset-record.ts'
import type { FullAssetStore } from '../../asset-store.ts'
import { pageOf } from '../record-page.ts'
import { describedNamespace } from '../space-description.ts'
import { type StoredRecord, withoutHolder } from '../stored-record.ts'
import { usageOf } from '../usage-of.ts'
import { foldersIn } from './durable.ts'
import type { FsFolder } from './folder.ts'
import { createPlaces } from './places.ts'
import { readRecord, readRecords, readText, recordFiles } from './records.ts'

/** What there is in a folder. */
export interface FsCatalog extends Pick<FullAssetStore, 'list' | 'usage' | 'namespaces'> {
  /** Namespaces that ever held something. */
  described(): Promise<(string | null)[]>
}

/** A catalog. A list reads only the records of its own page and what is new. */
export function createFsCatalog({ layout, ready }: FsFolder): FsCatalog {
  const placesOf = createPlaces(layout)

  async function described(): Promise<(string | null)[]> {
    await ready()
    const namespaces: (string | null)[] = []
    for (const name of await foldersIn(layout.root)) {
      const path = join(layout.root, name, 'space.json')
      const text = await readText(path)
      // An empty one is being written, where the disk has no links.
      if (text) namespaces.push(describedNamespace(text, path))
    }
    return namespaces
  }

  async function hasLive(namespace: string | null): Promise<boolean> {
    for (const path of await recordFiles(layout.space(namespace).records)) {
      const record = await readRecord(path)
      if (record && !isExpired(record)) return true
    }
    return false
  }

  return {
    async list(where = {}) {
      await ready()
      const places = await placesOf(where.namespace ?? null)
      const live = places.filter((place) => !isExpired(place))
      const { page, next } = pageOf(live, where)
      const found = new Map<string, StoredRecord>()
      await readRecords(
        page.map((place) => place.path),
        (record, path) => record && found.set(path, record),
      )
      const records = page.flatMap(({ path }) => found.get(path) ?? [])
      return { records: records.map(withoutHolder), next }
    },

    async usage(where = {}) {
      await ready()
      const paths = await recordFiles(layout.space(where.namespace ?? null).records)
      return usageOf((use) =>
        readRecords(paths, (record) => {
          if (record && !isExpired(record)) use(record)
        }),
      )
    },

    described,

    async namespaces() {
      const found: (string | null)[] = []
      for (const namespace of await described()) {
        if (await hasLive(namespace)) found.push(namespace)
      }
      return found
    },
  }
}
