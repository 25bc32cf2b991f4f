import { debugLine, headerLine, recordLine } from '../json-lines.ts'
import { CHUNK, pause } from '../pause.ts'
import type { MemoryConversation } from './memory-conversation.ts'

/** The lines of a conversation as it is when the first is asked for. */
export async function* exportLines(conversation: MemoryConversation): AsyncGenerator<string> {
  const { id, name: title, created, updated, kept } = conversation
  const records = conversation.records.slice()
  const debug = [...conversation.debug]
  yield `${headerLine({ id, title, created, updated }, kept.get(0))}\n`
  for (const { position, timestamp, event } of records) {
    if (position % CHUNK === 0) await pause()
    const line = kept.get(position)
    yield `${line ?? recordLine(position, Date.parse(timestamp), JSON.stringify(event))}\n`
  }
  for (const [message, value] of debug) {
    yield `${kept.get(message) ?? debugLine(message, value)}\n`
  }
}
