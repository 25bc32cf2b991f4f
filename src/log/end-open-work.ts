import type { ConversationEvent } from '../core/events/events.ts'
import { newId } from '../core/new-id.ts'
import { jsonIn } from './conversation-row.ts'
import { type Lines, recordLine } from './read-lines.ts'
import { NEW_CONVERSATION, type SummaryState, stateAfter } from './summary.ts'

/** Why open work ends. */
export interface OpenWorkReason {
  code: 'conversation_damaged' | 'interrupted'
  message: string
  /** Who ends it. */
  owner: string
}

/** Returns the events that end an open run and queued messages with an error. Nothing continues them then. */
export function openWorkEnd(
  conversation: string,
  { openRun, queued }: Pick<SummaryState, 'openRun' | 'queued'>,
  { code, message, owner }: OpenWorkReason,
): ConversationEvent[] {
  const end = (runId: string): ConversationEvent => {
    return { type: 'RUN_ERROR', threadId: conversation, runId, code, message }
  }
  const events = openRun === null ? [] : [end(openRun)]
  if (queued.length === 0) return events
  const runId = newId()
  const messageIds = [...queued]
  return [
    ...events,
    { type: 'RUN_STARTED', threadId: conversation, runId, messageIds, owner },
    end(runId),
  ]
}

/**
 * Yields the lines of an export, and ends open work after the last record. `reasonOf` is called there; with null,
 * nothing is added. Each string must be one line. Invalid lines are passed on: an import rejects them.
 */
export async function* withOpenWorkEnded(
  lines: Lines,
  reasonOf: () => OpenWorkReason | null,
): AsyncGenerator<string> {
  let id = ''
  let position = 0
  let state = NEW_CONVERSATION
  let isInRecords = true
  for await (const line of lines) {
    const value = Object(jsonIn(line))
    if (value.byref === 'conversation') id = String(value.id)
    if (Object(value.event).type) {
      position++
      state = stateAfter(state, [value.event as ConversationEvent], 0).state
    }
    if (isInRecords && ('debug' in value || value.byref === 'end')) {
      isInRecords = false
      const reason = reasonOf()
      for (const event of reason ? openWorkEnd(id, state, reason) : []) {
        yield `${recordLine(++position, Date.now(), JSON.stringify(event))}\n`
      }
    }
    yield line
  }
}

/** Yields the lines of an export with its open work ended, so that a copy does not do what its original may do. */
export function asCopy(lines: Lines): AsyncGenerator<string> {
  const message =
    'This was not done yet in the export. The original may still do it, so the import ended it.'
  return withOpenWorkEnded(lines, () => {
    return { code: 'interrupted', message, owner: 'import' }
  })
}
