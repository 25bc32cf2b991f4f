import { createHash } from 'node:crypto'
import type { ClientBase } from 'pg'
import { ByrefError } from '../core/errors.ts'
import { onceResolved } from '../core/once-resolved.ts'
import { RunningCalls } from '../core/running-calls.ts'
import { dedicatedConnection, Listening, type ListenOptions } from './listening.ts'
import { type DatabaseOwner, databaseError, endsConnection } from './postgres-errors.ts'
import { type LazyPool, type PostgresOptions, poolOf, schemaOf } from './postgres-options.ts'

/** A row by its columns. Integers are numbers; everything else is text, a boolean or null. */
export type Row = Record<string, unknown>

/**
 * Runs one statement, which is prepared once on each connection. Without values it runs several statements, not
 * prepared. In the text, `byref.` stands for the schema.
 */
export type Query = <T = Row>(
  text: string,
  values?: readonly unknown[],
) => Promise<{ rows: T[]; rowCount: number }>

/** What a database is opened for. */
export interface DatabaseOptions {
  owner: DatabaseOwner
  /** Migrates the tables to this version. It is called before the first use, and again after a failure. */
  migrate(database: Database): Promise<void>
}

/** By default, `pg` returns bigint and numeric as text, but our values fit in a number. */
const TYPES = {
  getTypeParser(oid: number) {
    if (oid === 20 || oid === 21 || oid === 23 || oid === 1700 || oid === 701) return Number
    return oid === 16 ? (text: string) => text === 't' : (text: string) => text
  },
}

/** The database of one log or store. No call holds a connection while it waits for another one. */
export class Database {
  readonly schema: string
  readonly #pool: LazyPool
  readonly #owner: DatabaseOwner
  /** Creates the tables. */
  readonly #ready: () => Promise<void>
  readonly #calls: RunningCalls
  readonly #statements = new Map<string, { name: string; text: string }>()

  /** @throws ByrefError `config_invalid` */
  constructor(options: PostgresOptions, { owner, migrate }: DatabaseOptions) {
    this.schema = schemaOf(options)
    this.#pool = poolOf(options)
    this.#owner = owner
    this.#ready = onceResolved(() => migrate(this))
    this.#calls = new RunningCalls(
      () => new ByrefError(owner.failed, `The ${owner.what} is closed: open it again`),
    )
  }

  get closed(): boolean {
    return this.#calls.closed
  }

  readonly query: Query = (text, values) => this.#withClient((query) => query(text, values))

  /** Runs work in a transaction. Rolls it back if the work throws. */
  readonly transaction = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
    this.#withClient(async (query, broken) => {
      await query('BEGIN')
      // A connection with an open transaction must not return to the pool: the next user's work would never be
      // committed.
      broken.yes = true
      let value: T
      try {
        value = await work(query)
      } catch (error) {
        const isOver = await query('ROLLBACK').then(
          () => true,
          () => false,
        )
        broken.yes = !isOver
        throw error
      }
      await query('COMMIT')
      broken.yes = false
      return value
    })

  /** Runs a call once the tables exist. `close` waits until it ends. @throws ByrefError after `close` */
  readonly use = <T>(run: () => Promise<T>): Promise<T> =>
    this.#calls.run(() => this.#ready().then(run))

  /** Returns a dedicated connection, not from the pool, until `end`. */
  async connect(): Promise<{ query: Query; end(): Promise<void> }> {
    const client = await dedicatedConnection(this.#pool)
    try {
      await client.connect()
    } catch (error) {
      throw databaseError(error, this.#owner, { isConnecting: true })
    }
    const end = () => client.end().catch(() => {})
    return { query: this.#queryOn(client, { yes: false }), end }
  }

  /** Listens for notifications on a dedicated connection. */
  listen(options: ListenOptions): Listening {
    return new Listening(this.#pool, options)
  }

  /** Closes after all calls have ended. `last` runs just before. */
  close(last?: () => Promise<void>): Promise<void> {
    return this.#calls.close(async () => {
      // Idle connections do not keep the process alive, not even while they end.
      const alive = setInterval(() => {}, 60_000)
      try {
        await last?.()
        await this.#pool.close()
      } finally {
        clearInterval(alive)
      }
    })
  }

  async #withClient<T>(work: (query: Query, broken: { yes: boolean }) => Promise<T>): Promise<T> {
    const broken = { yes: false }
    const pool = await this.#pool.open()
    const client = await pool.connect().catch((error) => {
      throw databaseError(error, this.#owner, { isConnecting: true })
    })
    try {
      return await work(this.#queryOn(client, broken), broken)
    } finally {
      // The pool itself drops a connection that died between two statements.
      client.release(broken.yes)
    }
  }

  #queryOn(client: ClientBase, broken: { yes: boolean }): Query {
    return async (text, values) => {
      try {
        const statement = values ? this.#statementOf(text) : { text: this.#qualified(text) }
        const config = { ...statement, values: values && [...values], types: TYPES }
        const { rows, rowCount } = await client.query(config)
        return { rows, rowCount: rowCount ?? 0 }
      } catch (error) {
        if (endsConnection(error)) broken.yes = true
        throw databaseError(error, this.#owner)
      }
    }
  }

  #statementOf(text: string): { name: string; text: string } {
    const known = this.#statements.get(text)
    if (known) return known
    const full = this.#qualified(text)
    const made = {
      name: `byref_${createHash('sha256').update(full).digest('hex').slice(0, 24)}`,
      text: full,
    }
    this.#statements.set(text, made)
    return made
  }

  #qualified(text: string): string {
    return text.replaceAll('byref.', `"${this.schema}".`)
  }
}
