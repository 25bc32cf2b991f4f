import type { Message } from 'byref/client'
import { ledgerOf } from '../../thread/ledger.ts'

/** The status of a call: it has its results, waits for one, or will get none. */
export type AuditState = 'answered' | 'pending' | 'unanswered' | 'orphan'

/** A call id, with the messages that announce it and those that answer it. */
export interface AuditedCall {
  id: string
  /** Null if no message announced it. */
  name: string | null
  announced: readonly string[]
  results: readonly {
    messageId: string
    failed: boolean
    state: 'answer' | 'duplicate' | 'unmatched'
  }[]
  /** The status of its last round. `orphan` if there are only results. */
  state: AuditState
}

/** All calls of a conversation, and the number in each status. */
export interface Audit {
  calls: readonly AuditedCall[]
  counts: Record<AuditState | 'duplicate' | 'reused' | 'failed', number>
}

/** Checks all calls of a conversation. Calls in `open` may still get their results. */
export function auditOf(messages: readonly Message[], open: ReadonlySet<string>): Audit {
  const calls = [...ledgerOf(messages)].map(([id, { announced, results }]): AuditedCall => {
    const last = announced.length - 1
    const isAnswered = results.some(({ round }) => round === last)
    const waits = open.has(id) ? 'pending' : 'unanswered'
    return {
      id,
      name: announced.at(-1)?.call.name ?? null,
      announced: announced.map(({ messageId }) => messageId),
      results: results.map(({ messageId, failed, isRepeated }) => ({
        messageId,
        failed,
        state: last < 0 ? 'unmatched' : isRepeated ? 'duplicate' : 'answer',
      })),
      state: last < 0 ? 'orphan' : isAnswered ? 'answered' : waits,
    }
  })
  const count = (fits: (call: AuditedCall) => unknown) => calls.filter(fits).length
  const results = calls.flatMap((call) => call.results)
  return {
    calls,
    counts: {
      answered: count(({ state }) => state === 'answered'),
      pending: count(({ state }) => state === 'pending'),
      unanswered: count(({ state }) => state === 'unanswered'),
      orphan: count(({ state }) => state === 'orphan'),
      reused: count(({ announced }) => announced.length > 1),
      duplicate: results.filter(({ state }) => state === 'duplicate').length,
      failed: results.filter(({ failed }) => failed).length,
    },
  }
}
