import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { inBackground } from '../../core/in-background.ts'
import type { Channel } from '../../integrations/mcp/rpc/json-rpc.ts'
import { lineChannel } from './line-channel.ts'

/** A channel to a server in its own process. */
export interface ProcessChannel extends Channel {
  /** Returns how the process ended, for errors. */
  whyEnded(): string
  /** The SDK recognizes a connection to a process by these two fields. */
  readonly pid: number | null
  readonly stderr: null
}

/** Options of {@link processChannel}. */
export interface ProcessOptions {
  /**
   * The time until SIGTERM, and again until SIGKILL. Default 0.9 s, because clients kill the proxy after two seconds.
   */
  graceMs?: number
  /** Variables that are added to this process's environment. */
  env?: Readonly<Record<string, string>>
  /** The folder in which the server runs. Default: the folder of this process. */
  cwd?: string
  /**
   * Called with the lines of the server's stderr. Default: they go to the stderr of this process, with the reason why
   * the server ended.
   */
  log?(line: string): void
}

/** Quotes a word for Windows: doubles quotes, and the backslashes before a quote. */
function quoted(word: string): string {
  return `"${word.replace(/\\+(?="|$)/g, '$&$&').replaceAll('"', '""')}"`
}

/**
 * Starts an MCP server and talks to it on stdio. The server has the environment of this process. `send` rejects when
 * the process has ended. `close` ends its input, and then the process.
 */
export function processChannel(
  command: string,
  args: readonly string[],
  { graceMs = 900, env, cwd, log }: ProcessOptions = {},
): ProcessChannel {
  // On Windows, npx and similar commands are scripts, which only a shell can start.
  const shell = process.platform === 'win32'
  const [file = '', ...rest] = shell ? [command, ...args].map(quoted) : [command, ...args]
  const child = spawn(file, rest, {
    shell,
    cwd,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', log ? 'pipe' : 'inherit'],
  }) as ChildProcessByStdio<Writable, Readable, Readable | null>
  if (child.stderr && log) createInterface({ input: child.stderr }).on('line', log)
  const lines = lineChannel(child.stdout, child.stdin)
  // With a log of its own, the server has a name. Arguments may be secrets.
  const end = log ? '' : `: ${[command, ...args].join(' ')}`
  let why = `The MCP server has closed the connection${end}`
  let isOver = false
  let isClosing = false
  const spawned = once(child, 'spawn').catch(() => {})
  const ended = new Promise<void>((resolve) => {
    const over = (reason: string): void => {
      if (!isOver) why = `${reason}${end}`
      if (!isOver && !isClosing && !log) process.stderr.write(`byref mcp: ${why}\n`)
      isOver = true
      resolve()
    }
    child.once('error', ({ message }) =>
      over(`The MCP server cannot be started (${message}). Check that the command is installed`),
    )
    child.once('close', (code, signal) =>
      over(`The MCP server has ended (${signal ? `killed by ${signal}` : `exit code ${code}`})`),
    )
  })
  const channel: ProcessChannel = {
    whyEnded: () => why,
    pid: child.pid ?? null,
    stderr: null,
    async start() {
      lines.onmessage = (message) => channel.onmessage?.(message)
      inBackground(
        'Closing an MCP server',
        ended.then(() => channel.onclose?.()),
      )
      await Promise.race([spawned, ended])
      await lines.start()
    },
    async send(message) {
      if (isOver) throw new Error(why)
      await lines.send(message)
    },
    async close() {
      isClosing = true
      child.stdin.end()
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
        if (!isOver) child.kill(signal)
      }
      // Child processes of the server may keep its output open.
      child.stdout.destroy()
      await ended
    },
  }
  return channel
}
