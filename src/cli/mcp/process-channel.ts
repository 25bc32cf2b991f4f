import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Channel } from '../../join/mcp/json-rpc.ts'
import { lineChannel } from './line-channel.ts'

/** How long a server may take to end by itself, and then after SIGTERM. */
const PATIENCE_MS = 2_000

/** An MCP server as a process that is spoken to on stdio. Its stderr is ours. */
export function processChannel(
  command: string,
  args: readonly string[],
): Channel & { whyEnded(): string } {
  // On Windows, npx and the like are scripts of a shell.
  const shell = process.platform === 'win32'
  const quoted = shell ? args.map((arg) => JSON.stringify(arg)) : args
  const child = spawn(command, quoted, { shell, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = lineChannel(child.stdout, child.stdin)
  let why = 'the connection was closed'
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      why = error.message
      resolve()
    })
    child.once('close', (code, signal) => {
      why = signal ? `killed by ${signal}` : `exit code ${code}`
      resolve()
    })
  })
  const channel: Channel & { whyEnded(): string } = {
    whyEnded: () => `The MCP server has ended (${why}): ${[command, ...args].join(' ')}`,
    async start() {
      lines.onmessage = (message) => channel.onmessage?.(message)
      void ended.then(() => channel.onclose?.())
      await lines.start()
    },
    send: (message) => lines.send(message),
    async close() {
      child.stdin.end()
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        const timer = new AbortController()
        const late = once(timer.signal, 'abort').catch(() => {})
        const timeout = setTimeout(() => timer.abort(), PATIENCE_MS)
        await Promise.race([ended, late])
        clearTimeout(timeout)
        if (child.exitCode === null && child.signalCode === null && child.pid) child.kill(signal)
      }
      await ended
    },
  }
  return channel
}
