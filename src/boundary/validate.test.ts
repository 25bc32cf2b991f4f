import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { loadValidator, schemaIssues } from './validate.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

describe('schemaIssues', () => {
  it('takes schemas of draft 7, as many libraries and MCP servers make them', async () => {
    await loadValidator()
    const point = { type: 'array', items: [{ type: 'number' }, { type: 'number' }] }
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { at: { $ref: '#/definitions/point' } },
      definitions: { point: { ...point, additionalItems: false } },
    }
    expect(schemaIssues(schema, { at: [1, 2] })).toEqual([])
    const wrong = [{ at: [1, 'a'] }, { at: [1, 2, 3] }]
    expect(wrong.map((one) => schemaIssues(schema, one)[0]?.instancePath)).toEqual(['/at/1', '/at'])
  })

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
