import assert from 'node:assert/strict'
import {
  type ConversationState,
  emptyConversation,
} from '../../../src/core/events/conversation-state.ts'
import type { LogRecord } from '../../../src/core/events/events.ts'
import { foldAll } from '../../../src/core/events/fold.ts'
import { listAll } from '../../../src/log/conversation-log.ts'
import { allRecords } from './all-records.ts'
import type { Effect } from './effects.ts'
import { type Called, type Execution, executionsOf } from './executions.ts'
import type { World } from './play.ts'
import { ITEMS, SCENARIO } from './scenario.ts'
import { isIdempotent } from './tools.ts'

/** The result of a scenario that has ended, after any number of deaths. */
export interface Outcome {
  records: readonly LogRecord[]
  effects: readonly Effect[]
  /** Ids of the accepted messages. */
  accepted: readonly string[]
}

/** Checks everything that must hold, however often and wherever the process died. Returns its state. */
export function assertSoundRun({ records, effects, accepted }: Outcome): ConversationState {
  const state = foldAll(emptyConversation, records)
  assertOneRun(records, state)
  for (const id of accepted) {
    assert.equal(state.messages.filter((one) => one.id === id).length, 1, `the message ${id}`)
  }
  const called = executionsOf(records, effects)
  assertAllCalled(called)
  const claims = records.flatMap(({ event, position }) =>
    event.type === 'RUN_CLAIMED' ? position : [],
  )
  for (const execution of called.executions) assertSoundExecution(execution, claims)
  assertInOrder(called)
  assertAssets(state)
  return state
}

/** Checks the conversations of sub-agents that a conversation called. */
export async function assertSoundSubRuns(
  { log, effects }: Pick<World, 'log' | 'effects'>,
  parent: string,
): Promise<void> {
  for await (const { id } of listAll(log)) {
    if (!id.startsWith(`${parent}/`)) continue
    const records = await allRecords(log, id)
    assertOneRun(records, foldAll(emptyConversation, records))
    const own = effects.all().filter(({ conversation }) => conversation === id)
    for (const { id: execution, tool, begun } of executionsOf(records, own).executions) {
      if (isIdempotent(tool)) continue
      assert.ok(begun.length <= 1, `${execution} (${tool}) of a sub-agent was begun again`)
    }
  }
}

function assertOneRun(records: readonly LogRecord[], state: ConversationState): void {
  const ends = records.flatMap(({ event }) => {
    if (event.type === 'RUN_ERROR') return `${event.code}: ${event.message}`
    return event.type === 'RUN_FINISHED' ? event.result.reason : []
  })
  assert.deepEqual(ends, ['done'], 'exactly one ending')
  assert.equal(state.runs.length, 1, 'one run')
  assert.equal(records.at(-1)?.event.type, 'RUN_FINISHED', 'nothing after the end')
  assert.deepEqual(state.inbox, [], 'no message waits')
}

/** Every call of the scenario was made once and has a result. No answer was requested again after one of its calls. */
function assertAllCalled({ calls }: Called): void {
  const planned = SCENARIO.flat().map(({ name, arguments: { label } }) => `${name} ${label}`)
  const made = calls.map(({ tool, label }) => `${tool} ${label}`)
  assert.deepEqual(made.toSorted(), planned.toSorted(), 'each call once')
  for (const { label, ended, mapped } of calls) {
    assert.ok(ended, `the call ${label} has no result`)
    if (mapped) assert.equal(ended.error, undefined, `the mapped call ${label}`)
  }
}

/**
 * A call that was interrupted by a take-over starts again if it may, or else is reported as interrupted. All others
 * ran once. Between two take-overs, one process did everything.
 */
function assertSoundExecution(
  { id, tool, begun, ended, effects }: Execution,
  claims: readonly number[],
): void {
  assert.ok(ended, `${id} has no result`)
  assert.ok(begun.length > 0, `${id} (${tool}) never ran`)
  const isCut = (i: number): boolean => {
    const until = begun[i + 1] ?? ended.position
    return claims.some((claim) => claim > (begun[i] as number) && claim < until)
  }
  const cut = begun.map((_, i) => isCut(i))
  if (isIdempotent(tool)) {
    assert.equal(ended.error, undefined, `${id} (${tool})`)
    assert.deepEqual(
      cut,
      [...begun.slice(1).map(() => true), false],
      `${id}: begun as often as cut`,
    )
    assert.equal(effects.at(-1)?.attempt, begun.length, `${id}: the last attempt did its work`)
    return
  }
  assert.equal(begun.length, 1, `${id} (${tool}) was begun again`)
  assert.equal(ended.error, cut[0] ? 'interrupted' : undefined, `${id} (${tool})`)
  assert.ok(effects.length <= 1, `${id} (${tool}) had its effect twice`)
  if (!cut[0]) assert.equal(effects.length, 1, `${id} (${tool}) had its effect`)
}

/** Results are in the log in the order of the answer, except for those that waited for a person. */
function assertInOrder({ calls }: Called): void {
  for (const answer of new Set(calls.map((call) => call.answer))) {
    const positions = calls.flatMap((call) =>
      call.answer === answer && !call.asked ? (call.ended?.position ?? []) : [],
    )
    assert.deepEqual(
      positions,
      positions.toSorted((a, b) => a - b),
      'results in order',
    )
  }
}

/**
 * The results of the tools are in their places: the list, its readers, and an asset for each result that must become
 * one.
 */
function assertAssets(state: ConversationState): void {
  const results = new Map(
    state.messages.flatMap(({ metadata, content }) => {
      const call = state.calls[metadata.tool_result?.tool_call_id ?? '']
      const { label } = Object(call?.call?.arguments) as { label?: string }
      return metadata.tool_result?.error ? [] : [[label, content] as const]
    }),
  )
  const refs = state.assets.map(({ ref }) => ref)
  const photo = Object(results.get('photo')) as { picture?: { assetRef?: string } }
  const report = Object(results.get('report')) as { assetRef?: string }
  assert.deepEqual(refs.toSorted(), [photo.picture?.assetRef, report.assetRef].toSorted())
  assert.equal((results.get('each') as unknown[]).length, ITEMS.idempotent)
  if (results.has('reads')) assert.equal(results.get('reads'), 'item 0')
  if (results.has('second')) {
    assert.deepEqual(results.get('second'), { shipped: { label: 'second', value: 'changed' } })
  }
}
