import { expect, it } from 'vitest'
import { NEW_CONVERSATION, summaryOf } from '../log/summary.ts'
import { publicSummary } from './public-info.ts'

it.each([
  ['nobody', null, undefined, false],
  ['a process', 1_000, undefined, true],
  ['a process that has stopped', 0, undefined, false],
  ['workers', null, { enqueue: async () => {} }, true],
])('says whether a conversation has a runner: %s', (_, until, queue, expected) => {
  const lease = until === null ? null : { owner: 'me', until }
  const times = { created: 0, updated: 0, position: 0 }
  const stored = { id: 'c', namespace: null, name: null, ...times, damage: null }
  const summary = summaryOf({ ...stored, state: NEW_CONVERSATION, lease }, 500)
  expect(publicSummary(summary, { queue }).hasRunner).toBe(expected)
})
