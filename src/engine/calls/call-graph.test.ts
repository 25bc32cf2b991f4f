import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type CallPlan, type CallRead, planCall } from '../../boundary/call-plan.ts'
import { defineTool, type Tool } from '../../boundary/tool.ts'
import { type Board, createBoard } from '../../core/board/board.ts'
import { formatVariableRef } from '../../core/refs/variable-ref.ts'
import { type CallEnd, CallGraph } from './call-graph.ts'

const inputSchema = { type: 'object' } as const
const tools: ReadonlyMap<string, Tool> = new Map([
  ['t', defineTool({ id: 't', description: '', inputSchema, execute: () => null }) as Tool],
])

/** A call that reads these variables and writes to this path. */
function plan(
  id: string,
  reads: readonly string[] = [],
  write?: string,
  { instance, name = 't' }: { instance?: string; name?: string } = {},
): CallPlan {
  const args = { reads, _outputPath: write, _instance: instance }
  return planCall({ id, name, arguments: args }, tools)
}

/** The end of a call that wrote its output, or of one that failed and wrote its second alternative. */
const endOf = ({ outputs }: CallPlan, failed = false): CallEnd => ({
  failed,
  written: outputs[failed ? 1 : 0] ?? [],
})

/**
 * A graph whose calls start as soon as they can, like those of the engine. `existing` are the variables with a value.
 */
function running(existing: readonly string[] = []) {
  const plans = new Map<string, CallPlan>()
  const graph = new CallGraph(({ text }) => existing.includes(text))
  /** Starts the ready calls: returns ids, with the code of those that cannot start. */
  function go(): string[] {
    const gone: string[] = []
    for (let ready = graph.ready(); ready.length > 0; ready = graph.ready()) {
      for (const { plan: one, error } of ready) {
        gone.push(error ? `${one.id}: ${error.code}` : one.id)
        if (!error) graph.begin(one.id)
      }
    }
    return gone
  }
  return {
    graph,
    go,
    add(...args: Parameters<typeof plan>): string[] {
      const one = plan(...args)
      plans.set(one.id, one)
      graph.add(one)
      return go()
    },
    end(id: string, failed = false): string[] {
      graph.begin(id)
      graph.settle(id, endOf(plans.get(id) as CallPlan, failed))
      return go()
    },
    close(): string[] {
      graph.close()
      return go()
    },
  }
}

