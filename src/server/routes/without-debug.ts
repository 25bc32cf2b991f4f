/** The lines of an export (docs/conversation-log.md) without those of debug data. */
export async function* withoutDebug(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) if (!isDebug(line)) yield line
}

function isDebug(line: string): boolean {
  if (line.startsWith('{"debug":')) return true
  // Lines of other versions may have their keys in another order.
  return !line.includes('"event":') && 'debug' in JSON.parse(line)
}
