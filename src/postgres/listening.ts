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

/** Time between two questions whether the server still answers, in milliseconds. */
const HEARTBEAT_MS = 30_000

/** How long the server may take to answer, in milliseconds. */
const ANSWER_MS = 10_000

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
      for (const channel of channels) await ask(client, `LISTEN "${channel}"`)
      if (this.#ended || this.#client !== client) return
      // The connection does not keep the process alive. The types lack `unref`, which a socket has.
      const { connection } = client as { connection?: { stream?: { unref?(): void } } }
      connection?.stream?.unref?.()
      this.#isUp = true
      this.#failures = 0
      this.#watch(client)
      onListening()
    } catch {
      this.#lost(client)
    }
  }

  /** Notices a lost connection. Routers drop an idle connection without telling its ends. */
  #watch(client: Client): void {
    const check = async () => {
      try {
        await ask(client, 'SELECT 1')
        if (this.#client === client) this.#watch(client)
      } catch {
        this.#lost(client)
      }
    }
    this.#timer = setTimeout(() => inBackground('Checking a connection', check()), HEARTBEAT_MS)
    this.#timer.unref()
  }

  #lost(client: Client): void {
    if (this.#client !== client) return
    clearTimeout(this.#timer)
    this.#client = null
    this.#isUp = false
    client.end().catch(() => {})
    if (this.#ended) return
    const wait = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** this.#failures++)
    const connect = () => inBackground('Connecting', this.#connect())
    this.#timer = setTimeout(connect, wait * (0.5 + Math.random() / 2)).unref()
  }
}

/** Sends a statement. Rejects if the server does not answer in time. */
async function ask(client: Client, text: string): Promise<void> {
  // The types lack the time limit, so that they reject it in a literal.
  const query = { text, query_timeout: ANSWER_MS }
  await client.query(query)
}
