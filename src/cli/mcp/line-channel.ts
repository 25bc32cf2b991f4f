import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { LineSplitter } from '../../core/line-splitter.ts'
import type { Channel, RpcMessage } from '../../integrations/mcp/rpc/json-rpc.ts'

/** The line of each message, so that an unchanged message is passed on byte for byte. */
const originals = new WeakMap<RpcMessage, string>()

/** Creates a connection with one JSON message per line, as MCP uses on stdio. `close` ends only the output. */
export function lineChannel(input: Readable, output: Writable): Channel {
  const channel: Channel = {
    async start() {
      const decoder = new StringDecoder('utf8')
      const splitter = new LineSplitter()
      const take = (lines: string[]): void => {
        for (const message of lines.flatMap(parse)) channel.onmessage?.(message)
      }
      const read = (chunk: Buffer): void => take(splitter.push(decoder.write(chunk)))
      let isClosed = false
      const close = (): void => {
        if (isClosed) return
        isClosed = true
        input.off('data', read).pause()
        channel.onclose?.()
      }
      input.on('data', read)
      input.once('end', () => take([splitter.end()]))
      for (const event of ['end', 'close', 'error']) input.on(event, close)
      // The other side is gone.
      output.on('error', close)
    },
    send(message) {
      const line = originals.get(message) ?? JSON.stringify(message)
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
    if (!Array.isArray(value) && messages[0]) originals.set(messages[0], line)
    return messages
  } catch {
    process.stderr.write(`byref mcp: ignored a line that is not JSON: ${line.slice(0, 200)}\n`)
    return []
  }
}
