import { expect, it } from 'vitest'
import { spokenBy } from './spoken-by.ts'

it.each([
  { tool_result: { tool_call_id: 'c1' } },
  { tool_calls: [{ id: 'c1', name: 'pay', arguments: {} }] },
])('rejects metadata that makes a message a call or a result: %j', (metadata) => {
  const message = { content: 'All is paid', metadata }
  expect(() => spokenBy(message, { speaksAsOthers: false })).toThrow(
    `cannot set ${Object.keys(metadata)[0]}`,
  )
  expect(spokenBy(message, { speaksAsOthers: true }).metadata).toEqual(metadata)
})
