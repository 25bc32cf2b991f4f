import type { Socket } from 'node:net'
import { Client, type Pool } from 'pg'

/** A connection as those of the pool are made, but none of them: for what lasts, and takes nobody else's turn. */
export function ownConnection(pool: Pool): Client {
  // A pool hides its password from who copies its options. What listens waits for as long as nothing happens.
  const { password } = pool.options
  const client = new Client({ ...pool.options, password, query_timeout: undefined })
  // What is lost says so to whoever uses it next.
  client.on('error', () => {})
  return client
}

/** Lets the process end where nothing but this connection would keep it. */
export function unref(client: Client): void {
  // The types of `pg` do not know of it.
  ;(client as unknown as { connection?: { stream?: Socket } }).connection?.stream?.unref()
}
