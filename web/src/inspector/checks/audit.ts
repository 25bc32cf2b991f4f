import type { Message } from 'byref/client'
import { ledgerOf } from '../../thread/ledger.ts'

/** How a call stands: it has its results, waits for one, or will get none. */
export type AuditState = 'answered' | 'pending' | 'unanswered' | 'orphan'

/** One id of calls, with the messages that announce it and those that answer it. */
export interface AuditedCall {
  id: string
  /** Null where no message announced it. */
  name: string | null
  announced: readonly string[]
  results: readonly {
    messageId: string
    failed: boolean
    state: 'answer' | 'duplicate' | 'unmatched'
  }[]
  /** Of its last round; `orphan` where there are results only. */
  state: AuditState
}

/** All calls of a conversation, with how many are what. */
export interface Audit {
  calls: readonly AuditedCall[]
  counts: Record<AuditState | 'duplicate' | 'reused' | 'failed', number>
}

/** Goes through all calls of a conversation. Those in `open` may still get their results. */
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
        ...{ messageId, failed },
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
