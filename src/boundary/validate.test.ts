import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { loadValidator, schemaIssues } from './validate.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

describe('schemaIssues', () => {
  it('does not keep the schemas of earlier requests', async () => {
    await loadValidator()
    const used = Array.from({ length: 1_000 }, () => {
      const properties = { amount: { type: 'number' } }
      expect(schemaIssues({ type: 'object', properties }, { amount: '1' })).toHaveLength(1)
      return new WeakRef(properties)
    })
    await new Promise((resolve) => setTimeout(resolve))
    collect()
    expect(used.filter((one) => one.deref()).length).toBeLessThan(500)
  })
})
