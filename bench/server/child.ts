import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** URLs of a server in these benchmarks. */
export interface Addresses {
  url: string
  large: string
  small: string
  json: string
}

/** The resources of a process: CPU time in milliseconds, and memory in bytes: resident, objects and buffers. */
export interface Usage {
  cpuMs: number
  rss: number
  live: number
}

/** A server in its own process. */
export interface Child extends Addresses {
  /** CPU time until now. */
  usage(): Promise<Usage>
  /** The same, after a garbage collection, when the memory of the process is stable. */
  settled(): Promise<Usage>
  stop(): void
}

/** Starts `byref` with this many conversations, or Hono `bare`. */
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
