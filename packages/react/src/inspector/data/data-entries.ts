import { type DataBlock, formatIdentity, type Message } from 'byref/client'
import { isBlock, methodOf, readBlock, variableOf } from '../../references/data-block.ts'

/** A write to a value by a message. */
export interface DataWrite {
  messageId: string
  at: string
  method: string
  /** The target of the write, as a variable reference. */
  target: string
  block: Partial<DataBlock>
}

/** A value on the board, identified by kind and instance. */
export interface DataEntry {
  /** `state`, `user#a`. */
  identity: string
  kind: string
  instance: string | null
  schema: Record<string, unknown> | null
  description: string | null
  /** Oldest first. */
  writes: DataWrite[]
}

/** Returns the values of a conversation by kind and instance, each with its history. */
export function dataEntries(messages: readonly Message[]): DataEntry[] {
  const entries = new Map<string, DataEntry>()
  for (const message of messages) {
    if (!isBlock(message)) continue
    const block = readBlock(message)
    const kind = String(block.kind ?? 'data')
    const instance = block._instance ?? null
    const identity = formatIdentity(kind, block._instance)
    const known = { identity, kind, instance, schema: null, description: null, writes: [] }
    const entry: DataEntry = entries.get(identity) ?? known
    entry.schema = block.schema ?? entry.schema
    entry.description = block.description ?? entry.description
    entry.writes.push({
      messageId: message.id,
      at: message.timestamp,
      method: methodOf(block),
      target: variableOf(block),
      block,
    })
    entries.set(identity, entry)
  }
  return [...entries.values()]
}

/** Returns all writes of a conversation in the order of its messages. */
export function writesOf(
  entries: readonly DataEntry[],
  messages: readonly Message[],
): readonly DataWrite[] {
  const byMessage = new Map(
    entries.flatMap(({ writes }) => writes.map((write) => [write.messageId, write])),
  )
  return messages.flatMap(({ id }) => byMessage.get(id) ?? [])
}
