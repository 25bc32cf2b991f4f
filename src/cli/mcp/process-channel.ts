import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { inBackground } from '../../core/in-background.ts'
import type { Channel } from '../../integrations/mcp/rpc/json-rpc.ts'
import { lineChannel } from './line-channel.ts'

/** A channel to a server in its own process. */
export interface ProcessChannel extends Channel {
  /** Returns how the process ended, for errors. */
  whyEnded(): string
}

/**
 * Starts an MCP server and talks to it on stdio. It has our environment and our stderr. `close` ends its input. After
 * `patienceMs` it sends SIGTERM, and after the same time again SIGKILL. The default is 0.9 s, because clients kill the proxy
 * after two seconds.
 */
export function processChannel(
  command: string,
  args: readonly string[],
  { patienceMs = 900 }: { patienceMs?: number } = {},
): ProcessChannel {
  // On Windows, npx and similar commands are scripts, which only a shell can start.
  const shell = process.platform === 'win32'
  const quoted = shell ? args.map((arg) => JSON.stringify(arg)) : args
  const child = spawn(command, quoted, { shell, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = lineChannel(child.stdout, child.stdin)
  let why = 'the connection was closed'
  let isOver = false
  const ended = new Promise<void>((resolve) => {
    const end = (reason: string): void => {
      if (!isOver) why = reason
      isOver = true
      resolve()
    }
    child.once('error', ({ message }) => end(message))
    child.once('close', (code, signal) => end(signal ? `killed by ${signal}` : `exit code ${code}`))
  })
  const channel: ProcessChannel = {
    whyEnded: () => `The MCP server has ended (${why}): ${[command, ...args].join(' ')}`,
    async start() {
      lines.onmessage = (message) => channel.onmessage?.(message)
      inBackground(
        'Closing an MCP server',
        ended.then(() => channel.onclose?.()),
      )
      await lines.start()
    },
    send: (message) => lines.send(message),
    async close() {
      child.stdin.end()
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        await Promise.race([ended, sleep(patienceMs, undefined, { ref: false })])
        if (!isOver) child.kill(signal)
      }
      // Child processes of the server may keep its output open.
      child.stdout.destroy()
      await ended
    },
  }
  return channel
}
