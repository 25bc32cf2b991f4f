import { createHash } from 'node:crypto'
import type { ClientBase } from 'pg'
import { ByrefError } from '../core/errors.ts'
import { dedicatedConnection, Listening, type ListenOptions } from './listening.ts'
import { type DatabaseOwner, databaseError, endsConnection } from './postgres-errors.ts'
import { type PostgresOptions, poolOf, schemaOf } from './postgres-options.ts'

/** A row by its columns. Integers are numbers; everything else is text, a boolean or null. */
export type Row = Record<string, unknown>

/**
 * Runs one statement, which is prepared once on each connection. Without values it runs several statements, not prepared. In
 * the text, `byref.` stands for the schema.
 */
export type Query = <T = Row>(
  text: string,
  values?: readonly unknown[],
) => Promise<{ rows: T[]; rowCount: number }>

/** A database, as one log, store or queue uses it. Nothing holds a connection while it waits for another one. */
export interface Database {
  readonly schema: string
  readonly query: Query
  /** Commits the work, or rolls it back where it throws. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** Runs when the tables exist. `close` waits until it ends. @throws ByrefError after `close` */
  use<T>(run: () => Promise<T>): Promise<T>
  /** A dedicated connection, not from the pool, until `end`. */
  connect(): Promise<{ query: Query; end(): Promise<void> }>
  /** Listens for notifications on a dedicated connection. */
  listen(options: ListenOptions): Listening
  readonly closed: boolean
  /** Closes after every use has ended; `last` runs just before. */
  close(last?: () => Promise<void>): Promise<void>
}

/** Options of {@link openDatabase}. */
export interface OpenOptions {
  owner: DatabaseOwner
  /** Migrates the tables to this version. It is called before the first use, and again after a failure. */
  migrate(database: Database): Promise<void>
}

/** The default for bigint and numeric is text, but our values fit in a number. */
const TYPES = {
  getTypeParser(oid: number) {
    if (oid === 20 || oid === 21 || oid === 23 || oid === 1700 || oid === 701) return Number
    return oid === 16 ? (text: string) => text === 't' : (text: string) => text
  },
}

/** @throws ByrefError `config_invalid` */
export function openDatabase(options: PostgresOptions, { owner, migrate }: OpenOptions): Database {
  const schema = schemaOf(options)
  const { pool, isOwn } = poolOf(options)
  const uses = new Set<Promise<unknown>>()
  const statements = new Map<string, { name: string; text: string }>()
  let ready: Promise<void> | null = null
  let closing: Promise<void> | null = null

  const qualified = (text: string): string => text.replaceAll('byref.', `"${schema}".`)

  function statementOf(text: string): { name: string; text: string } {
    const known = statements.get(text)
    if (known) return known
    const full = qualified(text)
    const made = {
      name: `byref_${createHash('sha256').update(full).digest('hex').slice(0, 24)}`,
      text: full,
    }
    statements.set(text, made)
    return made
  }

  function queryOn(client: ClientBase, spoiled: { yes: boolean }): Query {
    return async (text, values) => {
      try {
        const statement = values ? statementOf(text) : { text: qualified(text) }
        const config = { ...statement, values: values && [...values], types: TYPES }
        const { rows, rowCount } = await client.query(config)
        return { rows, rowCount: rowCount ?? 0 }
      } catch (error) {
        if (endsConnection(error)) spoiled.yes = true
        throw databaseError(error, owner)
      }
    }
  }

  async function withClient<T>(
    work: (query: Query, spoiled: { yes: boolean }) => Promise<T>,
  ): Promise<T> {
    const spoiled = { yes: false }
    const client = await pool.connect().catch((error) => {
      throw databaseError(error, owner)
    })
    try {
      return await work(queryOn(client, spoiled), spoiled)
    } finally {
      // The pool itself drops a connection that died between two statements.
      client.release(spoiled.yes)
    }
  }

  const database: Database = {
    schema,
    query: (text, values) => withClient((query) => query(text, values)),
    transaction: (work) =>
      withClient(async (query, spoiled) => {
        await query('BEGIN')
        // A connection with an open transaction must not return to the pool: the next user's work would never be committed.
        spoiled.yes = true
        let value: Awaited<ReturnType<typeof work>>
        try {
          value = await work(query)
        } catch (error) {
          const isOver = await query('ROLLBACK').then(
            () => true,
            () => false,
          )
          spoiled.yes = !isOver
          throw error
        }
        await query('COMMIT')
        spoiled.yes = false
        return value
      }),
    async use(run) {
      if (closing) throw closedError(owner)
      ready ??= migrate(database).catch((error) => {
        ready = null
        throw error
      })
      const running = ready.then(run)
      uses.add(running)
      try {
        return await running
      } finally {
        uses.delete(running)
      }
    },
    async connect() {
      const client = dedicatedConnection(pool)
      try {
        await client.connect()
      } catch (error) {
        throw databaseError(error, owner)
      }
      const end = () => client.end().catch(() => {})
      return { query: queryOn(client, { yes: false }), end }
    },
    listen: (wanted) => new Listening(pool, wanted),
    get closed() {
      return closing !== null
    },
    close(last) {
      closing ??= (async () => {
        while (uses.size > 0) await Promise.allSettled(uses)
        await last?.()
        if (isOwn) await pool.end()
      })()
      return closing
    },
  }
  return database
}

function closedError({ what, failed }: DatabaseOwner): ByrefError {
  return new ByrefError(failed, `The ${what} is closed: open it again`)
}
