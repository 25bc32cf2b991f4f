import type { Board } from '../core/board/board.ts'
import { placeData } from '../core/board/place-data.ts'
import type { AssetCreated, Compaction } from '../core/events/events.ts'
import { isData } from '../core/messages/data-block.ts'
import { escapeBlocks } from '../core/messages/escape-blocks.ts'
import type { Message } from '../core/messages/message.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { resultCall } from '../core/messages/results.ts'
import { isDeleted } from '../core/messages/tombstone.ts'
import { MAX_ROWS, type Placer, type Placing } from './placer.ts'
import { resultItem } from './result-item.ts'
import type { TextPart } from './transcript-item.ts'
import { userParts } from './user-parts.ts'

/** What is shown compactly. */
export interface Covered {
  /** The messages up to the compaction. */
  messages: readonly Message[]
  /** The data after them. */
  board: Pick<Board, 'entries'>
  /** Whether data are merged into one block an identity. */
  merged: boolean
  known: { get(ref: string): AssetCreated | undefined }
}

/**
 * Places what a compaction covers: what the system said first, what stands for the messages that are left
 * out, the metas of all assets that were named, data of messages that are left out, what the system said and what is being
 * answered, then the messages that are shown.
 */
export function placeCompact(
  placer: Placer,
  { messages, board, merged, known }: Covered,
  { from, wholeFrom, media, pinned, summary }: Compaction,
): void {
  const leading = messages.findIndex((one) => !isSystem(one) && one.message_type !== 'log')
  const lead = leading === -1 ? messages.length : leading
  const first = Math.max(lead, indexOf(messages, from))
  const left = messages.slice(lead, first)
  const kept = messages.slice(first)
  const how: Placing = {
    merge: merged ? 'engine' : 'model',
    board,
    wholeFrom: indexOf(messages, wholeFrom),
    media: media && new Set(media),
  }
  placer.place(messages.slice(0, lead), 0, how)
  const asker = kept[0] && !isAsked(kept[0]) ? left.findLast(isAsked) : undefined
  const stays = new Set([...pinned, asker?.id])
  placer.skip(left)
  const data = dataIn(left, how)
  placer.write([
    ...leftOut(left, summary),
    ...placer.metas(namesIn(messages, known), messages.length),
    ...(data.length > 0 ? placer.tell('variables') : []),
    ...data,
  ])
  for (const [i, message] of left.entries()) {
    if (stays.has(message.id) || isSystem(message)) placer.place([message], lead + i, how)
  }
  placer.place(kept, first, how)
}

/** What stands for messages that are left out. */
function leftOut(messages: readonly Message[], summary: Compaction['summary']): TextPart[] {
  const told = summary?.messages ?? 0
  const rest = countShown(messages) - told
  const lines = [
    ...(summary ? [`[Summary of ${told} earlier messages]\n${escapeBlocks(summary.text)}`] : []),
    ...(rest > 0 ? [`[${rest} ${summary ? 'more' : 'earlier messages'} are left out]`] : []),
  ]
  return lines.map((text): TextPart => ({ type: 'text', text }))
}

/** How many messages are no log, and not deleted. */
export function countShown(messages: readonly Message[]): number {
  return messages.filter((one) => one.message_type !== 'log' && !isDeleted(one)).length
}

function dataIn(messages: readonly Message[], { merge, board }: Placing): TextPart[] {
  const placed = placeData(messages.filter(isData), { merge, board, maxRows: MAX_ROWS })
  return placed.flatMap((item): TextPart[] =>
    item.type === 'data' ? [{ type: 'text', text: item.text }] : [],
  )
}

/** The assets that messages name, by whole references. */
function namesIn(messages: readonly Message[], known: Covered['known']): Set<string> {
  const calls = new Map(
    messages.flatMap((message) =>
      readMetadata(message).calls.map((call) => [call.id, call] as const),
    ),
  )
  const names = new Set<string>()
  for (const message of messages) {
    if (message.sender.participant_role === 'assistant' || isData(message)) continue
    const id = resultCall(message)
    const call = id === null ? undefined : calls.get(id)
    const found = call
      ? resultItem(call, { message, number: 0, index: 0 }, { known, whole: true }).names
      : userParts(message, known).names
    for (const name of found) names.add(name)
  }
  return names
}

/** Who a run answers. */
export function isAsked(message: Message): boolean {
  const { sender, message_type: type } = message
  return sender.participant_role === 'user' && type === 'chat' && isThere(message)
}

function isThere(message: Message): boolean {
  return message.content_type !== 'data' && !isDeleted(message)
}

/** What the system said, and is shown. */
export function isSystem({ sender, message_type: type }: Message): boolean {
  return sender.participant_role === 'system' && type !== 'log'
}

/** The index of a message; 0 for none. */
function indexOf(messages: readonly Message[], id: string | null): number {
  return id === null
    ? 0
    : Math.max(
        0,
        messages.findIndex((one) => one.id === id),
      )
}
