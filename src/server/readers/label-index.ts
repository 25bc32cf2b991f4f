import { joinAll, type Label } from '../../core/labels/label.ts'
import type { AssetRefParts } from '../../core/refs/asset-ref.ts'
import { type ConversationLog, listAll, readAll } from '../../log/conversation-log.ts'
import { type ConversationLabels, conversationLabels } from './conversation-labels.ts'

/** The labels of the conversations of a log, as far as they were asked for. */
export interface LabelIndex {
  /** Of a conversation, up to the end of its log. */
  of(log: ConversationLog, conversation: string): Promise<ConversationLabels>
  /** Of an asset or a field of one: of all conversations that know it together; null where none does. */
  asset(log: ConversationLog, ref: Pick<AssetRefParts, 'id' | 'fieldPath'>): Promise<Label | null>
  /** The conversations that know an asset. */
  homes(log: ConversationLog, assetId: string): Promise<readonly string[]>
  close(): void
}

interface Entry {
  its: ConversationLabels
  /** Reads of one conversation come one after the other. */
  reading: Promise<void>
}

/** Conversations whose labels are kept; others are read anew. */
const KEPT = 500

/** Makes an index over all namespaces of a log; it reads nothing before it is asked. */
export function createLabelIndex(root: ConversationLog): LabelIndex {
  const entries = new Map<string, Entry>()
  const homes = new Map<string, Set<string>>()
  /** By namespace the conversations that changed since they were read for their assets. */
  const changed = new Map<string | null, Set<string>>()
  const refreshing = new Map<string | null, Promise<void>>()

  const unsubscribe = root.subscribe(
    ({ conversation, namespace, deleted, streamed }) => {
      if (streamed) return
      if (deleted) forget(namespace, conversation)
      else changed.get(namespace)?.add(conversation)
    },
    { allNamespaces: true, wants: () => false },
  )

  function forget(namespace: string | null, conversation: string): void {
    const entry = entries.get(keyOf(namespace, conversation))
    for (const id of entry?.its.assets ?? []) homes.get(keyOf(namespace, id))?.delete(conversation)
    entries.delete(keyOf(namespace, conversation))
    changed.get(namespace)?.delete(conversation)
  }

  async function of(log: ConversationLog, conversation: string): Promise<ConversationLabels> {
    const key = keyOf(log.namespace, conversation)
    const entry = entries.get(key) ?? newEntry()
    entries.delete(key)
    entries.set(key, entry)
    if (entries.size > KEPT) entries.delete(entries.keys().next().value as string)
    const reading = entry.reading.catch(() => {}).then(() => read(entry, log, conversation))
    entry.reading = reading
    // Whoever asks hears of a failure; nobody else waits for it.
    reading.catch(() => {})
    await reading
    return entry.its
  }

  async function read(entry: Entry, log: ConversationLog, conversation: string): Promise<void> {
    for await (const record of readAll(log, conversation, entry.its.position)) {
      entry.its.apply(record)
      if (record.event.type !== 'ASSET_CREATED') continue
      const key = keyOf(log.namespace, record.event.payload.assetId)
      const known = homes.get(key) ?? new Set()
      homes.set(key, known.add(conversation))
    }
  }

  /** Reads what changed since; one after the other, so that nobody goes on before what another began is read. */
  function refresh(log: ConversationLog): Promise<void> {
    const { namespace } = log
    const before = refreshing.get(namespace) ?? Promise.resolve()
    const now = before.catch(() => {}).then(() => readChanged(log))
    refreshing.set(namespace, now)
    return now
  }

  async function readChanged(log: ConversationLog): Promise<void> {
    const { namespace } = log
    const waiting = changed.get(namespace) ?? new Set<string>()
    if (!changed.has(namespace)) {
      // From here on changes are told.
      changed.set(namespace, waiting)
      try {
        for await (const { id } of listAll(log)) await of(log, id)
      } catch (error) {
        changed.delete(namespace)
        throw error
      }
    }
    for (const id of [...waiting]) {
      waiting.delete(id)
      await of(log, id).catch((error: unknown) => {
        waiting.add(id)
        throw error
      })
    }
  }

  async function homesOf(log: ConversationLog, assetId: string): Promise<readonly string[]> {
    await refresh(log)
    return [...(homes.get(keyOf(log.namespace, assetId)) ?? [])]
  }

  return {
    of,
    homes: homesOf,
    async asset(log, ref) {
      const found: Label[] = []
      for (const id of await homesOf(log, ref.id)) {
        found.push((await of(log, id)).labels.asset(ref))
      }
      return found.length === 0 ? null : joinAll(found)
    },
    close: unsubscribe,
  }
}

function newEntry(): Entry {
  return { its: conversationLabels(), reading: Promise.resolve() }
}

function keyOf(namespace: string | null, id: string): string {
  return `${namespace ?? ''}\n${id}`
}
