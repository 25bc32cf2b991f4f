import type { Board } from '../core/board/board.ts'
import { placeData } from '../core/board/place-data.ts'
import type { AssetCreated, Compaction } from '../core/events/events.ts'
import { isData } from '../core/messages/data-block.ts'
import { isDeleted, type Message } from '../core/messages/message.ts'
import { escapeBlocks } from '../core/messages/metas-block.ts'
import { resultCall } from '../core/messages/results.ts'
import { oncePer } from '../core/once-resolved.ts'
import { MAX_ROWS, type Placer, type Placing } from './placer.ts'
import { resultItem } from './result-item.ts'
import type { TextPart } from './transcript-item.ts'
import { filesOfAnswer, userParts } from './user-parts.ts'

/** The part of a conversation that a compaction covers. */
export interface Covered {
  /** The messages before the compaction. */
  messages: readonly Message[]
  /** The board after these messages. */
  board: Pick<Board, 'entries'>
  /** Whether data is merged into one block for each name. */
  isMerged: boolean
  known: { get(ref: string): AssetCreated | undefined }
}

/**
 * Shows the part of a conversation that a compaction covers, in this order: the system messages at the start; a note
 * about the messages that are left out, and their newest files; the metadata of all named assets; from the messages
 * left out, their data, system messages and open questions; and then the messages that are shown.
 */
export function placeCompact(
  placer: Placer,
  { messages, board, isMerged, known }: Covered,
  { from, wholeFrom, media, pinned, summary }: Compaction,
): void {
  const leading = messages.findIndex((one) => !isSystem(one) && one.message_type !== 'log')
  const lead = leading === -1 ? messages.length : leading
  const first = Math.max(lead, indexOf(messages, from))
  const omitted = messages.slice(lead, first)
  const kept = messages.slice(first)
  const placing: Placing = {
    merge: isMerged ? 'engine' : 'model',
    board,
    wholeFrom: indexOf(messages, wholeFrom),
    media: media && new Set(media),
  }
  placer.place(messages.slice(0, lead), 0, placing)
  const stays = staying(messages, { from, pinned })
  placer.skip(omitted)
  const data = dataIn(omitted, placing)
  const left = leftOut(messages, { from, pinned })
  const shown = namesIn(left.length > 0 ? kept : [], known)
  const files = [...namesIn(left, known)].filter((name) => !shown.has(name))
  placer.write([
    ...omissionNotes(left.length, summary),
    ...placer.markers(files),
    ...placer.metas(namesIn(messages, known), messages.length),
    ...(data.length > 0 ? placer.topicOnce('variables') : []),
    ...data,
  ])
  for (const [i, message] of omitted.entries()) {
    if (stays.has(message)) placer.place([message], lead + i, placing)
  }
  placer.place(kept, first, placing)
}

/** Returns the texts that replace the messages which are left out. */
function omissionNotes(omitted: number, summary: Compaction['summary']): TextPart[] {
  const count = summary?.messages ?? 0
  const more = omitted - count
  const lines = [
    ...(summary
      ? [`[Summary of ${count} earlier ${plural(count)}]\n${escapeBlocks(summary.text)}`]
      : []),
    ...(more > 0 ? [`[${more} ${summary ? 'more' : 'earlier'} ${plural(more)} omitted]`] : []),
  ]
  return lines.map((text): TextPart => ({ type: 'text', text }))
}

function plural(count: number): string {
  return count === 1 ? 'message' : 'messages'
}

/** Returns the messages that a compaction leaves out of the prompt. Data is among them, although its values are shown. */
export function leftOut(
  messages: readonly Message[],
  { from, pinned }: Pick<Compaction, 'from' | 'pinned'>,
): Message[] {
  const stays = staying(messages, { from, pinned })
  return messages
    .slice(0, indexOf(messages, from))
    .filter((one) => one.message_type !== 'log' && !isDeleted(one) && !stays.has(one))
}

/** Returns the messages before `from` that stay: of the system, open questions, and that of the first answer shown. */
function staying(
  messages: readonly Message[],
  { from, pinned }: Pick<Compaction, 'from' | 'pinned'>,
): ReadonlySet<Message> {
  const first = indexOf(messages, from)
  const before = messages.slice(0, first)
  const next = messages[first]
  const asker = next && !isAsked(next) ? before.findLast(isAsked) : undefined
  return new Set(before.filter((one) => one === asker || isSystem(one) || pinned.includes(one.id)))
}

function dataIn(messages: readonly Message[], { merge, board }: Placing): TextPart[] {
  const placed = placeData(messages.filter(isData), { merge, board, maxRows: MAX_ROWS })
  return placed.flatMap((item): TextPart[] =>
    item.type === 'data' ? [{ type: 'text', text: item.text }] : [],
  )
}

/** Returns the references of the assets that messages name. */
function namesIn(messages: readonly Message[], known: Covered['known']): Set<string> {
  const names = new Set<string>()
  for (const message of messages) {
    const { written, bare } = namesOf(message)
    for (const name of written) names.add(name)
    for (const name of bare) if (known.get(name)) names.add(name)
  }
  return names
}

/**
 * Returns the references in a message: written as references, and as bare URLs, which count only for known assets. A
 * message never changes, and planning a compaction reads all of them many times.
 */
const namesOf = oncePer((message: Message) => {
  const written = namesFor(message, { get: () => undefined })
  const all = namesFor(message, { get: (ref) => ({ ...ANY_ASSET, ref }) })
  return { written, bare: [...all].filter((name) => !written.has(name)) }
})

const ANY_ASSET = { assetId: '', by: 'user', mime: '', kind: 'file', size: 0 } as AssetCreated

function namesFor(message: Message, known: Covered['known']): ReadonlySet<string> {
  if (isData(message)) return new Set()
  if (message.sender.participant_role === 'assistant') {
    const names = new Set<string>()
    filesOfAnswer(message, { known, names })
    return names
  }
  const id = resultCall(message)
  if (id === null) return userParts(message, known).names
  const call = { id, name: '', arguments: {} }
  return resultItem(call, { message, number: 0 }, { known, whole: true }).names
}

/** Whether a message is a user's message that a run answers. */
export function isAsked(message: Message): boolean {
  const { sender, message_type: type } = message
  return sender.participant_role === 'user' && type === 'chat' && isThere(message)
}

function isThere(message: Message): boolean {
  return message.content_type !== 'data' && !isDeleted(message)
}

/** Whether a message is shown as a system message. */
export function isSystem({ sender, message_type: type }: Message): boolean {
  return sender.participant_role === 'system' && type !== 'log'
}

/** Returns the index of a message; 0 if it is not found. */
function indexOf(messages: readonly Message[], id: string | null): number {
  return id === null
    ? 0
    : Math.max(
        0,
        messages.findIndex((one) => one.id === id),
      )
}
