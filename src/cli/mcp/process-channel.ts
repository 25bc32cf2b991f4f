import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { inBackground } from '../../core/in-background.ts'
import type { Channel } from '../../integrations/mcp/rpc/json-rpc.ts'
import { lineChannel } from './line-channel.ts'

/** A server in a process of its own, which may say how it ended. */
export interface ProcessChannel extends Channel {
  whyEnded(): string
}

/**
 * An MCP server as a process that is spoken to on stdio. It has our environment and our stderr. `close` ends its input, and after
 * `patienceMs` the process, and after as much again less gently; default 0.9 s, since clients kill the proxy after two seconds.
 */
export function processChannel(
  command: string,
  args: readonly string[],
  { patienceMs = 900 }: { patienceMs?: number } = {},
): ProcessChannel {
  // On Windows, npx and the like are scripts, which only a shell starts.
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
        'The end of an MCP server',
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
      // What it started may hold its output open for as long as it likes.
      child.stdout.destroy()
      await ended
    },
  }
  return channel
}
