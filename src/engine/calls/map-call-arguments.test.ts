import { describe, expect, it } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { boundaryOf } from '../../boundary/boundary.ts'
import { planCall } from '../../boundary/call-plan.ts'
import { defineTool, type Tool } from '../../boundary/tool.ts'
import { createBoard } from '../../core/board/board.ts'
import { createResults } from '../../core/messages/results.ts'
import type { RunScope } from '../run-scope.ts'
import { approvedItems, resolveItems } from './execute-call.ts'
import { interrupted } from './map-call.ts'

const assets = createAssets()
const board = createBoard([
  {
    type: 'state',
    state: { list: [{ name: 'a' }, {}], all: 'shared', n: 7, dagger: ['†state.all'] },
  },
  { type: 'state', state: { list: ['own'] }, _instance: 'x' },
])
const table = await assets.saveAsset({
  content_type: 'application/json',
  content: { rows: [{ x: 1 }, { x: 2 }] },
})

function toolOf(more: Partial<Tool> = {}): Tool {
  const inputSchema = { type: 'object' } as const
  return defineTool({
    id: 't',
    description: '',
    execute: () => null,
    mappable: true,
    ...more,
    inputSchema,
  }) as Tool
}

const planOf = (args: Record<string, unknown>, tool = toolOf()) =>
  planCall({ id: 'c', name: 't', arguments: args }, new Map([['t', tool]]))

/** The arguments of each item, or the code of its error. */
async function argumentsOf(args: Record<string, unknown>, tool?: Tool): Promise<unknown[]> {
  // The parts that determine a mapped call's arguments.
  const scope = {
    session: { board, results: createResults(), labels: null, state: { calls: {}, assets: [] } },
    assets,
    boundary: boundaryOf(() => assets),
    during: (work: () => unknown) => work(),
  } as unknown as RunScope
  const plan = planOf(args, tool)
  const { items } = await resolveItems(scope, plan, plan.arguments)
  return items.map((item) => item.arguments ?? item.error?.code)
}

describe('resolveItems', () => {
  it('gives each item its own arguments', async () => {
    const args = { _each: ['a', 'b'], text: '†item', at: '†index', same: 1 }
    expect(await argumentsOf(args)).toEqual([
      { text: 'a', at: 0, same: 1 },
      { text: 'b', at: 1, same: 1 },
    ])
  })

  it('reads into items, and reports items without a value', async () => {
    const args = { _each: '†state.list', name: '†item.name' }
    expect(await argumentsOf(args)).toEqual([{ name: 'a' }, 'variable_not_found'])
    expect(await argumentsOf({ ...args, name: '†item.name || †state.all' })).toEqual([
      { name: 'a' },
      { name: 'shared' },
    ])
    expect(await argumentsOf({ ...args, name: '†state.none || †item' })).toEqual([
      { name: { name: 'a' } },
      { name: {} },
    ])
  })

  it('reads other variables as usual', async () => {
    expect(await argumentsOf({ _each: [1], a: '†state.all', b: '\\†item' })).toEqual([
      { a: 'shared', b: '†item' },
    ])
    expect(await argumentsOf({ _each: [1], a: '†state.none' })).toEqual(['variable_not_found'])
  })

  it('reads the variables in a list that the model wrote', async () => {
    const args = { _each: ['†state.all', { n: '†state.n' }, '†state.none', 'own'], a: '†item' }
    const expected = [{ a: 'shared' }, { a: { n: 7 } }, 'variable_not_found', { a: 'own' }]
    expect(await argumentsOf(args)).toEqual(expected)
    const dagger = { _each: ['†state.dagger[0]'], a: '†item' }
    expect(await argumentsOf(dagger)).toEqual([{ a: '†state.all' }])
  })

  it('never scans the values of an item', async () => {
    expect(await argumentsOf({ _each: '†state.dagger', a: '†item' })).toEqual([{ a: '†state.all' }])
  })

  it('maps over a list in the data, first in the instance of the call', async () => {
    expect(await argumentsOf({ _each: '†state.list', _instance: 'x', a: '†item' })).toEqual([
      { a: 'own' },
    ])
  })

  it('maps over the rows of a table, by reference or by a variable that contains one', async () => {
    const rows = `${table.ref}/content/rows`
    expect(await argumentsOf({ _each: rows, x: '†item.x' })).toEqual([{ x: 1 }, { x: 2 }])
    board.append({ type: 'state', state: { rows } })
    expect(await argumentsOf({ _each: '†state.rows', x: '†item.x' })).toEqual([{ x: 1 }, { x: 2 }])
  })

  it('maps over the rows of a table that is named as a whole, and of a file', async () => {
    const csv = new Blob(['x\n1\n2\n'], { type: 'text/csv' })
    const { table, asset } = await assets.importFile(csv, { name: 'x.csv' })
    for (const ref of [table?.ref, asset.ref]) {
      expect(await argumentsOf({ _each: ref, x: '†item.x' })).toEqual([{ x: 1 }, { x: 2 }])
    }
  })

  it('maps over an empty list', async () => {
    expect(await argumentsOf({ _each: [], a: '†item' })).toEqual([])
  })

  it('keeps the arguments if the tool does not accept variables', async () => {
    const tool = toolOf({ variables: false })
    expect(await argumentsOf({ _each: [1, 2], a: '†item' }, tool)).toEqual([
      { a: '†item' },
      { a: '†item' },
    ])
  })

  it.each<[string, unknown, string]>([
    ['text', 'comments', 'invalid_arguments'],
    ['a number', 7, 'invalid_arguments'],
    ['an object', { a: 1 }, 'invalid_arguments'],
    ['a variable that is no list', '†state.n', 'invalid_arguments'],
    ['a variable without a value', '†state.none', 'variable_not_found'],
    ['an asset that is not there', 'asset://none', 'asset_not_found'],
    ['more items than are mapped', new Array(100_001).fill(0), 'invalid_arguments'],
  ])('rejects %s', async (_, each, code) => {
    await expect(argumentsOf({ _each: each })).rejects.toMatchObject({ code })
  })
})

describe('approvedItems', () => {
  it('gives each item the approved arguments, and an error to items without any', async () => {
    const scope = {
      session: { labels: null, state: { assets: [] } },
      assets,
    } as unknown as RunScope
    const { items } = await approvedItems(scope, planOf({ _each: [1, 2] }), [{ a: 1 }, null])
    expect(items).toEqual([
      { arguments: { a: 1 }, reads: [] },
      { error: { code: 'invalid_arguments', message: expect.stringContaining('no arguments') } },
    ])
  })
})

describe('interrupted', () => {
  it('reports that the effect of a call is unknown', () => {
    expect(interrupted(planOf({}))).toMatchObject({
      code: 'interrupted',
      message: expect.stringMatching(/"t" was interrupted. It may or may not/),
    })
    const gone = planCall({ id: 'c', name: 'gone', arguments: {} }, new Map())
    expect(interrupted(gone).message).toContain('the tool no longer exists')
  })
})
