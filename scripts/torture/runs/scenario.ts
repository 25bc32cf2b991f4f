import type { ApprovalAnswer } from '../../../src/agent/approve.ts'
import type { MessageInput } from '../../../src/core/messages/to-message.ts'
import type { PlannedCall } from './planned-model.ts'

/** Rows of the list that the first call writes, and two calls map over. */
export const ITEMS = { idempotent: 30, once: 5 }

const LIST = Array.from({ length: ITEMS.idempotent }, (_, i) => `item ${i}`)

/**
 * A run with thirteen calls in four answers: parallel calls, one that reads what another writes, two mapped ones
 * (over 30 items, and over 5 by a tool that may run only once for each), two that need a person, one with an asset,
 * one whose result is offloaded, and one to a sub-agent.
 */
export const SCENARIO: readonly (readonly PlannedCall[])[] = [
  [
    { name: 'put', arguments: { label: 'list', value: LIST, _outputPath: '†state.list' } },
    { name: 'add', arguments: { label: 'reads', value: '†state.list[0]' } },
    { name: 'add', arguments: { label: 'apart', value: 1 } },
  ],
  [
    { name: 'put', arguments: { label: 'each', value: '†item', _each: '†state.list' } },
    { name: 'photo', arguments: { label: 'photo' } },
    { name: 'report', arguments: { label: 'report' } },
  ],
  [
    { name: 'ship', arguments: { label: 'first', value: '†state.list[1]' } },
    { name: 'add', arguments: { label: 'beside', _outputPath: '†state.beside' } },
    { name: 'ship', arguments: { label: 'second', value: '†state.list[2]' } },
  ],
  [
    {
      name: 'add',
      arguments: {
        label: 'once each',
        value: '†index',
        _each: LIST.slice(0, ITEMS.once),
        _outputPath: '†state.indices',
      },
    },
    { name: 'add', arguments: { label: 'other', value: '†state.list[3]' } },
    { name: 'put', arguments: { label: 'last', value: '†state.indices' } },
    { name: 'helper', arguments: { label: 'helped' } },
  ],
]

/** The calls of the sub-agent, in its own conversation. */
export const SUB_SCENARIO: readonly (readonly PlannedCall[])[] = [
  [
    { name: 'add', arguments: { label: 'sub add', value: 1 } },
    { name: 'put', arguments: { label: 'sub put', value: '†item', _each: [1, 2] } },
  ],
]

/** Where it is played, where it is played once. */
export const CONVERSATION = 'c'

/** The messages: the first starts the run, and the other joins it. */
export const MESSAGES = {
  first: { id: 'first', role: 'user', content: 'Go on' },
  steering: { id: 'steering', role: 'user', content: 'And be quick' },
} satisfies Record<string, MessageInput>

/** The decisions of people about the calls that they see: one runs unchanged, the other with changed arguments. */
export function answerAbout(shown: unknown): ApprovalAnswer {
  const { label } = shown as { label: string }
  if (label !== 'second') return { approved: true }
  return { approved: true, arguments: { label, value: 'changed' } }
}
