import { expect, it, vi } from 'vitest'
import { loadValidator, schemaIssues } from './validate.ts'

vi.mock('../core/time-limit.ts', () => ({
  // A check that takes as long as short values may.
  withinTime: (ms: number, work: () => object) => (ms === 200 ? null : work()),
}))

it('gives the check of a long value more time', async () => {
  await loadValidator()
  const schema = { type: 'array', items: { pattern: '^a' } }
  expect(schemaIssues(schema, ['b'])).toMatchObject([{ keyword: 'time' }])
  expect(schemaIssues(schema, ['a'.repeat(1_000_000)])).toEqual([])
  expect(schemaIssues(schema, ['b'.repeat(1_000_000)])).toMatchObject([{ keyword: 'pattern' }])
})
