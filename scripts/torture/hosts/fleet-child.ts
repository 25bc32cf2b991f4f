// node fleet-child.ts <worker|server> <JSON of FleetWorldOptions>: one process of a fleet, until it is killed. A
// server sends its URL to the parent, a worker that it has started, and both that a call's signal was aborted.
import { createWorker } from '../../../src/hosts/worker.ts'
import { createServer } from '../../../src/server/create-server.ts'
import { type FleetWorldOptions, openFleetWorld, persistently } from './fleet-world.ts'

const [role = '', options = '{}'] = process.argv.slice(2)
const told = JSON.parse(options) as FleetWorldOptions
const world = openFleetWorld(told, () => process.send?.('aborted'))
const { agent, queue } = world

if (role === 'worker') {
  // Waits for a database that is unavailable at the start, like a process manager.
  const worker = createWorker({ agent, queue, concurrency: 20, onError: () => {} })
  await persistently(() => worker.start())
  process.send?.('ready')
} else {
  const server = createServer({ agent })
  const { url } = await server.listen({ port: 0, hostname: '127.0.0.1' })
  process.send?.(url)
}
process.on('disconnect', () => process.exit())
