import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { FullAssetStore } from '../assets/asset-store.ts'
import { fsBodies } from '../assets/bodies/fs-bodies.ts'
import { s3Bodies } from '../assets/bodies/s3-bodies.ts'
import { createStore } from '../assets/stores/create-store.ts'
import { createFsAssetStore } from '../assets/stores/fs.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import type { HostQueue } from '../hosts/queue.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { optionalPeer } from '../optional-peer.ts'
import { DEFAULT_DATA, openFolder } from './data-folder.ts'
import { UsageError } from './terminal.ts'

/** The options of a command that name its conversations and assets, for {@link parseOptions}. */
export const STORAGE = {
  data: { type: 'string', default: DEFAULT_DATA },
  database: { type: 'string', default: process.env.BYREF_DATABASE || undefined },
  bucket: { type: 'string', default: process.env.BYREF_BUCKET || undefined },
} as const

/** The values of {@link STORAGE}. */
export interface StorageOptions {
  data: string
  database?: string
  bucket?: string
}

export const STORAGE_HELP = `  --data           folder of the conversations and assets, default ${DEFAULT_DATA}
  --database URL   keep conversations and the index of assets in PostgreSQL (postgresql://…), so that
                   any number of processes can use them. Default: BYREF_DATABASE
  --bucket NAME    with --database: keep bytes in S3. The AWS_* variables have the keys, and
                   AWS_ENDPOINT_URL another server. Without it, bytes are in the folder, which all
                   processes must share. Default: BYREF_BUCKET`

/** Conversations and assets, opened at their first use. */
export interface Storage {
  /** With a bucket, nothing is stored in it and it may be missing. */
  folder: string
  store: FullAssetStore
  /** Whether there is a conversation log. */
  readonly hasLog: boolean
  /** @throws ByrefError `config_invalid` if it cannot be opened */
  log(): ConversationLog
  /** The queue of the workers; null on one machine. */
  queue: HostQueue | null
  close(): Promise<void>
}

/**
 * Opens the conversations and assets that the options name.
 *
 * @param make Creates the folder if it is missing.
 * @throws UsageError for options that do not fit; ByrefError `config_invalid` for a folder, database or bucket that cannot
 * be used
 */
export async function openStorage(options: StorageOptions, make = true): Promise<Storage> {
  const { data, database, bucket } = options
  if (database) {
    // Before the packages are loaded, because they may be missing.
    if (!/^(postgres|postgresql|socket):/.test(database)) {
      const example = 'postgresql://user:password@host:5432/database'
      throw new UsageError(`--database takes a URL such as ${example}`)
    }
    const folder = bucket ? resolve(data) : openFolder(data)
    return openDatabase(folder, { connectionString: database, bucket })
  }
  if (bucket) {
    throw new UsageError(
      '--bucket needs --database: without a database everything is in one folder',
    )
  }
  const folder = openFolder(data, { make })
  const path = join(folder, 'conversations.sqlite')
  let log: ConversationLog | null = null
  return {
    folder,
    queue: null,
    store: createFsAssetStore({ rootDir: join(folder, 'assets') }),
    get hasLog() {
      return existsSync(path)
    },
    log: () => (log ??= openFile(path)),
    close: async () => log?.close(),
  }
}

/** Maximum number of connections of one process. The queue has its own, because transactions of the log wait for it. */
const CONNECTIONS = { log: 8, records: 4, queue: 3 }

async function openDatabase(
  folder: string,
  { connectionString, bucket }: { connectionString: string; bucket?: string },
): Promise<Storage> {
  const { createPostgresLog, postgresRecords, createQueue } = await loadPostgres()
  const queue = createQueue({ connectionString, maxConnections: CONNECTIONS.queue })
  const log = createPostgresLog({ connectionString, queue, maxConnections: CONNECTIONS.log })
  const bodies = bucket ? s3Bodies({ bucket }) : fsBodies(join(folder, 'assets'))
  const records = postgresRecords({ connectionString, maxConnections: CONNECTIONS.records })
  const store = createStore({ records, bodies })
  const close = async (): Promise<void> => {
    await log.close()
    await queue.close()
    await store.close?.()
  }
  if (bucket) {
    await checkBucket(store).catch(async (error) => {
      await close()
      throw error
    })
  }
  return { folder, store, queue, hasLog: true, log: () => log, close }
}

/** Throws if the bucket cannot be used. Ignores a server that does not answer, because it may answer later. */
async function checkBucket(store: FullAssetStore): Promise<void> {
  try {
    await store.ready()
  } catch (error) {
    if (!(error instanceof ByrefError) || error.code !== 'storage_failed') throw error
  }
}

async function loadPostgres() {
  // Load it now, so that a missing package is reported before the server starts to answer.
  await optionalPeer('pg', 'PostgreSQL')
  await optionalPeer('pg-boss', 'A queue in PostgreSQL')
  const [log, records, hosts] = await Promise.all([
    import('../log/postgres-log.ts'),
    import('../assets/records/postgres-records.ts'),
    import('../hosts/queue.ts'),
  ])
  return { ...log, ...records, ...hosts }
}

function openFile(path: string): ConversationLog {
  try {
    return createSqliteLog(path)
  } catch (cause) {
    throw new ByrefError(
      'config_invalid',
      `The log ${path} cannot be opened: ${errorMessage(cause)}`,
      { cause },
    )
  }
}
