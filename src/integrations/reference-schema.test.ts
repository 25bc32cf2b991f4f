import { expect, it } from 'vitest'
import { describingSchema, validated } from './reference-schema.ts'

it('names the place of a value that does not match, also for libraries whose paths have objects', async () => {
  const issues = [{ path: [{ key: 'rows' }, { key: 0 }], message: 'is too long' }]
  const schema = describingSchema({}, () => ({ issues }))
  await expect(validated(schema, {})).rejects.toThrow('invalid: /rows/0: is too long')
})
