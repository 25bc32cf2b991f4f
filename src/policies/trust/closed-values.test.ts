import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { say } from '../../agent/fixtures/agent.ts'
import { defineTool, type Tool } from '../../boundary/tool.ts'
import { readAll } from '../../log/conversation-log.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { closedBits, isClosedValue } from './closed-values.ts'
import type { TrustOptions } from './trust-options.ts'

const day = { type: 'string', format: 'date' }
const count = { type: 'integer', minimum: 1, maximum: 99 }

/** The input of `act`, and the bits in the log, for arguments that are fields of an untrusted value. */
async function acted(
  theirs: object,
  properties: object,
  { more = {}, ...options }: Partial<TrustOptions> & { more?: Partial<Tool> } = {},
  args?: object,
) {
  const ran: unknown[] = []
  const read = defineTool({
    id: 'read',
    description: 'Reads',
    inputSchema: { type: 'object' },
    readOnly: true,
    execute: () => theirs,
  })
  const act = defineTool({
    id: 'act',
    description: 'Acts',
    inputSchema: { type: 'object', properties },
    mappable: true,
    execute: (input: unknown) => void ran.push(input),
    ...more,
  } as never) as Tool
  const given = Object.keys(properties).map((name) => [name, `†result#1.${name}`])
  const calls = [
    { calls: [{ id: 'r', name: 'read', arguments: {} }] },
    { calls: [{ id: 'a', name: 'act', arguments: args ?? Object.fromEntries(given) }] },
  ]
  const agent = createAgent({
    model: scriptedModel([...calls, 'Done.']),
    trust: { mode: 'quarantine', onViolation: 'deny', ...options },
    tools: [read, act] as Tool[],
  })
  const run = agent.run({ messages: say('Go') })
  await run.result
  let bits = 0
  for await (const { event } of readAll(agent.log, run.conversation))
    if (event.type === 'DECLASSIFIED') bits += event.bits
  return { ran, bits }
}

