import { checkOptions } from '../../core/check-options.ts'
import { newId } from '../../core/new-id.ts'
import { Database, type Query } from '../../postgres/database.ts'
import { migrate, type Tables } from '../../postgres/migrate.ts'
import { POSTGRES_OPTIONS, type PostgresOptions } from '../../postgres/postgres-options.ts'
import type { RecordIndex } from './record-index.ts'
import { type SqlWork, type Statement, sqlRecords } from './sql-records.ts'

/** Options of {@link postgresRecords}. */
export type PostgresRecordsOptions = PostgresOptions

/**
 * Creates an index in a PostgreSQL database, for any number of processes on any number of machines. A resolved change
 * is committed, and as durable as the server makes it. Concurrent additions to one namespace wait for each other, so
 * quotas are exact. Opening the index creates its tables, also in several processes at once.
 *
 * @throws ByrefError `config_invalid`
 */
export function postgresRecords(options: PostgresRecordsOptions): RecordIndex {
  checkOptions('postgresRecords', options, POSTGRES_OPTIONS)
  const owner = { what: 'index of assets', failed: 'storage_failed' } as const
  const tables = recordTables()
  const database = new Database(options, { owner, migrate: (opened) => migrate(opened, tables) })
  const { use, query, transaction } = database
  return sqlRecords({
    name: 'postgres',
    read: (work) => use(() => run(query, work())),
    snapshot: (work) =>
      use(() =>
        transaction(async (inside) => {
          await inside('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
          return run(inside, work())
        }),
      ),
    write: (work) => use(() => transaction((inside) => run(inside, work()))),
    among: (column, list) =>
      `${column} = ANY (ARRAY(SELECT jsonb_array_elements_text(${list}::jsonb)))`,
    bodiesIn: (list) =>
      `jsonb_to_recordset(${list}::jsonb) AS body (digest text, key text, size bigint)`,
    // An update of the row locks it. A new namespace gets its row here.
    lock: `INSERT INTO byref.assets_spaces AS s (namespace, assets, bytes) VALUES ($1, 0, 0)
      ON CONFLICT (namespace) DO UPDATE SET assets = s.assets RETURNING assets, bytes`,
    exclusive: (name, work) => use(() => exclusively(database, name, work)),
    close: () => database.close(),
  })
}

/** Runs work. Several texts of one statement take one round trip. */
async function run<T>(query: Query, work: SqlWork<T>): Promise<T> {
  let next = work.next()
  while (!next.done) {
    const { text, values }: Statement = next.value
    const { rows } = await query(typeof text === 'string' ? text : joined(text), values)
    next = work.next(rows)
  }
  return next.value
}

function joined(texts: readonly string[]): string {
  const others = texts.slice(0, -1).map((text, i) => `part_${i} AS (${text})`)
  return `WITH ${others.join(', ')} ${texts.at(-1)}`
}

/** Runs work that holds the lock of the name. The lock ends with its connection, and so with this process. */
async function exclusively<T>(
  database: Database,
  name: string,
  work: () => Promise<T>,
): Promise<T | null> {
  const { query, end } = await database.connect()
  try {
    const { rows } = await query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine', [
      `byref ${database.schema} ${name}`,
    ])
    return rows[0]?.mine === true ? await work() : null
  } finally {
    await end()
  }
}

/**
 * Returns the tables of the index. The namespace '' means none. Names are compared byte by byte, as in every index.
 * `bodies` is JSON: the key, digest and size of each, the record's own first. `record` has the rest. `spaces` has the usage of each
 * namespace. Its row is the lock for concurrent additions and removals.
 */
function recordTables(): Tables {
  return {
    part: 'records',
    name: 'The index of assets',
    code: 'config_invalid',
    steps: [
      [
        'CREATE TABLE byref.assets_self (id text NOT NULL)',
        `INSERT INTO byref.assets_self (id) VALUES ('${newId()}')`,
        `CREATE TABLE byref.assets (
           namespace text COLLATE "C" NOT NULL,
           id text COLLATE "C" NOT NULL,
           created text COLLATE "C" NOT NULL,
           expires text COLLATE "C",
           record text NOT NULL,
           bodies text NOT NULL,
           PRIMARY KEY (namespace, id)
         )`,
        'CREATE INDEX assets_by_age ON byref.assets (namespace, created, id)',
        'CREATE INDEX assets_by_end ON byref.assets (expires) WHERE expires IS NOT NULL',
        `CREATE INDEX assets_by_end_within ON byref.assets (namespace, expires)
           WHERE expires IS NOT NULL`,
        `CREATE TABLE byref.assets_bodies (
           namespace text COLLATE "C" NOT NULL,
           digest text COLLATE "C" NOT NULL,
           key text COLLATE "C" NOT NULL UNIQUE,
           size bigint NOT NULL,
           users integer NOT NULL,
           PRIMARY KEY (namespace, digest)
         )`,
        `CREATE TABLE byref.assets_spaces (
           namespace text COLLATE "C" PRIMARY KEY,
           assets bigint NOT NULL,
           bytes bigint NOT NULL
         )`,
      ],
    ],
  }
}
