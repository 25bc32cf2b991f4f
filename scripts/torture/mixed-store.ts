import { join } from 'node:path'
import type { FullAssetStore } from '../../src/assets/asset-store.ts'
import { fsBodies } from '../../src/assets/bodies/fs-bodies.ts'
import { postgresRecords } from '../../src/assets/records/postgres-records.ts'
import { createStore } from '../../src/assets/stores/create-store.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'

const PUBLISHED = 'https://example.com'

/** A shared store: bodies in a folder, and records in SQLite or PostgreSQL. */
export interface MixedPlace {
  folder: string
  postgres: { connectionString: string; schema: string } | null
}

/** Opens the shared store. */
export function openMixedStore({ folder, postgres }: MixedPlace): FullAssetStore {
  if (!postgres) return createFsAssetStore({ rootDir: folder, baseUrl: PUBLISHED })
  return createStore({
    records: postgresRecords(postgres),
    bodies: fsBodies(join(folder, 'bodies'), { baseUrl: PUBLISHED }),
  })
}
