import { describe, expect, it } from 'vitest'
import { type CallPlan, planCall } from './call-plan.ts'
import { defineTool, type Tool } from './tool.ts'

const inputSchema = { type: 'object' } as const
const toolOf = (id: string, more: Partial<Tool> = {}): Tool =>
  defineTool({ id, description: '', execute: () => null, ...more, inputSchema }) as Tool
const tools = new Map(
  [
    toolOf('free'),
    toolOf('fixed', { outputPath: '†log.last', outputMethod: 'push' }),
    toolOf('silent', { outputPath: false }),
    toolOf('blind', { variables: false }),
    toolOf('safe', { idempotent: true }),
    toolOf('single', { idempotent: true, mappable: false }),
    toolOf('mapped', { mappable: true }),
  ].map((tool) => [tool.id, tool]),
)

const plan = (args: Record<string, unknown>, name = 'free', given?: string): CallPlan =>
  planCall({ id: 'c1', name, arguments: args }, tools, given)
const readsOf = (args: Record<string, unknown>, name?: string) =>
  plan(args, name).reads.map(({ text }) => text)
const place = (path: (string | number)[], instance?: string) => ({
  kind: 'state',
  ...(instance ? { instance } : {}),
  path,
})

describe('planCall', () => {
  it('separates the arguments of the engine from those of the tool', () => {
    const args = { n: 1, _outputPath: '†state.a', _outputMethod: 'push', _instance: 'x' }
    expect(plan(args)).toMatchObject({
      id: 'c1',
      name: 'free',
      tool: { id: 'free' },
      instance: 'x',
      problem: null,
      arguments: { n: 1 },
      outputs: [[{ kind: 'state', instance: 'x', path: ['a'] }]],
      outputMethod: 'push',
    })
    expect(plan(args).arguments).toEqual({ n: 1 })
    expect(plan({})).toMatchObject({ outputs: [], outputMethod: 'set', reads: [], problem: null })
  })

  it('treats empty options as absent', () => {
    const options = [undefined, null, '']
    for (const one of options) {
      const args = { _outputPath: one, _outputMethod: one, _instance: one, _each: one }
      const { instance, outputs, outputMethod, each, problem } = plan(args)
      expect([instance, outputs, outputMethod, each, problem]).toEqual([
        ...[undefined, [], 'set', undefined, null],
      ])
    }
  })

  it('takes a number as the name of an instance, and rejects anything else', () => {
    expect(plan({ _instance: 5 })).toMatchObject({ instance: '5', problem: null })
    for (const one of [['a'], {}, true]) {
      expect(plan({ _instance: one }).problem).toMatchObject({ message: '_instance must be text' })
    }
  })

  it('finds every variable at any depth, and no lookalikes', () => {
    const args = {
      a: '†state.a',
      b: [{ c: ' †state.b[0] ' }, '†state.c || †state.d'],
      text: ['see †state.x', '† 15', '\\†state.y', 'plain', 7, null],
    }
    expect(readsOf(args).sort()).toEqual([' †state.b[0] ', '†state.a', '†state.c || †state.d'])
  })

  it('lists the places that a variable reads', () => {
    const [simple] = plan({ a: '†state.rows[0].n' }).reads
    expect(simple).toMatchObject({ optional: false, places: [place(['rows', 0, 'n'])] })
    const [compound] = plan({ a: '†state.a && †state.b || †state#i.c' }).reads
    expect(compound).toMatchObject({
      optional: true,
      places: [place(['a']), place(['b']), place(['c'], 'i')],
    })
  })

  it('reads the instance first and then the global value', () => {
    const { reads } = plan({ a: '†state.a || †state#y.b', _instance: 'x' })
    expect(reads[0]?.places).toMatchObject([place(['a'], 'x'), place(['a']), place(['b'], 'y')])
  })

  it('reads what a tool without variables may read itself, and needs the list that it is mapped over', () => {
    expect(plan({ a: '†state.a' }, 'blind').reads).toMatchObject([{ optional: true }])
    expect(readsOf({ _each: '†state.list', a: '†state.a' }, 'mapped').sort()).toEqual([
      ...['†state.a', '†state.list'],
    ])
  })

  it('leaves item and index to a mapped call', () => {
    const args = { a: '†item.name', b: '†index', c: '†item.x || †index' }
    expect(readsOf({ ...args, _each: [1] }, 'mapped')).toEqual([])
    expect(readsOf(args, 'mapped')).toHaveLength(3)
    expect(readsOf({ d: '†item.x || †state.y', _each: [1] }, 'mapped')).toHaveLength(1)
  })

  it('returns where the result is written', () => {
    const outputs = (path: unknown, name?: string, more: object = {}) =>
      plan({ _outputPath: path, ...more }, name).outputs
    expect(outputs('†state.a && †state#i.b || †errors')).toEqual([
      [place(['a']), place(['b'], 'i')],
      [{ kind: 'errors', path: [] }],
    ])
    expect(outputs('†state.a && †state#i.b', 'free', { _instance: 'x' })).toEqual([
      [place(['a'], 'x'), place(['b'], 'i')],
    ])
    expect(outputs('†state.a', 'fixed')).toEqual([[{ kind: 'log', path: ['last'] }]])
    expect(plan({ _outputMethod: 'set' }, 'fixed').outputMethod).toBe('push')
    expect(outputs('†state.a', 'silent')).toEqual([])
    expect(plan({ _outputPath: '†state.a' }, 'silent').problem).toMatchObject({
      code: 'invalid_arguments',
      message: 'The tool "silent" does not write its result: call it without _outputPath',
    })
  })

  it.each<[string, Record<string, unknown>, string, string, RegExp]>([
    ['an unknown tool', {}, 'gone', 'tool_not_found', /no tool "gone". The tools are: free, fixed/],
    [
      'an output that is no path',
      { _outputPath: 'summary' },
      'free',
      'invalid_reference',
      /summary/,
    ],
    [
      'an output that is no text',
      { _outputPath: {} },
      'free',
      'invalid_reference',
      /not an output path/,
    ],
    [
      'results of calls as the output',
      { _outputPath: '†state.a || †result.x' },
      'free',
      'invalid_reference',
      /another kind/,
    ],
    [
      'an unknown method',
      { _outputMethod: 'add' },
      'free',
      'invalid_arguments',
      /set, merge.*"add"/,
    ],
    [
      'a method that is no text',
      { _outputMethod: ['set', 'x'] },
      'free',
      'invalid_arguments',
      /_outputMethod/,
    ],
    [
      'mapping a tool with effects',
      { _each: [1] },
      'free',
      'invalid_arguments',
      /cannot be mapped/,
    ],
    [
      'mapping a tool that says no',
      { _each: [1] },
      'single',
      'invalid_arguments',
      /cannot be mapped/,
    ],
  ])('refuses %s', (_, args, name, code, message) => {
    expect(plan(args, name).problem).toEqual({ code, message: expect.stringMatching(message) })
  })

  it('maps idempotent tools, and tools that can be mapped', () => {
    expect(plan({ _each: '†state.list' }, 'safe')).toMatchObject({
      each: '†state.list',
      problem: null,
    })
    expect(plan({ _each: [1, 2] }, 'mapped')).toMatchObject({ each: [1, 2], problem: null })
  })

  it('passes on existing problems with the arguments', () => {
    const { problem } = plan({}, 'free', 'no JSON')
    expect(problem).toEqual({ code: 'invalid_arguments', message: 'no JSON' })
    expect(plan({}, 'gone', 'no JSON').problem).toEqual(problem)
  })

  it('returns where a call that cannot run would have written', () => {
    const outputs = [[place(['a'])]]
    const args = { _outputPath: '†state.a' }
    expect(plan(args, 'gone')).toMatchObject({ outputs, problem: { code: 'tool_not_found' } })
    expect(plan({ ...args, _each: [1] })).toMatchObject({
      outputs,
      problem: { code: 'invalid_arguments' },
    })
    expect(plan({}, 'fixed', 'no JSON').outputs).toEqual([[{ kind: 'log', path: ['last'] }]])
  })

  it('never throws, whatever call is in the log', () => {
    for (const args of [null, undefined, 7, 'text', []]) {
      expect(plan(args as unknown as Record<string, unknown>).reads).toEqual([])
    }
    const own = JSON.parse('{"__proto__": {"a": "†state.a"}, "constructor": "†state.b"}')
    expect(readsOf(own).sort()).toEqual(['†state.a', '†state.b'])
    expect(plan({}, '__proto__').problem?.code).toBe('tool_not_found')
  })

  it('reads arguments of any depth', () => {
    let deep: unknown = '†state.a'
    for (let i = 0; i < 20_000; i++) deep = [deep]
    expect(readsOf({ deep })).toEqual(['†state.a'])
  })
})
