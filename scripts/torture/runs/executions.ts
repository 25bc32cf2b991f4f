import assert from 'node:assert/strict'
import type { LogRecord } from '../../../src/core/events/events.ts'
import type { Effect } from './effects.ts'

/** One execution of a tool, for a call or an item of a mapped call, according to the log and the effects. */
export interface Execution {
  id: string
  tool: string
  /** Positions at which it started. */
  begun: number[]
  /** The position of its result in the log; null if it has none. */
  ended: { position: number; error?: string } | null
  effects: Effect[]
}

/** One call: the answer that contains it, and the position of its result. */
export interface LoggedCall {
  id: string
  tool: string
  label: string
  answer: string
  mapped: boolean
  /** Whether a person was asked. */
  asked: boolean
  /** Whether it started as a whole, for a mapped call. */
  begun: boolean
  ended: Execution['ended']
}

/** All calls, in the order of the answers. */
export interface Called {
  calls: LoggedCall[]
  executions: Execution[]
}

/**
 * Reads the calls and executions. Checks that the attempts of each execution are numbered from 1, that none starts
 * after its result, and that none had an effect without a start in the log, or two effects in one attempt.
 */
export function executionsOf(records: readonly LogRecord[], effects: readonly Effect[]): Called {
  const calls = new Map<string, LoggedCall>()
  const executions = new Map<string, Execution>()
  const executionOf = (call: string, item?: number): Execution => {
    const id = item === undefined ? call : `${call}/${item}`
    const tool = calls.get(call)?.tool ?? ''
    const known = executions.get(id) ?? { id, tool, begun: [], ended: null, effects: [] }
    executions.set(id, known)
    return known
  }
  const end = (target: { ended: Execution['ended'] }, position: number, error?: string): void => {
    assert.equal(target.ended, null, 'nothing ends twice')
    target.ended = { position, error }
  }

  for (const { position, event } of records) {
    if (event.type === 'TOOL_CALL_END') {
      const { toolCallId: id, parentMessageId: answer, call } = event
      assert.ok(!calls.has(id), `the call ${id} is there twice`)
      const { label, _each } = call.arguments as { label: string; _each?: unknown }
      const mapped = _each !== undefined
      calls.set(id, {
        id,
        tool: call.name,
        label,
        answer,
        mapped,
        asked: false,
        begun: false,
        ended: null,
      })
      if (!mapped) executionOf(id)
    } else if (event.type === 'APPROVAL_REQUESTED') {
      const call = calls.get(event.toolCallId)
      assert.ok(call && !call.asked, 'people are asked once')
      call.asked = true
    } else if (event.type === 'TOOL_STARTED' && event.items !== undefined) {
      const call = calls.get(event.toolCallId)
      assert.ok(call?.mapped && !call.begun, 'a mapped call begins once')
      call.begun = true
    } else if (event.type === 'TOOL_STARTED') {
      const execution = executionOf(event.toolCallId, event.item)
      assert.equal(execution.ended, null, `${execution.id} was begun after its result`)
      assert.equal(event.attempt, execution.begun.push(position), `attempts of ${execution.id}`)
    } else if (event.type === 'TOOL_FINISHED') {
      assert.equal(event.item === undefined, !calls.get(event.toolCallId)?.mapped)
      end(executionOf(event.toolCallId, event.item), position, event.error?.code)
    } else if (event.type === 'NEW_MESSAGE' && event.payload.metadata.tool_result) {
      const { tool_call_id, error } = event.payload.metadata.tool_result
      const call = calls.get(tool_call_id)
      assert.ok(call, `a result of the unknown call ${tool_call_id}`)
      end(call, position, error?.code)
      // The outcome of a call is logged first if its result waits for those of earlier calls.
      const execution = call.mapped ? null : executionOf(call.id)
      if (execution?.ended) assert.equal(execution.ended.error, error?.code)
      else if (execution) end(execution, position, error?.code)
    }
  }
  for (const effect of effects) {
    const execution = executions.get(effect.execution)
    assert.ok(execution, `an effect of the unknown execution ${effect.execution}`)
    const { id, begun } = execution
    assert.ok(effect.attempt <= begun.length, `${id} had an effect before it was begun in the log`)
    const isTwice = execution.effects.some(({ attempt }) => attempt === effect.attempt)
    assert.ok(!isTwice, `${id} had its effect twice in one attempt`)
    execution.effects.push(effect)
  }
  return { calls: [...calls.values()], executions: [...executions.values()] }
}
