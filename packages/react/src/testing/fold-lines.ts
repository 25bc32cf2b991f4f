import { type ConversationState, emptyConversation, fold, type LogRecord } from 'byref/client'

/** Returns the state after the lines of an export. */
export function foldLines(text: string): ConversationState {
  const records = text.split('\n').map((line) => JSON.parse(line) as Partial<LogRecord>)
  return records
    .filter((line): line is LogRecord => line.event !== undefined)
    .reduce((state, record) => fold(state, record), emptyConversation)
}
