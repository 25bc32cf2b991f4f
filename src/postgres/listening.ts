import type { Client } from 'pg'
import { inBackground } from '../core/in-background.ts'
import { clientOf, type LazyPool } from './postgres-options.ts'

/** Options of {@link Listening}. */
export interface ListenOptions {
  channels: readonly string[]
  /** Called with each notification, in the order they were sent. It must not throw. */
  onNotification(channel: string, payload: string): void
  /** Called each time that the connection starts to listen. Earlier notifications may be lost. */
  onListening(): void
}

const RETRY_MS = { first: 100, most: 2_000 }

/**
 * Returns a connection with the pool's options, but outside of the pool: it stays open, and must not take a place in
 * the pool.
 */
export async function dedicatedConnection(pool: LazyPool): Promise<Client> {
  const { options } = await pool.open()
  // The pool's options hide the password. A connection that listens may wait for any time.
  const { password } = options
  const client = await clientOf({ ...options, password, query_timeout: undefined })
  // The next use of a lost connection gets an error.
  client.on('error', () => {})
  return client
}

/** Listens for notifications on a dedicated connection, and connects again when it is lost. */
export class Listening {
  readonly #pool: LazyPool
  readonly #options: ListenOptions
  #client: Client | null = null
  #isUp = false
  #ended = false
  #failures = 0
  #timer: NodeJS.Timeout | undefined

  constructor(pool: LazyPool, options: ListenOptions) {
    this.#pool = pool
    this.#options = options
    inBackground('Connecting', this.#connect())
  }

  /** Whether it listens now. */
  get isUp(): boolean {
    return this.#isUp
  }

  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = null
    this.#isUp = false
    await client?.end().catch(() => {})
  }

  async #connect(): Promise<void> {
    const { channels, onNotification, onListening } = this.#options
    // If the package pg is missing, every use of the database reports that.
    const client = await dedicatedConnection(this.#pool).catch(() => null)
    if (client === null || this.#ended) return
    this.#client = client
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ channel, payload = '' }) => onNotification(channel, payload))
    try {
      await client.connect()
      for (const channel of channels) await client.query(`LISTEN "${channel}"`)
      if (this.#ended || this.#client !== client) return
      // The connection does not keep the process alive. The types lack `unref`, which a socket has.
      const { connection } = client as { connection?: { stream?: { unref?(): void } } }
      connection?.stream?.unref?.()
      this.#isUp = true
      this.#failures = 0
      onListening()
    } catch {
      this.#lost(client)
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client) return
    this.#client = null
    this.#isUp = false
    client.end().catch(() => {})
    if (this.#ended) return
    const wait = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** this.#failures++)
    const connect = () => inBackground('Connecting', this.#connect())
    this.#timer = setTimeout(connect, wait * (0.5 + Math.random() / 2)).unref()
  }
}
