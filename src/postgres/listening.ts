import type { Client, Pool } from 'pg'
import { inBackground } from '../core/in-background.ts'
import { ownConnection, unref } from './own-connection.ts'

/** What is listened to. */
export interface ListenOptions {
  channels: readonly string[]
  /** Called with each notification, in the order in which they were sent. It must not throw. */
  onNotification(channel: string, payload: string): void
  /** The connection listens from now on, for the first time or again: what was sent before may not have been onNotification. */
  onListening(): void
}

/** A connection that listens until it is ended. */
export interface Listening {
  /** Whether it listens at present. */
  readonly isUp: boolean
  end(): Promise<void>
}

const RETRY_MS = { first: 100, most: 2_000 }

/** Listens on a connection that is none of the pool's, but made as they are; made again whenever it is lost. */
export function listening(
  pool: Pool,
  { channels, onNotification, onListening }: ListenOptions,
): Listening {
  let client: Client | null = null
  let isUp = false
  let ended = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    const made = ownConnection(pool)
    client = made
    made.on('error', () => lost(made))
    made.on('end', () => lost(made))
    made.on('notification', ({ channel, payload = '' }) => onNotification(channel, payload))
    try {
      await made.connect()
      for (const channel of channels) await made.query(`LISTEN "${channel}"`)
      if (ended || client !== made) return
      // It keeps no process alive that has nothing else to do.
      unref(made)
      isUp = true
      failures = 0
      onListening()
    } catch {
      lost(made)
    }
  }

  function lost(which: Client): void {
    if (client !== which) return
    client = null
    isUp = false
    which.end().catch(() => {})
    if (ended) return
    const wait = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** failures++)
    timer = setTimeout(
      () => inBackground('Connecting', connect()),
      wait * (0.5 + Math.random() / 2),
    ).unref()
  }

  inBackground('Connecting', connect())
  return {
    get isUp() {
      return isUp
    },
    async end() {
      ended = true
      clearTimeout(timer)
      const last = client
      client = null
      isUp = false
      await last?.end().catch(() => {})
    },
  }
}
