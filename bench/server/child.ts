import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Addresses that a server of these benchmarks has. */
export interface Addresses {
  url: string
  large: string
  small: string
  json: string
}

/** What a process used: CPU time in milliseconds, memory in bytes: resident, and of that objects and buffers. */
export interface Usage {
  cpuMs: number
  rss: number
  live: number
}

/** A server in its own process. */
export interface Child extends Addresses {
  /** CPU time so far. */
  usage(): Promise<Usage>
  /** The same, once garbage is collected and the memory of the process has come to rest. */
  settled(): Promise<Usage>
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
  const ask = async (what: 'usage' | 'gc'): Promise<Usage> => {
    child.send(what)
    const [usage] = await once(child, 'message')
    return usage
  }
  return {
    ...addresses,
    usage: () => ask('usage'),
    async settled() {
      let last = await ask('gc')
      for (let n = 0; n < 20; n++) {
        await sleep(250)
        const next = await ask('gc')
        if (Math.abs(next.rss - last.rss) < 256 * 1024) return next
        last = next
      }
      return last
    },
    stop: () => void child.send('stop'),
  }
}
