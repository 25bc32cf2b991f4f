import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Channel, RpcMessage } from '../../join/mcp/json-rpc.ts'

/** Messages and the lines that they came as, so that what passes unchanged is the same to the letter. */
const lines = new WeakMap<RpcMessage, string>()

/** A connection of lines of JSON, as MCP has it on stdio; `close` only ends what is written. */
export function lineChannel(input: Readable, output: Writable): Channel {
  const channel: Channel = {
    async start() {
      const reader = createInterface({ input, crlfDelay: Infinity })
      reader.on('line', (line) => {
        const message = parse(line)
        if (message) channel.onmessage?.(message)
      })
      reader.on('close', () => channel.onclose?.())
      // Whoever reads has gone: the input ends too.
      output.on('error', () => reader.close())
    },
    send(message) {
      const line = lines.get(message) ?? JSON.stringify(message)
      return new Promise((resolve) => output.write(`${line}\n`, () => resolve()))
    },
    async close() {
      await new Promise<void>((resolve) => output.end(resolve))
    },
  }
  return channel
}

function parse(line: string): RpcMessage | null {
  if (line.trim() === '') return null
  try {
    const message: unknown = JSON.parse(line)
    if (typeof message !== 'object' || message === null) return null
    lines.set(message as RpcMessage, line)
    return message as RpcMessage
  } catch {
    process.stderr.write(
      `byref mcp proxy: a line that is no JSON was left out: ${line.slice(0, 200)}\n`,
    )
    return null
  }
}
