import type { Agent } from '../../agent/agent-contract.ts'
import { type Board, createBoard } from '../../core/board/board.ts'
import type { CallState, ConversationState } from '../../core/events/conversation-state.ts'
import type { LogRecord } from '../../core/events/events.ts'
import { createFold, type Foldable } from '../../core/events/fold.ts'
import { eventQueue } from '../../engine/follow-run.ts'
import { resolveLimits } from '../../engine/limits.ts'
import { next } from '../../engine/next.ts'
import { readAll } from '../../log/conversation-log.ts'

/** A conversation as it is, and everything that happens in it from then on, in order: also what only streams. */
export interface FollowedConversation extends AsyncIterable<Foldable> {
  /** As of the event that was iterated last; before the first, of the beginning. */
  readonly state: ConversationState
  readonly board: Board
  /** The calls that wait for somebody's word, where nothing else goes on; null where something does. */
  waiting(): readonly CallState[] | null
  /**
   * What happens until the run has ended, or nothing goes on before somebody's word; words that are on their way come first.
   *
   * @param answered The calls that are being answered.
   */
  untilDue(runId: string, answered?: Iterable<string>): AsyncGenerator<Foldable>
  /** Watches no more. */
  close(): void
}

/**
 * Begins to follow a conversation of the agent's namespace; one that there is not yet is empty.
 *
 * @param after The position of the log from which on its records are iterated too. Default: those that are still to come.
 */
export async function followConversation(
  agent: Agent,
  id: string,
  after = Number.POSITIVE_INFINITY,
): Promise<FollowedConversation> {
  const { log } = agent
  const tools = new Map(agent.tools.map((tool) => [tool.id, tool]))
  const limits = resolveLimits()
  const queue = eventQueue<Foldable>()
  const coming = queue[Symbol.asyncIterator]()
  const board = createBoard()
  const folded = createFold(undefined, {
    onMessage(message) {
      board.append(message)
    },
  })
  const offLog = log.subscribe(({ conversation, records, deleted }) => {
    if (conversation !== id) return
    for (const record of records) queue.push(record, false)
    if (deleted) queue.end()
  })
  const offStream = agent.onStream((conversation, event, { namespace }) => {
    if (conversation === id && namespace === log.namespace) queue.push({ event }, false)
  })
  const past: LogRecord[] = []
  for await (const record of readAll(log, id)) {
    if (record.position > after) past.push(record)
    else folded.apply(record)
  }

  async function* iterate(): AsyncGenerator<Foldable> {
    for (const record of past) if (folded.apply(record)) yield record
    for (;;) {
      const { value, done } = await coming.next()
      if (done) return
      if (folded.apply(value)) yield value
    }
  }

  function waiting(): readonly CallState[] | null {
    const { state } = folded
    const due = next(state, { limits, tools, board, now: Date.now() })
    if (due.do !== 'wait') return null
    const ids = due.run.steps.at(-1)?.callIds ?? []
    return ids.some((id) => state.calls[id]?.status === 'running') ? null : due.calls
  }

  return {
    state: folded.state,
    board,
    waiting,
    async *untilDue(runId, answered = []) {
      const calls = folded.state.calls
      // Others were answered before, or never asked about.
      const coming = new Set([...answered].filter((id) => calls[id]?.status === 'waiting'))
      const isDue = (): boolean => coming.size === 0 && waiting() !== null
      if (isDue()) return
      for await (const record of iterate()) {
        if (record.event.type === 'APPROVAL_ANSWERED') coming.delete(record.event.toolCallId)
        yield record
        const run = folded.state.runs.find((one) => one.runId === runId)
        if (isDue() || (run && run.status !== 'running')) return
      }
    },
    close() {
      offLog()
      offStream()
      queue.end()
    },
    [Symbol.asyncIterator]: iterate,
  }
}
