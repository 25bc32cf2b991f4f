import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { expect, it } from 'vitest'
import { renameParameters } from './parameter-names.ts'

const ANTHROPIC = /^[\w.-]{1,64}$/
const type = 'string' as const
const long = 'x'.repeat(70)

const tool: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'list',
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      ['filter[name]', 'filter(name)', 'filter_name_', '$top', long, 'plain'].map((name) => [
        name,
        { type, title: name },
      ]),
    ),
    required: ['$top', 'plain'],
  },
}

it('renames only parameters whose names the provider rejects, and restores them in calls', () => {
  const { tools, ownArguments } = renameParameters([tool], ANTHROPIC)
  const { properties, required } = tools[0]?.inputSchema ?? {}
  const names = Object.keys(properties ?? {})
  expect(names).toEqual([
    ...['filter_name__2', 'filter_name__3', 'filter_name_', '_top', 'x'.repeat(60), 'plain'],
  ])
  expect(names.every((name) => ANTHROPIC.test(name))).toBe(true)
  expect(properties?._top).toEqual({ type, title: '$top' })
  expect(required).toEqual(['_top', 'plain'])
  const given = { _top: 5, filter_name__3: 'a', filter_name_: 'b', other: 1, $top: 6 }
  expect(ownArguments('list', given)).toEqual({
    $top: 6,
    'filter(name)': 'a',
    filter_name_: 'b',
    other: 1,
  })
  expect(ownArguments('another', given)).toBe(given)
})

it('changes nothing if the provider accepts the names', () => {
  const { tools, ownArguments } = renameParameters([tool], /./)
  expect(tools[0]).toBe(tool)
  const given = { $top: 5 }
  expect(ownArguments('list', given)).toBe(given)
})
