import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Channel, RpcMessage } from '../../integrations/mcp/rpc/json-rpc.ts'

/** Messages and the lines that they came as, so that what passes unchanged is the same to the letter. */
const lines = new WeakMap<RpcMessage, string>()

/** A connection of lines of JSON, as MCP has it on stdio; `close` only ends what is written. */
export function lineChannel(input: Readable, output: Writable): Channel {
  const channel: Channel = {
    async start() {
      const reader = createInterface({ input, crlfDelay: Infinity })
      reader.on('line', (line) => {
        for (const message of parse(line)) channel.onmessage?.(message)
      })
      reader.on('close', () => channel.onclose?.())
      // Whoever reads has gone: the input ends too. So it does where it cannot be read.
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

/** The message of a line; those of a batch, as 2025-03-26 has them, one by one. */
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
    process.stderr.write(`byref mcp: a line that is no JSON was left out: ${line.slice(0, 200)}\n`)
    return []
  }
}