describe('CallGraph', () => {
  it('starts independent calls at once', () => {
    const calls = running()
    expect(calls.add('1', [], '†state.a')).toEqual(['1'])
    expect(calls.add('2', [], '†state.b')).toEqual(['2'])
    expect(calls.add('3')).toEqual(['3'])
    expect(calls.close()).toEqual([])
  })

  it('runs a diamond from its source to its end', () => {
    const calls = running()
    expect(calls.add('top', [], '†state.top')).toEqual(['top'])
    expect(calls.add('left', ['†state.top'], '†state.left')).toEqual([])
    expect(calls.add('right', ['†state.top'], '†state.right')).toEqual([])
    expect(calls.add('end', ['†state.left', '†state.right'])).toEqual([])
    expect(calls.close()).toEqual([])
    expect(calls.end('top')).toEqual(['left', 'right'])
    expect(calls.end('right')).toEqual([])
    expect(calls.end('left')).toEqual(['end'])
  })

  it('starts two writers of one path in order, and their reader after both', () => {
    const calls = running()
    expect(calls.add('1', ['†state.none'], '†state.a')).toEqual([])
    expect(calls.add('2', [], '†state.a')).toEqual([])
    expect(calls.add('3', ['†state.a'])).toEqual([])
    // It cannot succeed, so the first one starts and fails.
    expect(calls.close()).toEqual(['1', '2'])
    expect(calls.end('1')).toEqual([])
    expect(calls.end('2')).toEqual(['3'])
  })

  it('waits for writers of parent paths and of nested paths', () => {
    for (const [written, read] of [
      ['†state', '†state.a.b'],
      ['†state.a.b', '†state.a'],
      ['†state.rows[0]', '†state.rows'],
    ] as const) {
      const calls = running([read])
      calls.add('1', [], written)
      expect(calls.add('2', [read])).toEqual([])
      expect(calls.end('1')).toEqual(['2'])
    }
    const apart = running(['†state.ab'])
    apart.add('1', [], '†state.a')
    expect(apart.add('2', ['†state.ab'])).toEqual(['2'])
  })

  it('does not wait for a later writer if the value exists', () => {
    const calls = running(['†state.a'])
    expect(calls.add('before', ['†state.a'])).toEqual(['before'])
    expect(calls.add('writer', [], '†state.a')).toEqual(['writer'])
    expect(calls.add('after', ['†state.a'])).toEqual([])
    expect(calls.end('writer')).toEqual(['after'])
  })

  it('writes a new value only after earlier calls have read the old one', () => {
    const calls = running(['†state.a'])
    calls.add('slow', [], '†state.b')
    expect(calls.add('reader', ['†state.a', '†state.b'])).toEqual([])
    expect(calls.add('writer', [], '†state.a')).toEqual([])
    expect(calls.end('slow')).toEqual(['reader', 'writer'])
  })

  it('waits for a name that a later call writes, while the answer streams', () => {
    const calls = running()
    expect(calls.add('reader', ['†state.a'])).toEqual([])
    expect(calls.add('other', [], '†state.b')).toEqual(['other'])
    expect(calls.add('writer', [], '†state.a')).toEqual(['writer'])
    expect(calls.end('writer')).toEqual(['reader'])
    expect(calls.add('late', [], '†state.a')).toEqual(['late'])
  })

  it('stops waiting when the answer has ended', () => {
    const calls = running()
    expect(calls.add('reader', ['†state.a'])).toEqual([])
    expect(calls.close()).toEqual(['reader'])
    expect(calls.close()).toEqual([])
  })

  it('fails a call that waits for itself', () => {
    const calls = running()
    expect(calls.add('1', ['†state.a'], '†state.a')).toEqual([])
    expect(calls.close()).toEqual(['1'])
  })

  it('lets a call that waits for a name write after the call that writes the name', () => {
    const calls = running()
    expect(calls.add('1', ['†state.a'], '†state.b')).toEqual([])
    expect(calls.add('2', [], '†state.b && †state.a')).toEqual(['2'])
    expect(calls.end('2')).toEqual(['1'])
    const again = running()
    expect(again.add('1', ['†state.a'], '†state.b')).toEqual([])
    expect(again.add('2', [], '†state.a && †state.b')).toEqual(['2'])
  })

  it.each([
    [2, '1 (t) → 2 (t) → 1 (t)'],
    [3, '1 (t) → 3 (t) → 2 (t) → 1 (t)'],
  ])('names the calls of a cycle of %s', (count, circle) => {
    const graph = new CallGraph(() => false)
    for (let i = 1; i <= count; i++) {
      graph.add(plan(`${i}`, [`†state.n${i === 1 ? count : i - 1}`], `†state.n${i}`))
    }
    graph.add(plan('in', ['†state.n1']))
    graph.add(plan('out', [], '†state.x'))
    expect(graph.ready().map((one) => one.plan.id)).toEqual(['out'])
    graph.close()
    const ready = graph.ready()
    expect(ready.map((one) => one.plan.id)).toEqual(['1', '2', '3'].slice(0, count))
    for (const { error } of ready) {
      expect(error).toMatchObject({ code: 'call_cycle' })
      expect(error?.message).toContain(`cycle: ${circle}.`)
    }
    for (const { plan: one } of ready) graph.settle(one.id, endOf(one, true))
    const [left] = graph.ready()
    expect([left?.plan.id, left?.error?.code]).toEqual(['in', 'source_failed'])
  })

  it('relaxes the order of writes rather than report a cycle', () => {
    const calls = running()
    expect(calls.add('1', ['†state.a'], '†state.x')).toEqual([])
    expect(calls.add('2', [], '†state.x && †state.b')).toEqual([])
    expect(calls.add('3', ['†state.b'], '†state.a')).toEqual([])
    expect(calls.close()).toEqual(['2'])
    expect(calls.end('2')).toEqual(['3'])
    expect(calls.end('3')).toEqual(['1'])
  })

  it('finds two cycles, and what depends on both', () => {
    const calls = running()
    for (const name of ['a', 'b']) {
      calls.add(`${name}1`, [`†state.${name}2`], `†state.${name}1`)
      calls.add(`${name}2`, [`†state.${name}1`], `†state.${name}2`)
    }
    calls.add('end', ['†state.a1', '†state.b1'])
    expect(calls.close()).toEqual(['a1', 'a2', 'b1', 'b2'].map((id) => `${id}: call_cycle`))
    expect(calls.end('a1', true)).toEqual(['end: source_failed'])
    expect(calls.end('b1', true)).toEqual([])
  })

  it('reports which calls read a name that a failed call did not write', () => {
    const calls = running()
    calls.add('1', [], '†state.a')
    calls.add('2', ['†state.a.b'], '†state.c')
    calls.add('3', ['†state.c'])
    expect(calls.end('1', true)).toEqual(['2: source_failed'])
    expect(calls.end('2', true)).toEqual(['3: source_failed'])
    expect(calls.add('4', ['†state.a'])).toEqual(['4: source_failed'])
  })

  it('names the source that failed', () => {
    const graph = new CallGraph(() => false)
    graph.add(plan('1', [], '†state.a'))
    graph.settle('1', { failed: true, written: [] })
    graph.add(plan('2', ['†state.a']))
    expect(graph.ready().at(-1)?.error).toEqual({
      code: 'source_failed',
      message: expect.stringMatching(
        /^†state\.a has no value, because the call 1 \(t\) that writes it failed/,
      ),
    })
  })

  it('ignores failed sources of alternatives', () => {
    const calls = running()
    calls.add('1', [], '†state.a')
    expect(calls.add('2', ['†state.a || †state.b'])).toEqual([])
    expect(calls.add('3', ['†state.b || †state.a && †state.a'])).toEqual([])
    expect(calls.end('1', true)).toEqual(['2', '3'])
  })

  it('runs a call that reads the error that a failed call wrote', () => {
    const calls = running()
    calls.add('1', [], '†state.a || †errors.last')
    expect(calls.add('2', ['†errors.last'])).toEqual([])
    expect(calls.add('3', ['†state.a'])).toEqual([])
    expect(calls.add('4', ['†errors'])).toEqual([])
    expect(calls.end('1', true)).toEqual(['2', '3: source_failed', '4'])
  })

  it('does not fall back to an older value if the writer has no tool', () => {
    const calls = running(['†state.a'])
    expect(calls.add('1', [], '†state.a', { name: 'gone' })).toEqual(['1: tool_not_found'])
    expect(calls.add('2', ['†state.a'])).toEqual([])
    expect(calls.end('1', true)).toEqual(['2: source_failed'])
  })

  it('keeps instances apart, and from the global value', () => {
    const calls = running(['†state#b.x', '†state.x'])
    calls.add('1', [], '†state#a.x')
    expect(calls.add('2', ['†state#b.x'])).toEqual(['2'])
    expect(calls.add('3', ['†state.x'])).toEqual(['3'])
    expect(calls.add('4', ['†state#a.x'])).toEqual([])
    expect(calls.end('1')).toEqual(['4'])
  })

  it('waits in an instance for writers of the instance and of the global value', () => {
    const calls = running(['†state.x'])
    calls.add('own', [], '†state.x', { instance: 'a' })
    calls.add('global', [], '†state.x')
    expect(calls.add('reader', ['†state.x'], undefined, { instance: 'a' })).toEqual([])
    expect(calls.add('other', ['†state.x'], undefined, { instance: 'b' })).toEqual([])
    expect(calls.end('own')).toEqual([])
    expect(calls.end('global')).toEqual(['reader', 'other'])
  })

  it('looks up a value in the instance that reads it', () => {
    const asked: [string, string | undefined][] = []
    const graph = new CallGraph(({ text }, { instance }) => {
      asked.push([text, instance])
      return true
    })
    graph.add(plan('1', ['†state.x'], undefined, { instance: 'a' }))
    graph.add(plan('2', ['†state.y']))
    expect(asked).toEqual([
      ['†state.x', 'a'],
      ['†state.y', undefined],
    ])
  })

  it('holds back only the calls that depend on a call that waits for a person', () => {
    const calls = running()
    const { graph, go } = calls
    const asks = plan('asks', [], '†state.a')
    graph.add(asks)
    expect(graph.ready().map((one) => one.plan.id)).toEqual(['asks'])
    graph.hold('asks')
    expect(calls.add('behind', [], '†state.a')).toEqual([])
    expect(calls.add('reads', ['†state.a'])).toEqual([])
    expect(calls.add('free', [], '†state.b')).toEqual(['free'])
    expect(calls.close()).toEqual([])
    graph.begin('asks')
    expect(go()).toEqual(['behind'])
    graph.settle('asks', endOf(asks))
    expect(go()).toEqual([])
    expect(calls.end('behind')).toEqual(['reads'])
  })

  it('returns each call once', () => {
    const graph = new CallGraph(() => false)
    graph.add(plan('1', [], '†state.a'))
    expect(graph.ready()).toHaveLength(1)
    expect(graph.ready()).toEqual([])
    graph.settle('1', { failed: true, written: [] })
    graph.settle('1', { failed: false, written: [] })
    graph.begin('1')
    graph.hold('1')
    graph.close()
    expect(graph.ready()).toEqual([])
  })

  it('returns a held call once more after it was released', () => {
    const graph = new CallGraph(() => false)
    graph.add(plan('1'))
    expect(graph.ready()).toHaveLength(1)
    graph.release('1')
    expect(graph.ready()).toEqual([])
    graph.hold('1')
    expect(graph.ready()).toEqual([])
    graph.release('1')
    expect(graph.ready().map((one) => one.plan.id)).toEqual(['1'])
    graph.release('1')
    expect(graph.ready()).toEqual([])
  })

  it('ignores calls that it does not know', () => {
    const graph = new CallGraph(() => false)
    graph.release('nobody')
    graph.hold('nobody')
    graph.begin('nobody')
    graph.settle('nobody', { failed: false, written: [] })
    expect(graph.ready()).toEqual([])
  })

  it('looks up each name once, and returns each call once, in an answer of 2,000', () => {
    const ids = Array.from({ length: 2000 }, (_, i) => i)
    const run = (plans: readonly CallPlan[]) => {
      let asked = 0
      const graph = new CallGraph(() => ++asked < 0)
      const order: string[] = []
      const go = (): void => {
        for (let ready = graph.ready(); ready.length > 0; ready = graph.ready()) {
          for (const { plan: one } of ready) {
            order.push(one.id)
            graph.begin(one.id)
            graph.settle(one.id, endOf(one))
          }
        }
      }
      for (const one of plans) {
        graph.add(one)
        go()
      }
      graph.close()
      go()
      return { asked, order }
    }
    const chain = ids.map((i) => plan(`${i}`, i === 0 ? [] : [`†state.n${i - 1}`], `†state.n${i}`))
    const inOrder = ids.map(String)
    expect(run(chain)).toEqual({ asked: 0, order: inOrder })
    expect(run(chain.toReversed())).toEqual({ asked: 1999, order: inOrder })
    const apart = ids.map((i) => plan(`${i}`, ['†state.x'], `†state.n${i}`))
    const { asked, order } = run(apart)
    expect([asked, order]).toEqual([2000, inOrder])
  })
})