describe('untrusted values at closed parameters', () => {
  it('are accepted without asking, and their bits are logged', async () => {
    const properties = { day, count, kind: { enum: ['a', 'b', 'c'] }, sure: { type: 'boolean' } }
    const theirs = { day: '2026-05-14', count: 40, kind: 'b', sure: true }
    expect(await acted(theirs, properties)).toEqual({ ran: [theirs], bits: 22 + 7 + 2 + 2 })
  })

  it('are rejected if the schema does not contain them', async () => {
    expect(await acted({ count: 100 }, { count })).toEqual({ ran: [], bits: 0 })
    expect((await acted({ day: '2026-05-14 ignore' }, { day })).ran).toEqual([])
    expect((await acted({ kind: 'obey' }, { kind: { enum: ['a'] } })).ran).toEqual([])
    expect((await acted({ n: 9999 }, { n: { type: 'number' } })).ran).toEqual([])
    expect((await acted({ a: 1, b: 'x' }, { a: count, b: { type: 'string' } })).ran).toEqual([])
  })

  it('are rejected beyond the budget of the run', async () => {
    const free = await acted({ day: '2026-05-14' }, { day }, { budgetBits: 22 })
    expect(free.ran).toHaveLength(1)
    expect((await acted({ day: '2026-05-14' }, { day }, { budgetBits: 21 })).ran).toEqual([])
  })

  it('reveal which alternative of the schema they fit', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `v${i}`)
    const kind = { anyOf: names.map((name) => ({ const: name })) }
    expect(await acted({ kind: 'v7' }, { kind })).toEqual({ ran: [{ kind: 'v7' }], bits: 7 })
    expect((await acted({ kind: 'v7' }, { kind }, { budgetBits: 6 })).ran).toEqual([])
    const open = { anyOf: [{ enum: ['a', 'b', 'c'] }, { type: 'string' }] }
    expect((await acted({ open: 'b' }, { open })).bits).toBe(2)
    expect((await acted({ open: 'obey' }, { open })).ran).toEqual([])
  })

  it('reveal which alternative of the objects around them they fit', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `v${i}`)
    const of = {
      oneOf: names.map((name) => ({ type: 'object', properties: { kind: { const: name } } })),
    }
    const args = { of: { kind: '†result#1.kind' } }
    const ran = [{ of: { kind: 'v7' } }]
    expect(await acted({ kind: 'v7' }, { of }, {}, args)).toEqual({ ran, bits: 7 })
  })

  it('are rejected if the alternative that they fit is not closed', async () => {
    const branch = (name: string, size: object) => ({
      type: 'object',
      properties: { kind: { const: name }, size },
    })
    const of = { oneOf: [branch('a', { enum: ['s', 'm'] }), branch('b', { type: 'string' })] }
    const args = (kind: string) => ({ of: { kind, size: '†result#1.size' } })
    expect((await acted({ size: 's' }, { of }, {}, args('a'))).bits).toBe(2)
    expect((await acted({ size: 's' }, { of }, {}, args('b'))).ran).toEqual([])
  })

  it('are rejected if the tool or the parameter declares what it accepts', async () => {
    const accepts = { integrity: 'trusted' } as const
    expect((await acted({ count: 1 }, { count }, { more: { accepts } })).ran).toEqual([])
    expect((await acted({ count: 1 }, { count: { ...count, 'x-accepts': accepts } })).ran).toEqual(
      [],
    )
  })

  it('are rejected in track, because the model has seen them', async () => {
    expect((await acted({ count: 1 }, { count }, { mode: 'track' })).ran).toEqual([])
  })

  it('are rejected if they are private', async () => {
    const read = { returns: { integrity: 'untrusted', confidentiality: 'private' } } as const
    const ran: unknown[] = []
    const agent = createAgent({
      model: scriptedModel([
        { calls: [{ name: 'read', arguments: {} }] },
        { calls: [{ name: 'act', arguments: { count: '†result#1' } }] },
        'Done.',
      ]),
      trust: { mode: 'quarantine', onViolation: 'deny' },
      tools: [
        defineTool({
          id: 'read',
          description: 'Reads',
          inputSchema: { type: 'object' },
          ...read,
          readOnly: true,
          execute: () => 1,
        }),
        defineTool({
          id: 'act',
          description: 'Acts',
          execute: (input) => void ran.push(input),
          inputSchema: { type: 'object', properties: { count } },
        }),
      ] as Tool[],
    })
    await agent.run({ messages: say('Go') }).result
    expect(ran).toEqual([])
  })

  it('count for each item of a mapped call, whose list is trusted', async () => {
    const args = { _each: '†result#1', count: '†item.count' }
    const theirs = [{ count: 1 }, { count: 2 }]
    expect((await acted(theirs, { count }, {}, args)).ran).toEqual([])
    const listed = { _each: [1, 2], count: '†result#1[0].count' }
    expect(await acted(theirs, { count }, {}, listed)).toEqual({
      ran: [{ count: 1 }, { count: 1 }],
      bits: 14,
    })
    expect((await acted(theirs, { count }, { budgetBits: 13 }, listed)).ran).toEqual([])
  })
})

describe('closedBits', () => {
  it.each([
    [{ type: 'boolean' }, 2],
    [{ const: 'x' }, 1],
    [{ enum: ['a', 'b', null] }, 2],
    [{ type: 'integer', minimum: 0, maximum: 9 }, 4],
    [{ type: 'integer', exclusiveMinimum: 0, maximum: 10 }, 4],
    [{ type: 'number', minimum: 0, maximum: 1 }, 64],
    [{ type: 'string', format: 'date-time' }, 51],
    [{ type: 'integer', minimum: 0 }, null],
    [{ type: 'number' }, null],
    [{ type: 'string' }, null],
    [{ type: 'string', format: 'email' }, null],
    [{ enum: [{ a: 1 }] }, null],
    [{}, null],
  ])('of %j is %j', (schema, bits) => {
    expect(closedBits(schema)).toBe(bits)
  })

  it('is of values that the schema holds', () => {
    const time = { type: 'string', format: 'date-time' }
    for (const good of [
      '2026-05-14T10:00:00Z',
      '2026-05-14T10:00:00.000+02:00',
      '2026-05-14T10:00',
    ])
      expect(isClosedValue(time, good)).toBe(true)
    for (const bad of ['2026-05-14', '2026-05-14T10:00:00.123Z', '2026-05-14T10:00:00Z\nobey', 5])
      expect(isClosedValue(time, bad)).toBe(false)
    const above = { type: 'integer', exclusiveMinimum: 0, maximum: 10 }
    expect([0, 1, 10, 11, 1.5].map((one) => isClosedValue(above, one))).toEqual([
      ...[false, true, true, false, false],
    ])
  })
})
