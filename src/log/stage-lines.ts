import { CHUNK } from './pause.ts'
import { type ExportHeader, type ImportedLine, readLines } from './read-lines.ts'
import type { StoredRun } from './runs.ts'
import {
  type ConversationState,
  deletedBy,
  NEW_CONVERSATION,
  stateAfter,
  withoutMessages,
} from './summary.ts'

/** Imported lines that become a conversation after the last line was accepted. */
export interface Staged {
  key: number
  header: ExportHeader
  position: number
  state: ConversationState
  runs: readonly StoredRun[]
}

/** Where lines are staged. */
export interface Staging {
  key: number
  /** Stores some lines; the last call may have none. */
  store(piece: readonly ImportedLine[]): Promise<void>
  /** Removes deleted messages that are stored. Returns how many there were, and the title of the remaining messages. */
  forget(ids: readonly string[]): Promise<{ deleted: number; title: string | null }>
}

/** Lines of an export. */
export type Lines = AsyncIterable<string> | Iterable<string>

/** Stores lines in pieces and folds them. */
export async function stageLines(lines: Lines, { key, store, forget }: Staging): Promise<Staged> {
  const header: ExportHeader = { id: '', title: null, created: 0, updated: 0 }
  const staged: Staged = { key, header, position: 0, state: NEW_CONVERSATION, runs: [] }
  const runs = new Map<string, StoredRun>()
  const deleted: string[] = []
  let piece: ImportedLine[] = []
  for await (const line of readLines(lines)) {
    if (line.type === 'header') {
      staged.header = line.header
      continue
    }
    if (line.type === 'record') {
      const { at, position } = line
      const events = [line.event]
      const after = stateAfter(staged.state, events, at)
      for (const run of after.runs) runs.set(run.run, run)
      Object.assign(staged, { position, state: after.state })
      deleted.push(...deletedBy(events))
    }
    if (piece.push(line) < CHUNK) continue
    await store(piece)
    piece = []
  }
  await store(piece)
  if (deleted.length > 0) staged.state = withoutMessages(staged.state, await forget(deleted))
  return { ...staged, runs: [...runs.values()] }
}