const takeTurn = (graph: CallGraph, id: string): boolean => graph.takeTurns([id]).length > 0

describe('CallGraph.takeTurns', () => {
  const graphOf = (...plans: CallPlan[]): CallGraph => {
    const graph = new CallGraph(() => false)
    for (const one of plans) graph.add(one)
    for (const { plan: one } of graph.ready()) graph.begin(one.id)
    return graph
  }

  it('records results in the order of the answer, each once', () => {
    const graph = graphOf(plan('1'), plan('2'), plan('3'))
    expect(takeTurn(graph, '3')).toBe(false)
    expect(takeTurn(graph, '2')).toBe(false)
    expect(takeTurn(graph, '1')).toBe(true)
    expect(takeTurn(graph, '1')).toBe(false)
    expect(takeTurn(graph, '2')).toBe(true)
    expect(takeTurn(graph, '3')).toBe(true)
    expect(takeTurn(graph, 'nobody')).toBe(false)
  })

  it('skips a call that waits for a person, and those that depend on it', () => {
    const graph = graphOf(plan('0', [], '†state.a'))
    const held = new CallGraph(() => false)
    held.add(plan('1', [], '†state.a'))
    held.ready()
    held.hold('1')
    held.add(plan('2', ['†state.a'], '†state.b'))
    held.add(plan('3', ['†state.b']))
    held.add(plan('4'))
    held.begin('4')
    expect(takeTurn(held, '4')).toBe(true)
    held.begin('1')
    held.add(plan('5'))
    expect(takeTurn(held, '5')).toBe(false)
    expect(takeTurn(graph, '0')).toBe(true)
  })

  it('visits each call once, however the calls wait for each other', () => {
    const count = 1000
    const chain = Array.from({ length: count }, (_, i) =>
      plan(`${i}`, i < count - 1 ? [`†state.n${i + 1}`] : [], `†state.n${i}`),
    )
    const graph = graphOf(...chain)
    let visited = 0
    const has = Set.prototype.has
    Set.prototype.has = function (this: Set<unknown>, one: unknown) {
      visited++
      return has.call(this, one)
    }
    onTestFinished(() => {
      Set.prototype.has = has
    })
    expect(takeTurn(graph, `${count - 1}`)).toBe(true)
    expect(visited).toBeLessThan(10 * count)
  })

  it('skips a call that waits for this one', () => {
    const graph = graphOf(plan('1', ['†state.a']), plan('2', [], '†state.a'))
    expect(takeTurn(graph, '2')).toBe(true)
    graph.settle('2', endOf(plan('2', [], '†state.a')))
    expect(takeTurn(graph, '1')).toBe(true)
  })
})

