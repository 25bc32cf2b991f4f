import type { Message, ToolCall } from 'byref/client'
import { readMetadata } from 'byref/client'

/** Which message announced a call and which ones answer it, in the order of the log. */
export interface LedgerEntry {
  announced: { messageId: string; call: ToolCall }[]
  results: { messageId: string; failed: boolean }[]
}

/** All calls of a conversation by id. */
export type Ledger = ReadonlyMap<string, LedgerEntry>

const cache = new WeakMap<readonly Message[], Ledger>()

/** Pairs calls and results by id (message-metadata.md); message types do not matter. */
export function ledgerOf(messages: readonly Message[]): Ledger {
  const known = cache.get(messages)
  if (known) return known
  const ledger = new Map<string, LedgerEntry>()
  const entry = (id: string) => {
    const found = ledger.get(id) ?? { announced: [], results: [] }
    ledger.set(id, found)
    return found
  }
  for (const message of messages) {
    const { calls, result } = readMetadata(message)
    if (result) {
      entry(result.callId).results.push({ messageId: message.id, failed: result.error !== null })
    } else {
      for (const call of calls) entry(call.id).announced.push({ messageId: message.id, call })
    }
  }
  cache.set(messages, ledger)
  return ledger
}

/** The call that a result answers: of its own list first, then of the conversation; null for an unknown id. */
export function answeredCall(message: Message, ledger: Ledger): ToolCall | null {
  const { calls, result } = readMetadata(message)
  if (!result) return null
  const own = calls.find(({ id }) => id === result.callId)
  return own ?? ledger.get(result.callId)?.announced[0]?.call ?? null
}
