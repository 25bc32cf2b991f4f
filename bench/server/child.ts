import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** Addresses that a server of these benchmarks has. */
export interface Addresses {
  url: string
  large: string
  small: string
  json: string
}

/** A server in its own process. */
export interface Child extends Addresses {
  /** CPU time so far in milliseconds, and memory in bytes. */
  usage(): Promise<{ cpuMs: number; rss: number }>
  stop(): void
}

/** Starts `byref` with so many conversations, or Hono `bare`. */
export async function startServer(kind: 'byref' | 'bare', conversations = 10): Promise<Child> {
  const child: ChildProcess = fork(
    new URL('./server-child.ts', import.meta.url),
    [kind, String(conversations)],
    { execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'] },
  )
  const [addresses] = (await once(child, 'message')) as [Addresses]
  return {
    ...addresses,
    async usage() {
      child.send('usage')
      const [usage] = await once(child, 'message')
      return usage
    },
    stop: () => void child.send('stop'),
  }
}
