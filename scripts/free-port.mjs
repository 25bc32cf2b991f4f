import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a port that no process of this machine uses. */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  return port
}
