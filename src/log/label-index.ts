import { joinAll, type Label } from '../core/labels/label.ts'
import { getRecent } from '../core/recent.ts'
import type { AssetRefParts } from '../core/refs/asset-ref.ts'
import { ConversationLabels } from './conversation-labels.ts'
import { type ConversationLog, listAll, readAll, scopedKey } from './conversation-log.ts'
import { Turns } from './turns.ts'

interface Entry {
  /** Namespace and id of the conversation. */
  key: string
  labels: ConversationLabels
  /** Whether the conversation was deleted while it was read. */
  isDeleted: boolean
}

/** Maximum number of conversations whose labels are cached. */
const MAX_ENTRIES = 500

/** The labels of the conversations of a log, in all its namespaces. They are read when they are first asked for. */
export class LabelIndex {
  readonly #entries = new Map<string, Entry>()
  /** Entries that are being read, even if they are no longer cached. */
  readonly #beingRead = new Set<Entry>()
  /** The conversations that know an asset. */
  readonly #homes = new Map<string, Set<string>>()
  /** By namespace, the conversations that changed since their assets were read. */
  readonly #changed = new Map<string | null, Set<string>>()
  /** Reads of one conversation run one after the other. */
  readonly #reads = new Turns<string>()
  /** Refreshes of one namespace run one after the other, so that each sees what the previous one has read. */
  readonly #refreshes = new Turns<string | null>()
  /** Stops following the log. */
  readonly close: () => void

  constructor(root: ConversationLog) {
    this.close = root.subscribe(
      ({ conversation, namespace, deleted, streamed }) => {
        if (streamed) return
        if (deleted) this.#forget(namespace, conversation)
        else this.#changed.get(namespace)?.add(conversation)
      },
      { allNamespaces: true, wants: () => false },
    )
  }

  /** Returns the labels of a conversation, up to the end of its log. */
  async of(log: ConversationLog, conversation: string): Promise<ConversationLabels> {
    const key = scopedKey(log.namespace, conversation)
    const made = () => ({ key, isDeleted: false, labels: new ConversationLabels() })
    const entry = getRecent(this.#entries, key, made, MAX_ENTRIES)
    await this.#reads.take(key, () => this.#read(entry, log, conversation))
    return entry.labels
  }

  /** Returns the label of an asset or a field, joined over all conversations that know it; null if none does. */
  async asset(
    log: ConversationLog,
    ref: Pick<AssetRefParts, 'id' | 'fieldPath'>,
  ): Promise<Label | null> {
    const found: Label[] = []
    for (const id of await this.homes(log, ref.id)) {
      found.push((await this.of(log, id)).values.asset(ref))
    }
    return found.length === 0 ? null : joinAll(found)
  }

  /** Returns the conversations that know an asset. */
  async homes(log: ConversationLog, assetId: string): Promise<readonly string[]> {
    const { namespace } = log
    await this.#refreshes.take(namespace, () => this.#refresh(log))
    return [...(this.#homes.get(scopedKey(namespace, assetId)) ?? [])]
  }

  #forget(namespace: string | null, conversation: string): void {
    const ofNamespace = scopedKey(namespace, '')
    for (const [key, homes] of this.#homes) {
      if (key.startsWith(ofNamespace) && homes.delete(conversation) && homes.size === 0) {
        this.#homes.delete(key)
      }
    }
    const deleted = scopedKey(namespace, conversation)
    this.#entries.delete(deleted)
    for (const entry of this.#beingRead) if (entry.key === deleted) entry.isDeleted = true
    this.#changed.get(namespace)?.delete(conversation)
  }

  async #read(entry: Entry, log: ConversationLog, conversation: string): Promise<void> {
    this.#beingRead.add(entry)
    try {
      for await (const record of readAll(log, conversation, entry.labels.position)) {
        entry.labels.apply(record)
        if (record.event.type !== 'ASSET_CREATED' || entry.isDeleted) continue
        const key = scopedKey(log.namespace, record.event.payload.assetId)
        const known = this.#homes.get(key) ?? new Set()
        this.#homes.set(key, known.add(conversation))
      }
    } finally {
      this.#beingRead.delete(entry)
    }
  }

  async #refresh(log: ConversationLog): Promise<void> {
    const { namespace } = log
    const waiting = this.#changed.get(namespace) ?? new Set<string>()
    if (!this.#changed.has(namespace)) {
      // The subscription adds later changes from here on.
      this.#changed.set(namespace, waiting)
      try {
        for await (const { id } of listAll(log)) await this.of(log, id)
      } catch (error) {
        this.#changed.delete(namespace)
        throw error
      }
    }
    for (const id of [...waiting]) {
      waiting.delete(id)
      try {
        await this.of(log, id)
      } catch (error) {
        waiting.add(id)
        throw error
      }
    }
  }
}
