import type { Agent } from '../../agent/agent-contract.ts'
import { findAsset } from '../../assets/find-asset.ts'
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
import { chatText, foldCase } from '../../log/chat-text.ts'
import {
  type ConversationLog,
  type ConversationSummary,
  readAll,
} from '../../log/conversation-log.ts'
import { asRead } from './as-read.ts'
import type { ConversationLabels } from './conversation-labels.ts'
import { createLabelIndex } from './label-index.ts'

/** What somebody may read of a server whose agents have trust on (docs/http-api.md). */
export interface Reader {
  /** A conversation as they may read it. */
  conversation(log: ConversationLog, id: string): Promise<ConversationReader>
  /** The summary of a conversation: without its title where that is somebody else's words. */
  summary<T extends Pick<ConversationSummary, 'id' | 'title'>>(
    log: ConversationLog,
    summary: T,
  ): Promise<T>
  /** Whether a search finds the conversation in what they may read. */
  finds(log: ConversationLog, summary: ConversationSummary, search: string): Promise<boolean>
  mayReadAsset(log: ConversationLog, ref: string): Promise<boolean>
  /** Throws `forbidden` where they may not read an asset, or the field that the reference names. */
  needAsset(log: ConversationLog, ref: string): Promise<void>
  /**
   * What the assets that a value names are said to be, since another conversation does not know them; undefined where
   * all may read them. Throws `forbidden` where they may not read one.
   */
  labelOfNamed(log: ConversationLog, value: unknown): Promise<LabelInput | undefined>
  /** The assets that go with a conversation: those with readers that no other one knows. */
  goingWith(log: ConversationLog, conversation: string): Promise<readonly string[]>
  /** A stream of summaries. */
  feed(log: ConversationLog, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>
}

/** What somebody may read of one conversation. */
export interface ConversationReader {
  readonly its: ConversationLabels
  may(label: Label): boolean
  record(record: LogRecord): LogRecord
  message(message: Message): Message
  /** Of what a model had been shown when it wrote a message, and of the message. */
  shownTo(messageId: string): Label
  /** Throws `forbidden`. */
  need(label: Label, what: string): void
  stream(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>
}

/** Makes readers by whom they stand for. */
export interface Readers {
  of(subject: string): Reader
  close(): void
}

/** Who reads what is known by the labels in the log; null where no agent has trust on, and then nothing is looked at. */
export function createReaders(agents: readonly Agent[], root: ConversationLog): Readers | null {
  if (agents.every(({ trust }) => trust === 'off')) return null
  const index = createLabelIndex(root)
  const tools = saidOfResults(agents)
  const said = (tool: string | undefined): Label => (tool ? tools.get(tool) : undefined) ?? TRUSTED

  /** Of an asset as the conversations say that know it, else as its record says. */
  async function assetLabel(
    log: ConversationLog,
    ref: Pick<AssetRefParts, 'id' | 'fieldPath'>,
  ): Promise<Label | null> {
    const known = await index.asset(log, ref)
    if (known) return known
    for (const agent of agents) {
      const info = await findAsset(ref.id, agent.scoped(log.namespace).assets)
      if (info?.label) return readLabel(info.label)
    }
    return null
  }

  function readerOf(subject: string): Reader {
    const may = (label: Label): boolean => mayRead(subject, label)
    const need = (label: Label, what: string): void => {
      if (may(label)) return
      throw new ByrefError(
        'forbidden',
        `${what} is withheld: "${subject}" is not among its readers`,
      )
    }

    async function conversation(log: ConversationLog, id: string): Promise<ConversationReader> {
      const its = await index.of(log, id)
      const read = (event: ConversationEvent) => asRead(event, { its, may, said })
      return {
        its,
        may,
        need,
        shownTo: (id) => its.message(id) ?? its.labels.context(id),
        message: (message) =>
          may(its.message(message.id) ?? its.all) ? message : withheldMessage(message),
        record: (record) => ({ ...record, event: read(record.event) }),
        stream: (stream) =>
          eachEvent(stream, async (value) => {
            const { event, ...rest } = value as { event: ConversationEvent }
            await index.of(log, id)
            return { ...rest, event: read(event) }
          }),
      }
    }

    async function labelOf(log: ConversationLog, ref: string): Promise<Label> {
      const parts = parseAssetRef(ref) as Pick<AssetRefParts, 'id' | 'fieldPath'> | null
      return (parts && (await assetLabel(log, parts))) ?? TRUSTED
    }

    const reader: Reader = {
      conversation,
      async summary(log, summary) {
        const { title } = await index.of(log, summary.id)
        return may(title) ? summary : { ...summary, title: null }
      },
      async finds(log, summary, search) {
        const its = await index.of(log, summary.id)
        if (may(its.all)) return true
        const looked = foldCase(search)
        if (may(its.title) && foldCase(summary.title ?? '').includes(looked)) return true
        const deleted = new Set(await log.deleted(summary.id))
        for await (const { event } of readAll(log, summary.id)) {
          if (event.type !== 'NEW_MESSAGE' || deleted.has(event.payload.id)) continue
          if (!may(its.message(event.payload.id) ?? its.all)) continue
          if (foldCase(chatText(event) ?? '').includes(looked)) return true
        }
        return false
      },
      mayReadAsset: async (log, ref) => may(await labelOf(log, ref)),
      needAsset: async (log, ref) => need(await labelOf(log, ref), 'The asset'),
      async labelOfNamed(log, value) {
        let all = TRUSTED
        for (const id of namedAssets(value)) {
          const label = await assetLabel(log, { id })
          if (!label) continue
          need(label, `The asset ${id}`)
          all = join(all, label)
        }
        if (all.readers === null) return undefined
        const { integrity, confidentiality, readers } = all
        return { integrity, confidentiality, readers }
      },
      async goingWith(log, id) {
        const { assets, labels } = await index.of(log, id)
        const found: string[] = []
        for (const asset of assets) {
          if (labels.asset({ id: asset }).readers === null) continue
          const homes = await index.homes(log, asset)
          if (homes.every((home) => home === id)) found.push(asset)
        }
        return found
      },
      feed: (log, stream) =>
        eachEvent(stream, async (value) => {
          const { conversation: summary } = value as { conversation?: ConversationSummary }
          return summary ? { conversation: await reader.summary(log, summary) } : value
        }),
    }
    return reader
  }

  return { of: readerOf, close: index.close }
}

/** What tools say of their results, as far as that is known before there is one. */
function saidOfResults(agents: readonly Agent[]): ReadonlyMap<string, Label> {
  const found = new Map<string, Label>()
  for (const { id, returns } of agents.flatMap(({ tools }) => tools)) {
    if (returns === undefined) continue
    const label = typeof returns === 'function' ? STRICTEST : wholeOf(readLabelTree(returns))
    found.set(id, joinAll([found.get(id) ?? TRUSTED, label]))
  }
  return found
}

/** What is said of a message that is said again, and of what it names. */
export function eitherLabel(
  a: LabelInput | undefined,
  b: LabelInput | undefined,
): LabelInput | undefined {
  if (!a || !b) return a ?? b
  const { integrity, confidentiality, readers } = join(readLabel(a), readLabel(b))
  return { integrity, confidentiality, readers }
}

/** Changes the JSON of each event in a stream of server-sent events; what is no event with data passes as it is. */
function eachEvent(
  stream: ReadableStream<Uint8Array>,
  change: (value: unknown) => Promise<unknown>,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ''
  const changing = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      const pieces = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = pieces.pop() ?? ''
      for (const piece of pieces) {
        controller.enqueue(encoder.encode(`${await changed(piece, change)}\n\n`))
      }
    },
  })
  return stream.pipeThrough(changing)
}

/** A piece with its data changed; the data of an event of the log is one line. */
async function changed(
  piece: string,
  change: (value: unknown) => Promise<unknown>,
): Promise<string> {
  const lines = piece.split('\n')
  const at = lines.findIndex((line) => line.startsWith('data: '))
  if (at < 0 || lines.some((line) => line.startsWith('event: '))) return piece
  const value = await change(JSON.parse((lines[at] as string).slice('data: '.length)))
  return lines.with(at, `data: ${JSON.stringify(value)}`).join('\n')
}
