import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { mcpTool, resolveReferences, shownSchema } from './reference-arguments.ts'

const assets = createAssets()

const keyword = fc.constantFrom(
  ...[
    'type',
    'properties',
    'items',
    'anyOf',
    'allOf',
    'enum',
    'const',
    '$ref',
    '$defs',
    'required',
  ],
  ...['additionalProperties', 'description', 'format', 'a', '__proto__'],
)
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue(),
    fc.constantFrom('string', 'object', '#/$defs/a', '#', true, null),
    fc.array(tie('schema'), { maxLength: 3 }),
    fc.dictionary(keyword, tie('schema'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
const objects = fc.dictionary(keyword, schema, { maxKeys: 4, noNullPrototype: true })

describe('schemas of servers, whatever they are,', () => {
  it('are shown, and leave arguments without references as they are', async () => {
    await fc.assert(
      fc.asyncProperty(objects, fc.dictionary(fc.string(), fc.jsonValue()), async (given, args) => {
        const tool = mcpTool('x', given)
        JSON.stringify(shownSchema(tool))
        expect(await resolveReferences(tool, args, assets)).toBe(args)
      }),
      { numRuns: 500 },
    )
  })
})
