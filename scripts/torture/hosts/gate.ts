import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A connection to a server that can be cut. */
export interface Gate {
  readonly port: number
  /** Cuts all connections, and rejects new ones for this many milliseconds. */
  cut(ms: number): void
  /** Forwards new connections to another port. */
  leadTo(port: number): void
  close(): void
}

/** Opens a port that forwards to another port of this machine. */
export async function openGate(port: number): Promise<Gate> {
  let behind = port
  const open = new Set<Socket>()
  let closedUntil = 0
  const server = createServer((socket) => {
    if (Date.now() < closedUntil) return socket.destroy()
    const target = connect(behind, '127.0.0.1')
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cutAll = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut(ms) {
      closedUntil = Date.now() + ms
      cutAll()
    },
    leadTo(other) {
      behind = other
    },
    close() {
      server.close()
      cutAll()
    },
  }
}
