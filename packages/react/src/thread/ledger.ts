import type { Message, ToolCall } from 'byref/client'
import { readMetadata } from 'byref/client'

/** The messages that announce a call, and those that answer it, in the order of the log. */
export interface LedgerEntry {
  announced: { messageId: string; call: ToolCall }[]
  /**
   * `round` is the index of the announcement that a result answers. It is the first one for a result that came before
   * it.
   */
  results: {
    messageId: string
    failed: boolean
    /** A person did not allow the call. It then counts as failed, too. */
    denied: boolean
    round: number
    isRepeated: boolean
  }[]
}

/** All calls of a conversation by id. */
export type Ledger = ReadonlyMap<string, LedgerEntry>

const cache = new WeakMap<readonly Message[], Ledger>()

/** Pairs calls and results by id. Message types do not matter. */
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
      const { announced, results } = entry(result.callId)
      // An id that is used again starts a new round.
      const round = Math.max(0, announced.length - 1)
      const isRepeated = results.some((other) => other.round === round)
      results.push({
        messageId: message.id,
        failed: result.error !== null,
        denied: result.error?.code === 'approval_denied',
        round,
        isRepeated,
      })
    } else {
      for (const call of calls) entry(call.id).announced.push({ messageId: message.id, call })
    }
  }
  cache.set(messages, ledger)
  return ledger
}

/**
 * Returns the call that a result answers, first from its own list, then from the conversation. Null for an unknown id.
 */
export function answeredCall(message: Message, ledger: Ledger): ToolCall | null {
  const { calls, result } = readMetadata(message)
  if (!result) return null
  const own = calls.find(({ id }) => id === result.callId)
  const entry = ledger.get(result.callId)
  const round = entry?.results.find(({ messageId }) => messageId === message.id)?.round ?? 0
  return own ?? entry?.announced[round]?.call ?? null
}

/** Returns the round of a call that a message announced: its first result, and whether it is the newest with its id. */
export function roundOf(
  ledger: Ledger,
  callId: string,
  messageId?: string,
): { result: LedgerEntry['results'][number] | undefined; isNewest: boolean } {
  const { announced = [], results = [] } = ledger.get(callId) ?? {}
  const last = Math.max(0, announced.length - 1)
  const round = messageId ? announced.findIndex((one) => one.messageId === messageId) : last
  return { result: results.find((one) => one.round === round), isNewest: round === last }
}
