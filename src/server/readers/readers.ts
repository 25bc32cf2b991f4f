import type { Agent } from '../../agent/agent-contract.ts'
import { findAsset } from '../../assets/asset-facade.ts'
import { namedAssets } from '../../assets/named-assets.ts'
import { ByrefError } from '../../core/errors.ts'
import type { ConversationEvent, LogRecord } from '../../core/events/events.ts'
import {
  join,
  joinAll,
  type Label,
  type LabelInput,
  mayRead,
  readLabel,
  STRICTEST,
  TRUSTED,
} from '../../core/labels/label.ts'
import { readLabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import { withheldMessage } from '../../core/labels/withheld.ts'
import type { Message } from '../../core/messages/message.ts'
import { type AssetRefParts, parseAssetRef } from '../../core/refs/asset-ref.ts'
import {
  type ConversationLog,
  type ConversationSummary,
  readAll,
} from '../../log/conversation-log.ts'
import { LabelIndex } from '../../log/label-index.ts'
import { chatText, foldCase } from '../../log/summary.ts'
import { mapEvents } from '../events/channel.ts'
import { asRead } from './as-read.ts'

/** Decides what a reader may see of one conversation. */
export type ConversationReader = Awaited<ReturnType<Reader['conversation']>>

/** Makes readers by subject. */
export type Readers = ReturnType<typeof createReaders>

/** Decides by the labels in the log who may read what. Null if no agent has trust on: then nothing is checked. */
export function createReaders(agents: readonly Agent[], root: ConversationLog) {
  const [agent] = agents
  if (!agent || agents.every(({ trust }) => trust === 'off')) return null
  const index = new LabelIndex(root)
  const tools = labelsOfResults(agents)
  const of = (subject: string): Reader => new Reader(subject, { agent, index, tools })
  return { of, close: index.close }
}

interface ReaderSources {
  /** Any of the agents, because they share one store. */
  agent: Agent
  index: LabelIndex
  /** The labels that tools declare for their results. */
  tools: ReadonlyMap<string, Label>
}

/** What one caller may read, on a server whose agents have trust on (docs/reference/http-api.md). */
export class Reader {
  readonly #subject: string
  readonly #sources: ReaderSources

  constructor(subject: string, sources: ReaderSources) {
    this.#subject = subject
    this.#sources = sources
  }

  /** Returns a conversation as they may read it. */
  async conversation(log: ConversationLog, id: string) {
    const labels = await this.#sources.index.of(log, id)
    const may = (label: Label) => this.#may(label)
    const declared = (tool: string | undefined) => this.#sources.tools.get(tool ?? '') ?? TRUSTED
    const read = (event: ConversationEvent) => asRead(event, { labels, may, declared })
    return {
      labels,
      may,
      /** @throws ByrefError `forbidden` for a label that the reader may not read; `what` names the value */
      need: (label: Label, what: string): void => this.#need(label, what),
      /** Returns the label of what a model saw when it wrote a message, and of the message. */
      shownTo: (messageId: string): Label =>
        labels.message(messageId) ?? labels.values.context(messageId),
      message: (message: Message): Message =>
        may(labels.message(message.id) ?? labels.all) ? message : withheldMessage(message),
      record: (record: LogRecord): LogRecord => ({ ...record, event: read(record.event) }),
      stream: (stream: ReadableStream<Uint8Array>) =>
        mapEvents(stream, async (value) => {
          const { event, ...rest } = value as { event: ConversationEvent }
          await this.#sources.index.of(log, id)
          return { ...rest, event: read(event) }
        }),
    }
  }

  /** Returns a summary, without a title that they may not read. */
  async summary<T extends Pick<ConversationSummary, 'id' | 'title'>>(
    log: ConversationLog,
    summary: T,
  ): Promise<T> {
    const { title } = await this.#sources.index.of(log, summary.id)
    return this.#may(title) ? summary : { ...summary, title: null }
  }

  /** Returns whether a search finds the conversation in text that they may read. */
  async finds(
    log: ConversationLog,
    { id, title }: ConversationSummary,
    search: string,
  ): Promise<boolean> {
    const labels = await this.#sources.index.of(log, id)
    if (this.#may(labels.all)) return true
    const folded = foldCase(search)
    if (this.#may(labels.title) && foldCase(title ?? '').includes(folded)) return true
    const deleted = new Set(await log.deleted(id))
    for await (const { event } of readAll(log, id)) {
      if (event.type !== 'NEW_MESSAGE' || deleted.has(event.payload.id)) continue
      if (!this.#may(labels.message(event.payload.id) ?? labels.all)) continue
      if (foldCase(chatText(event) ?? '').includes(folded)) return true
    }
    return false
  }

  async mayReadAsset(log: ConversationLog, ref: string): Promise<boolean> {
    return this.#may(await this.#labelOf(log, ref))
  }

  /** @throws ByrefError `forbidden` for an asset, or the field that the reference names, which they may not read */
  async needAsset(log: ConversationLog, ref: string): Promise<void> {
    this.#need(await this.#labelOf(log, ref), 'The asset')
  }

  /**
   * Returns the label of the assets that a value names, for a conversation that does not know them; undefined where
   * everybody may read them.
   *
   * @throws ByrefError `forbidden` if they may not read one
   */
  async labelOfNamed(log: ConversationLog, value: unknown): Promise<LabelInput | undefined> {
    let all = TRUSTED
    for (const id of namedAssets(value)) {
      const label = await this.#assetLabel(log, { id })
      if (!label) continue
      this.#need(label, `The asset ${id}`)
      all = join(all, label)
    }
    return all.readers === null ? undefined : labelInput(all)
  }

  /** Returns the assets with readers that no other conversation knows. They are deleted with the conversation. */
  async assetsOnlyIn(log: ConversationLog, id: string): Promise<readonly string[]> {
    const { assets, values } = await this.#sources.index.of(log, id)
    const found: string[] = []
    for (const asset of assets) {
      if (values.asset({ id: asset }).readers === null) continue
      const homes = await this.#sources.index.homes(log, asset)
      if (homes.every((home) => home === id)) found.push(asset)
    }
    return found
  }

  /** Returns a stream of summaries as they may read it. */
  feed(log: ConversationLog, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    return mapEvents(stream, async (value) => {
      const { conversation } = value as { conversation?: ConversationSummary }
      return conversation ? { conversation: await this.summary(log, conversation) } : value
    })
  }

  #may(label: Label): boolean {
    return mayRead(this.#subject, label)
  }

  #need(label: Label, what: string): void {
    if (this.#may(label)) return
    throw new ByrefError(
      'forbidden',
      `${what} is withheld: "${this.#subject}" is not one of its readers`,
    )
  }

  async #labelOf(log: ConversationLog, ref: string): Promise<Label> {
    const parts = parseAssetRef(ref) as Pick<AssetRefParts, 'id' | 'fieldPath'> | null
    return (parts && (await this.#assetLabel(log, parts))) ?? TRUSTED
  }

  /** Returns the label of an asset by the conversations that know it, else by its record. */
  async #assetLabel(
    log: ConversationLog,
    ref: Pick<AssetRefParts, 'id' | 'fieldPath'>,
  ): Promise<Label | null> {
    const known = await this.#sources.index.asset(log, ref)
    if (known) return known
    const info = await findAsset(ref.id, this.#sources.agent.scoped(log.namespace).assets)
    return info?.label ? readLabel(info.label) : null
  }
}

/** Returns the labels that tools declare for their results. */
function labelsOfResults(agents: readonly Agent[]): ReadonlyMap<string, Label> {
  const found = new Map<string, Label>()
  for (const { id, returns } of agents.flatMap(({ tools }) => tools)) {
    if (returns === undefined) continue
    const label = typeof returns === 'function' ? STRICTEST : wholeOf(readLabelTree(returns))
    found.set(id, joinAll([found.get(id) ?? TRUSTED, label]))
  }
  return found
}

/** Returns the label of a message, and of the assets that it names. */
export function joinedLabel(
  a: LabelInput | undefined,
  b: LabelInput | undefined,
): LabelInput | undefined {
  return a && b ? labelInput(join(readLabel(a), readLabel(b))) : (a ?? b)
}

/** Returns a label without its sources. */
export function labelInput({ integrity, confidentiality, readers }: Label): LabelInput {
  return { integrity, confidentiality, readers }
}