/** A call of a generated answer: what it reads, where it writes, its instance, and whether a person is asked. */
interface Generated {
  asks: boolean
  reads: string[]
  write: string | undefined
  instance: string | undefined
}

/** What every call saw when they ran one after the other. */
function inTurn(board: Board, plans: readonly CallPlan[]): Map<string, unknown> {
  const seen = new Map<string, unknown>()
  for (const one of plans) {
    seen.set(one.id, valuesFor(board, one))
    writeOf(board, one)
  }
  return seen
}

/** What every call saw when the graph started them and `choose` ended them. */
function byGraph(
  board: Board,
  plans: readonly CallPlan[],
  { choose, asks = new Set() }: { choose: (count: number) => number; asks?: ReadonlySet<CallPlan> },
): Map<string, unknown> {
  const seen = new Map<string, unknown>()
  const graph = new CallGraph((read, one) => has(board, read, one))
  const coming = [...plans]
  const running: CallPlan[] = []
  let ended: CallPlan[] = []
  const waiting = new Set(asks)
  let closed = false
  for (let left = plans.length; left > 0; ) {
    for (const { plan: one, error } of graph.ready()) {
      if (error) throw new Error(error.message)
      // A person sees what will run.
      seen.set(one.id, valuesFor(board, one))
      if (waiting.has(one)) graph.hold(one.id)
      else graph.begin(one.id)
      running.push(one)
    }
    const takes = closed ? 0 : 1
    if (takes + running.length === 0) throw new Error('nothing can go on')
    const choice = choose(takes + running.length)
    if (choice === running.length) {
      const next = coming.shift()
      if (next) graph.add(next)
      else graph.close()
      closed = next === undefined
    } else {
      const [one] = running.splice(choice, 1) as [CallPlan]
      if (waiting.delete(one)) {
        graph.begin(one.id)
        running.push(one)
      } else ended.push(one)
    }
    ended.sort((a, b) => plans.indexOf(a) - plans.indexOf(b))
    const turns = ended.filter(({ id }) => takeTurn(graph, id))
    ended = ended.filter((one) => !turns.includes(one))
    for (const one of turns) {
      writeOf(board, one)
      graph.settle(one.id, endOf(one))
      left--
    }
  }
  return seen
}

