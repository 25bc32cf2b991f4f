import assert from 'node:assert/strict'
import {
  type ConversationState,
  emptyConversation,
} from '../../../src/core/events/conversation-state.ts'
import type { LogRecord } from '../../../src/core/events/events.ts'
import { foldAll } from '../../../src/core/events/fold.ts'
import type { Effect } from './effects.ts'
import { executionsOf } from './executions.ts'
import { isIdempotent } from './tools.ts'

/** A conversation in which everything has ended. */
export interface EndedConversation {
  records: readonly LogRecord[]
  /** The effects of its tools. */
  effects: readonly Effect[]
  /** Ids of the accepted messages, each the name of a task. */
  accepted: readonly string[]
}

/**
 * Checks that every run ended exactly once and one at a time, that every accepted message is present once, and that
 * no call started twice that must not. Returns the state.
 */
export function assertSoundConversation({
  records,
  effects,
  accepted,
}: EndedConversation): ConversationState {
  assertOneAtATime(records)
  const state = foldAll(emptyConversation, records)
  assert.deepEqual(state.inbox, [], 'no message waits')
  const ids = state.messages.map(({ id }) => id)
  for (const id of accepted) {
    assert.equal(ids.filter((one) => one === id).length, 1, `the message ${id}`)
  }
  const { calls, executions } = executionsOf(records, effects)
  for (const { id, tool, begun } of executions) {
    if (!isIdempotent(tool)) assert.ok(begun.length <= 1, `${id} (${tool}) was begun again`)
  }
  const cancelled = new Set(
    state.runs.flatMap((run) => (run.reason === 'cancelled' ? run.runId : [])),
  )
  for (const { id, status, runId = '' } of Object.values(state.calls)) {
    assert.ok(/^(done|failed)$/.test(status) || cancelled.has(runId), `the call ${id} is ${status}`)
  }
  if (cancelled.size === 0) {
    const tasks = new Set(calls.map(({ label }) => label.replace(/#.*/, '')))
    assert.deepEqual([...tasks].toSorted(), accepted.toSorted(), 'every task')
  }
  return state
}

/** A run starts if no other is open, and ends once, with success or cancelled. */
function assertOneAtATime(records: readonly LogRecord[]): void {
  let open: string | null = null
  for (const { event } of records) {
    if (event.type === 'RUN_STARTED') {
      assert.equal(open, null, 'a run began during another')
      open = event.runId
    } else if (event.type === 'RUN_FINISHED') {
      assert.equal(event.runId, open, 'a run ended that was not open')
      assert.match(event.result.reason, /^(done|cancelled)$/)
      open = null
    } else if (event.type === 'RUN_ERROR') assert.fail(`${event.code}: ${event.message}`)
  }
  assert.equal(open, null, 'a run did not end')
}
