import type { ExportHeader } from './json-lines.ts'
import { CHUNK } from './pause.ts'
import { type ImportedLine, readLines } from './read-lines.ts'
import {
  type ConversationState,
  deletedBy,
  NEW_CONVERSATION,
  stateAfter,
  withoutMessages,
} from './summary.ts'

/** What becomes a conversation when the last line was right. */
export interface Staged {
  key: number
  header: ExportHeader
  position: number
  state: ConversationState
}

/** Where staged lines go. */
export interface Staging {
  key: number
  /** Stores a piece of them; at the end also an empty one. */
  store(piece: readonly ImportedLine[]): Promise<void>
  /** Takes away deleted messages that are stored: how many there were, and the title that the others give. */
  forget(ids: readonly string[]): Promise<{ gone: number; title: string | null }>
}

/** Stores lines by pieces and folds them. */
export async function stageLines(
  lines: AsyncIterable<string> | Iterable<string>,
  { key, store, forget }: Staging,
): Promise<Staged> {
  const header: ExportHeader = { id: '', title: null, created: 0, updated: 0 }
  const staged: Staged = { key, header, position: 0, state: NEW_CONVERSATION }
  const deleted: string[] = []
  let piece: ImportedLine[] = []
  for await (const line of readLines(lines)) {
    if (line.type === 'header') {
      staged.header = line.header
      continue
    }
    if (line.type === 'record') {
      staged.position = line.position
      staged.state = stateAfter(staged.state, [line.event])
      deleted.push(...deletedBy([line.event]))
    }
    if (piece.push(line) < CHUNK) continue
    await store(piece)
    piece = []
  }
  await store(piece)
  if (deleted.length > 0) staged.state = withoutMessages(staged.state, await forget(deleted))
  return staged
}
