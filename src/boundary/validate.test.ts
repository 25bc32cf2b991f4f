import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './tool.ts'
import { loadValidator, schemaIssues, validateInput } from './validate.ts'

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

describe('validateInput', () => {
  const tool = (inputSchema: object) =>
    defineTool({ id: 'pay', description: 'Pays', inputSchema: inputSchema as never })

  it.each([
    [
      z.object({ sum: z.number() }),
      { sum: 'x' },
      '"pay" do not match its schema: /sum: Invalid input',
    ],
    [z.object({ sum: z.number() }), 'x', 'schema: Invalid input: expected object'],
    [{ type: 'object', required: ['sum'] }, {}, "schema: must have required property 'sum'"],
    [
      { type: 'object', properties: { sum: { type: 'number' } } },
      { sum: 'x' },
      'schema: /sum must be number',
    ],
  ])('names the path and the reason', async (schema, value, message) => {
    const error = { code: 'invalid_arguments', message: expect.stringContaining(message) }
    await expect(validateInput(tool(schema), value)).rejects.toMatchObject(error)
  })
})
