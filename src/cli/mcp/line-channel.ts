import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Channel, RpcMessage } from '../../integrations/mcp/rpc/json-rpc.ts'

/** The line of each message, so that an unchanged message is passed on byte for byte. */
const lines = new WeakMap<RpcMessage, string>()

/** Creates a connection with one JSON message per line, as MCP uses on stdio. `close` ends only the output. */
export function lineChannel(input: Readable, output: Writable): Channel {
  const channel: Channel = {
    async start() {
      const reader = createInterface({ input, crlfDelay: Infinity })
      reader.on('line', (line) => {
        for (const message of parse(line)) channel.onmessage?.(message)
      })
      reader.on('close', () => channel.onclose?.())
      // When the other side is gone, or the input cannot be read, the input ends too.
      for (const stream of [output, input, reader]) stream.on('error', () => reader.close())
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

/** Returns the messages of a line. The protocol version 2025-03-26 has batches. */
function parse(line: string): RpcMessage[] {
  if (line.trim() === '') return []
  try {
    const value: unknown = JSON.parse(line)
    const messages = [value]
      .flat()
      .filter((one) => typeof one === 'object' && one !== null) as RpcMessage[]
    if (!Array.isArray(value) && messages[0]) lines.set(messages[0], line)
    return messages
  } catch {
    process.stderr.write(`byref mcp: ignored a line that is not JSON: ${line.slice(0, 200)}\n`)
    return []
  }
}
