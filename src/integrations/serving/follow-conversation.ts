import type { Agent } from '../../agent/agent-contract.ts'
import type { ApprovalAnswer } from '../../agent/approve.ts'
import { createBoard } from '../../core/board/board.ts'
import { ByrefError, rethrowForClient } from '../../core/errors.ts'
import {
  type AskedCall,
  type ConversationState,
  openRun,
  type RunState,
  runOf,
  waitingCalls,
  waitingSubCalls,
} from '../../core/events/conversation-state.ts'
import type { LogRecord } from '../../core/events/events.ts'
import { createFold, type Foldable } from '../../core/events/fold.ts'
import { blockOf, identityOf } from '../../core/messages/data-block.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'
import { EventQueue } from '../../engine/follow-run.ts'
import { next } from '../../engine/next.ts'
import { resolveLimits } from '../../engine/run-settings.ts'
import { tryOnBoard } from '../../engine/session-values.ts'
import { readAll } from '../../log/conversation-log.ts'

/** The state of a conversation, and all its events from then on, in order. Includes events that only stream. */
export type FollowedConversation = Awaited<ReturnType<typeof followConversation>>

/**
 * Starts to follow a conversation in the agent's namespace. A conversation that does not exist yet is empty. Iterating
 * throws ByrefError `conversation_not_found` when it is deleted.
 *
 * @param after Log position after which records are iterated. Default: only new records.
 */
export async function followConversation(
  agent: Agent,
  id: string,
  after = Number.POSITIVE_INFINITY,
) {
  const { log } = agent
  const tools = new Map(agent.tools.map((tool) => [tool.id, tool]))
  const limits = resolveLimits()
  const queue = new EventQueue<Foldable>()
  const events = queue[Symbol.asyncIterator]()
  const board = createBoard()
  const written = new Set<string>()
  const folded = createFold(undefined, {
    onMessage(message) {
      const block = tryOnBoard(board, message) ? blockOf(message) : null
      if (block) written.add(identityOf(block))
    },
  })
  const offLog = log.subscribe(({ conversation, records, deleted }) => {
    if (conversation !== id) return
    for (const record of records) queue.push(record, false)
    if (!deleted) return
    queue.fail(new ByrefError('conversation_not_found', 'The conversation was deleted'))
  })
  const offStream = agent.onStream((conversation, event, { namespace }) => {
    if (conversation === id && namespace === log.namespace) queue.push({ event }, false)
  })
  function close(): void {
    offLog()
    offStream()
    queue.end()
  }

  const past: LogRecord[] = []
  try {
    for await (const record of readAll(log, id)) {
      if (record.position > after) past.push(record)
      else folded.apply(record)
    }
  } catch (error) {
    close()
    throw error
  }

  async function* iterate(): AsyncGenerator<Foldable> {
    for (const record of past) if (folded.apply(record)) yield record
    for (;;) {
      const { value, done } = await events.next()
      if (done) return
      if (folded.apply(value)) yield value
    }
  }

  /**
   * Returns the calls that wait for an approval or a client, also those of sub-agents. Null while anything else is
   * running.
   */
  function waiting(): readonly AskedCall[] | null {
    const calls = withWaitingCallers(folded.state)
    const due = next({ ...folded.state, calls }, { limits, tools, board, now: Date.now() })
    if (due.type !== 'wait') return null
    const ids = due.run.steps.at(-1)?.callIds ?? []
    const isBusy = ids.some((id) => calls[id]?.status === 'running')
    return isBusy ? null : waitingCalls(folded.state)
  }

  return {
    /** The state after the last event that was iterated. Before the first one, the state at the start. */
    state: folded.state,
    board,
    /** Returns the names of the data that was written since the last call, such as `user#1`. */
    takeWritten(): string[] {
      const names = [...written]
      written.clear()
      return names
    },
    waiting,
    /**
     * Iterates until the run ends or only waits for answers. Answers that are on their way are awaited first.
     *
     * @param answered The calls that are being answered.
     */
    async *untilDue(runId: string, answered: Iterable<string> = []): AsyncGenerator<Foldable> {
      // The other calls were answered before, or need no answer.
      const expected = new Set([...answered].filter((id) => isWaiting(folded.state, id)))
      const isDue = (): boolean => expected.size === 0 && waiting() !== null
      if (isDue()) return
      for await (const record of iterate()) {
        if (record.event.type === 'APPROVAL_ANSWERED') expected.delete(record.event.toolCallId)
        yield record
        const run = runOf(folded.state, runId)
        if (isDue() || (run && run.status !== 'running')) return
      }
    },
    /** Stops following. */
    close,
    [Symbol.asyncIterator]: iterate,
  }
}

/** Returns whether the open run waits for an answer to this call, which may be one of a sub-agent. */
export function isWaiting(state: ConversationState, toolCallId: string): boolean {
  return waitingCalls(state).some(({ id }) => id === toolCallId)
}

/**
 * Returns whether the open run waits for the result of this call. Clients may give only the results of tools without
 * `execute`. Other calls wait for an approval, which decides whether the tool runs.
 */
export function needsResult(state: ConversationState, toolCallId: string): boolean {
  return waitingCalls(state).some(({ id, approval }) => id === toolCallId && approval.needsResult)
}

/** Returns the calls of a conversation. A call whose sub-agent waits for a person also counts as waiting. */
function withWaitingCallers(state: ConversationState): ConversationState['calls'] {
  const ids = openRun(state)?.steps.at(-1)?.callIds ?? []
  const callers = ids.flatMap((id) => {
    const call = state.calls[id]
    return call && waitingSubCalls(call).length > 0 ? [{ ...call, status: 'waiting' as const }] : []
  })
  if (callers.length === 0) return state.calls
  return { ...state.calls, ...Object.fromEntries(callers.map((call) => [call.id, call])) }
}

type HowToAnswer = Pick<Parameters<Agent['start']>[0], 'context' | 'settings' | 'output'>

/** The content of a request: messages, and answers to waiting calls by their ids. */
export interface ClientInput {
  messages: MessageInput[]
  answers: Map<string, ApprovalAnswer>
}

/**
 * Sends messages and answers to a conversation. An open run gets them in its next step. Otherwise a new run starts, as
 * the options say. Resolves to the id of the run.
 *
 * @throws ByrefError `bad_request` for invalid options, which are the client's
 */
export async function say(
  agent: Agent,
  conversation: string,
  { messages, answers, open, ...ask }: ClientInput & { open: RunState | null } & HowToAnswer,
): Promise<string> {
  if (!open) {
    const options = { conversation, messages, ...ask, ifBusy: 'reject' } as const
    const run = await agent.start(options).catch(rethrowForClient)
    run.result.catch(() => {})
    return run.id
  }
  if (messages.length > 0) await agent.send(conversation, messages, { mode: 'steer' })
  for (const [id, answer] of answers) await agent.approve(conversation, id, answer)
  // Continue the run here, in case no process works on it.
  agent.resume(conversation).result.catch(() => {})
  return open.runId
}

/** Repeats the answer to a request if another request has just started a run, which the second attempt then finds. */
export async function repeatIfBusy<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof ByrefError && error.code === 'conversation_busy') return answer()
    throw error
  }
}