const has = (board: Board, { text }: CallRead, { instance }: CallPlan): boolean =>
  board.has(text, { instance })

function valuesFor(board: Board, { reads, instance }: CallPlan): unknown {
  return reads.map(({ text }) => {
    const value = board.has(text, { instance }) ? board.read(text, { instance }) : 'none'
    return [text, value]
  })
}

function writeOf(board: Board, { id, outputs }: CallPlan): void {
  for (const { kind, instance, path } of outputs[0] ?? []) {
    const own = instance === undefined ? {} : { _instance: instance }
    board.append({ type: 'data', kind, ...own, _path: path, _outputMethod: 'set', data: { x: id } })
  }
}

const askedOf = (plans: readonly CallPlan[], calls: readonly Generated[]): Set<CallPlan> =>
  new Set(plans.filter((_, i) => calls[i]?.asks))

const choices = fc.infiniteStream(fc.nat(1000))
const chooser = (stream: IterableIterator<number>) => (count: number) =>
  (stream.next().value as number) % count

describe('the calls of an answer', () => {
  const names = ['†state', '†state.a', '†state.a.x', '†state.b', '†state#i.a', '†other']
  const generated = fc.record<Generated>({
    reads: fc.array(fc.constantFrom(...names, '†state.a || †other', '†state.b && †state.a')),
    write: fc.constantFrom(undefined, ...names, '†state.b && †other'),
    instance: fc.constantFrom(undefined, undefined, 'i'),
    asks: fc.boolean(),
  })

  it('see the same values as in sequence, whenever each of them ends', () => {
    const start = () =>
      createBoard([
        { type: 'state', state: { a: { x: 0 }, b: { x: 0 } } },
        { type: 'state', state: { a: { x: 0 } }, _instance: 'i' },
        { type: 'data', kind: 'other', data: { x: 0 } },
      ])
    fc.assert(
      fc.property(fc.array(generated, { maxLength: 8 }), choices, (calls, stream) => {
        const plans = calls.map(({ reads, write, instance }, i) =>
          plan(`${i}`, reads, write, { instance }),
        )
        const expected = inTurn(start(), plans)
        expect(
          byGraph(start(), plans, { choose: chooser(stream), asks: askedOf(plans, calls) }),
        ).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })

  it('write the same values as in sequence', () => {
    fc.assert(
      fc.property(fc.array(generated, { maxLength: 8 }), choices, (calls, stream) => {
        const plans = calls.map(({ write, instance }, i) => plan(`${i}`, [], write, { instance }))
        const [board, expected] = [createBoard(), createBoard()]
        inTurn(expected, plans)
        byGraph(board, plans, { choose: chooser(stream), asks: askedOf(plans, calls) })
        const values = (one: Board) =>
          Object.fromEntries(
            one.entries().map(({ kind, instance, data }) => [`${kind}#${instance}`, data]),
          )
        expect(values(board)).toEqual(values(expected))
      }),
      { numRuns: 300 },
    )
  })

  it('wait for names of each other, in whatever order they arrive', () => {
    const edges = fc.array(fc.array(fc.nat(9), { maxLength: 3 }), { maxLength: 10 })
    fc.assert(
      fc.property(edges, fc.infiniteStream(fc.nat(1000)), choices, (given, shuffle, stream) => {
        // Each reads what those before it in this hidden order write.
        const hidden = given.map((sources, i) => {
          const reads = sources.filter((source) => source < i).map((source) => `†state.n${source}`)
          return plan(`${i}`, reads, `†state.n${i}`)
        })
        const order = hidden.map((one) => ({ one, key: shuffle.next().value as number }))
        const plans = order.sort((a, b) => a.key - b.key).map(({ one }) => one)
        const seen = byGraph(createBoard(), plans, { choose: chooser(stream) })
        expect(seen).toEqual(inTurn(createBoard(), hidden))
        for (const { id, reads } of plans) {
          expect(seen.get(id)).toEqual(
            reads.map(({ text, places }) => {
              const [place] = places
              expect(
                formatVariableRef({
                  type: 'variable',
                  kind: 'state',
                  path: [...(place?.path ?? [])],
                }),
              ).toBe(text)
              return [text, { x: text.slice('†state.n'.length) }]
            }),
          )
        }
      }),
      { numRuns: 300 },
    )
  })
})
