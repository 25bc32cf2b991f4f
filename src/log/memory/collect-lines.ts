import { CHUNK, pause } from '../pause.ts'
import { type ImportedLine, readLines } from '../read-lines.ts'
import { deletedBy, stateAfter } from '../summary.ts'
import { deleteMessages } from './delete-messages.ts'
import { type MemoryConversation, newConversation } from './memory-conversation.ts'

/** The conversation that lines make, in a namespace. @throws ByrefError `bad_request` */
export async function collectLines(
  lines: AsyncIterable<string> | Iterable<string>,
  namespace: string | null,
): Promise<MemoryConversation> {
  const conversation = newConversation('', namespace, 0)
  let read = 0
  for await (const line of readLines(lines)) {
    if (++read % CHUNK === 0) await pause()
    add(conversation, line)
  }
  deleteMessages(conversation, deletedBy(conversation.records.map(({ event }) => event)))
  return conversation
}

function add(conversation: MemoryConversation, line: ImportedLine): void {
  const { kept } = conversation
  if (line.type === 'header') {
    const { id, title: name, created, updated } = line.header
    Object.assign(conversation, { id, name, created, updated })
    if (line.kept !== null) kept.set(0, line.kept)
    return
  }
  if (line.type === 'debug') {
    conversation.debug.set(line.message, line.json)
    if (line.kept !== null) kept.set(line.message, line.kept)
    return
  }
  const { position, at, event } = line
  conversation.records.push({ v: 1, position, timestamp: new Date(at).toISOString(), event })
  conversation.position = position
  conversation.state = stateAfter(conversation.state, [event])
  if (line.kept !== null) kept.set(position, line.kept)
}
