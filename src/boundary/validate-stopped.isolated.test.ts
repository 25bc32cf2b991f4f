import { expect, it } from 'vitest'
import { loadValidator, schemaIssues } from './validate.ts'

it('compiles a schema anew if the validator was stopped in the middle of its work', async () => {
  await loadValidator()
  let isFirst = true
  const properties = {
    // A busy machine: almost all of the time to compile passes without any work. The rest of it is too short.
    get name() {
      const ms = isFirst ? 990 : 0
      isFirst = false
      if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
      return { type: 'string' }
    },
  }
  expect(schemaIssues({ type: 'object', properties }, { name: 'x' })).toEqual([])
  expect(schemaIssues({ type: 'object' }, 'x')).toMatchObject([{ keyword: 'type' }])
})
