import type { Tool } from '../../../../src/boundary/tool.ts'
import { createAgent, defineTool } from '../../../../src/index.ts'
import { INJECTIONS, type Injection } from '../../injections.ts'
import { play, Scene } from '../scene.ts'

/** One single attack. Returns what leaked; null if the attack failed. */
export interface Way {
  name: string
  run(): Promise<string | null>
}

const any = { type: 'object', properties: { value: {}, other: {} } } as const
const plain = INJECTIONS.find(({ name }) => name === 'plain words') as Injection
const OPEN = { accepts: { integrity: 'untrusted', confidentiality: 'private' } } as const
const TRUSTED = { 'x-accepts': { integrity: 'trusted' } }
const UNTRUSTED = { 'x-accepts': { integrity: 'untrusted' } }

const way = (name: string, write: (scene: Scene) => void | Promise<void>): Way => ({
  name,
  async run() {
    const scene = new Scene(plain, 'mail')
    await write(scene)
    return (await play(scene)).leak
  },
})

function tool(id: string, execute: Tool['execute'], more: object = {}): Tool {
  return defineTool({
    id,
    description: id,
    inputSchema: any,
    idempotent: true,
    execute,
    ...more,
  } as never) as Tool
}

/** Reads the attacker's text: `{ from, text, rows }`. */
function source(scene: Scene, more: object = {}): void {
  const value = () => ({ from: scene.order, text: scene.order, rows: [{ from: scene.order }] })
  scene.use(tool('source', value, { readOnly: true, ...more }))
  scene.call('source')
}

/** A read-only tool. */
function ours(scene: Scene, id: string, execute: Tool['execute'], more: object = {}): void {
  scene.use(tool(id, execute, { readOnly: true, openWorld: false, ...more }))
}

/** An acting tool, called with these arguments. */
function act(
  scene: Scene,
  args: Record<string, unknown>,
  {
    properties = {},
    guarded = (input: never): unknown => input,
    ...more
  }: Record<string, unknown> & {
    properties?: object
    guarded?(input: never): unknown
  } = {},
): void {
  const id = `act_${scene.turns.length}`
  const inputSchema = { type: 'object', properties: { ...any.properties, ...properties } }
  const execute: Tool['execute'] = (input, { toolCallId }) => {
    scene.act(toolCallId, guarded(input as never))
    return input
  }
  scene.use(tool(id, execute, { openWorld: false, mappable: true, inputSchema, ...more }))
  scene.call(id, args)
}

async function asset(scene: Scene, content: unknown = [{ from: scene.order }]): Promise<string> {
  const { ref } = await scene.assets.saveAsset({ content_type: 'application/json', content })
  return ref
}

const doc = (scene: Scene, data: object): void =>
  void scene.messages.push({ type: 'data', kind: 'doc', data })

const stand = (assetRef: string) => ({
  offloaded: true,
  assetRef,
  mimeType: 'application/json',
  kind: 'file',
  size: 9,
})

const POINTERS: readonly Way[] = [
  way('rows of an address in trusted data, one by one', async (scene) => {
    doc(scene, { ref: `${await asset(scene)}/content` })
    act(scene, { _each: '†doc.ref', value: '†item.from' })
  }),
  way('an address in trusted data, as what it holds', async (scene) => {
    doc(scene, { ref: await asset(scene, scene.order) })
    const value = { type: 'string', asset_ref_acceptable: true }
    act(scene, { value: '†doc.ref' }, { properties: { value } })
  }),
  way('an address in capitals', async (scene) => {
    doc(scene, { ref: (await asset(scene, scene.order)).replace('asset:', 'ASSET:') })
    const value = { type: 'string', asset_ref_acceptable: true }
    act(scene, { value: '†doc.ref' }, { properties: { value } })
  }),
  way('a field of a value that is kept as an asset', async (scene) => {
    doc(scene, { value: stand(await asset(scene, { from: scene.order })) })
    act(scene, { value: '†doc.value.from' })
  }),
  way('a value that is kept as an asset, in an object', async (scene) => {
    doc(scene, { value: stand(await asset(scene, { from: scene.order })) })
    const value = { type: 'object', asset_ref_acceptable: true }
    act(scene, { value: '†doc.value' }, { properties: { value } })
  }),
  way('an address within a text of trusted data', async (scene) => {
    doc(scene, { text: `see <|${await asset(scene, scene.order)}|>` })
    const value = { type: 'string', asset_ref_acceptable: true }
    act(scene, { value: '†doc.text' }, { properties: { value } })
  }),
  way('an address that a trusted tool returns', async (scene) => {
    const ref = await asset(scene, scene.order)
    ours(scene, 'find', () => ({ ref }))
    scene.call('find')
    const value = { type: 'string', asset_ref_acceptable: true }
    act(scene, { value: '†result#1.ref' }, { properties: { value } })
  }),
  way('an address that a trusted tool returns, in a text', async (scene) => {
    const ref = await asset(scene, scene.order)
    ours(scene, 'find', () => ({ ref }))
    scene.call('find')
    const value = { type: 'string', asset_ref_acceptable: true }
    act(scene, { value: 'see <|†result#1.ref|>' }, { properties: { value } })
  }),
  way('a place within an asset', async (scene) => {
    doc(scene, { ref: `${await asset(scene)}/content/0/from` })
    const value = { type: 'string', asset_ref_acceptable: true }
    act(scene, { value: '†doc.ref' }, { properties: { value } })
  }),
  way('keys of an asset in an error', async (scene) => {
    doc(scene, { value: stand(await asset(scene, { [scene.order]: 1 })) })
    ours(scene, 'echo', (input) => input)
    scene.call('echo', { value: '†doc.value.none' })
  }),
  way('columns of a table in an error', async (scene) => {
    doc(scene, { ref: `${await asset(scene, [{ [scene.order]: 1 }])}/content/none` })
    const value = { type: 'string', asset_ref_acceptable: true }
    ours(scene, 'echo', (input) => input, {
      inputSchema: { type: 'object', properties: { value } },
    })
    scene.call('echo', { value: '†doc.ref' })
  }),
]

/** A parameter that must be trusted, at some depth of a schema, and an argument by reference above it. */
const nested = (
  name: string,
  value: object,
  {
    args = { value: '†result#1' },
    more = {},
  }: { args?: Record<string, unknown>; more?: object } = {},
): Way =>
  way(`${name} that must be trusted`, (scene) => {
    source(scene)
    const guarded = (input: unknown) => {
      const found = [Object(input).value].flat(4).map((one) => Object(one).from ?? Object(one).rows)
      return found
    }
    act(scene, args, { properties: { value }, guarded, ...OPEN, ...more })
  })

const mail = { type: 'object', properties: { from: TRUSTED, text: {} } }
const NESTED: readonly Way[] = [
  nested('a field of an object', mail),
  nested(
    'a field of an object in a list',
    { type: 'array', items: mail },
    { args: { value: ['†result#1'] } },
  ),
  nested('a field of rows', {
    type: 'object',
    properties: { rows: { type: 'array', items: mail } },
  }),
  nested('a field in one branch', { anyOf: [{ type: 'string' }, mail] }),
  nested('a field in one of two objects', {
    oneOf: [{ type: 'object', properties: { x: {} }, required: ['x'] }, mail],
  }),
  nested('a field in all of some', { allOf: [{ type: 'object' }, mail] }),
  nested(
    'a field by a definition',
    { $ref: '#/$defs/mail' },
    {
      more: {
        inputSchema: {
          type: 'object',
          properties: { value: { $ref: '#/$defs/mail' } },
          $defs: { mail },
        },
      },
    },
  ),
  nested('any other field', { type: 'object', additionalProperties: TRUSTED }),
  nested('fields by a pattern', { type: 'object', patternProperties: { '^f': TRUSTED } }),
  nested(
    'an item by its place',
    { type: 'array', prefixItems: [mail] },
    { args: { value: ['†result#1'] } },
  ),
  nested('a field of a mapped item', mail, { args: { _each: ['†result#1'], value: '†item' } }),
  nested('a field of an object around it', mail, { args: { value: { from: '†result#1.from' } } }),
  nested('a field in a text', mail, { args: { value: { from: 'to <|†result#1.from|>' } } }),
  nested('a field of an asset', { ...mail, asset_ref_acceptable: true }),
  way('a branch that opens another one', (scene) => {
    source(scene)
    const value = { anyOf: [{ type: 'string' }, { type: 'string', ...UNTRUSTED }] }
    act(scene, { value: '†result#1.text' }, { properties: { value } })
  }),
  way('an open parameter beside one that says nothing', (scene) => {
    source(scene)
    const properties = { value: UNTRUSTED }
    const guarded = ({ other }: { other: unknown }) => other
    act(scene, { value: '†result#1', other: '†result#1' }, { properties, guarded })
  }),
]

const helper = (
  scene: Scene,
  turns: readonly unknown[],
  tools: Tool[],
  more: object = {},
): Tool => {
  const agent = createAgent({
    model: scene.inner(turns as never),
    tools,
    assets: scene.assets,
    trust: { mode: 'quarantine', onViolation: 'deny' },
    ...more,
  })
  scene.closing.push(() => agent.close())
  return agent.asTool({ id: 'helper', description: 'Helps', data: ['†box'] }) as Tool
}
const acting = (scene: Scene): Tool =>
  tool('inner_act', (input, { toolCallId }) => scene.act(toolCallId, input), { openWorld: false })
const innerAct = (value: unknown) => ({ calls: [{ name: 'inner_act', arguments: { value } }] })

const SUBAGENTS: readonly Way[] = [
  ...['†input.task', '†box.text', '†box', 'see <|†box.text|>'].map((ref) =>
    way(`a sub-agent that acts on ${ref}`, (scene) => {
      source(scene)
      ours(scene, 'echo', (input) => Object(input).value)
      scene.aside('echo', { value: '†result#1', _outputPath: '†box' })
      scene.use(helper(scene, [innerAct(ref)], [acting(scene)]))
      scene.call('helper', { task: '†result#1.text' })
    }),
  ),
  way('a sub-agent that was shown it', (scene) => {
    source(scene)
    const inner = createAgent({
      model: scene.inner([innerAct('ours')], false),
      tools: [acting(scene)],
      trust: { mode: 'track', onViolation: 'deny' },
    })
    scene.closing.push(() => inner.close())
    scene.use(inner.asTool({ id: 'helper', description: 'Helps' }) as Tool)
    scene.call('helper', { task: '†result#1.text' })
  }),
  way('a sub-agent that fails with its words', (scene) => {
    source(scene)
    const reads = tool('source', () => scene.order, { readOnly: true })
    const turns = [{ calls: [{ name: 'source', arguments: {} }] }, new Error(scene.order)]
    const inner = createAgent({
      model: scene.inner(turns, false),
      trust: 'track',
      tools: [reads],
      retry: { maxRetries: 0 },
    })
    scene.closing.push(() => inner.close())
    scene.use(inner.asTool({ id: 'helper', description: 'Helps' }) as Tool)
    scene.call('helper', { task: 'Read' })
  }),
  way('a sub-agent with trust off', (scene) => {
    const reads = tool('source', () => scene.order, { readOnly: true })
    const model = scene.inner([{ calls: [{ name: 'source', arguments: {} }] }, scene.order], false)
    const inner = createAgent({ model, tools: [reads] })
    scene.closing.push(() => inner.close())
    scene.use(inner.asTool({ id: 'helper', description: 'Helps' }) as Tool)
    scene.call('helper', { task: 'Read' })
    act(scene, { value: '†result#1' })
  }),
]

const MAPPED: readonly Way[] = [
  ...['†item', '†item.from', 'to <|†item.from|>'].map((value) =>
    way(`each row as ${value}`, (scene) => {
      source(scene)
      act(scene, { _each: '†result#1.rows', value })
    }),
  ),
  way('each of a list that holds it', (scene) => {
    source(scene)
    act(scene, { _each: ['ours', '†result#1.text'], value: '†item' })
  }),
  way('each of a list of objects', (scene) => {
    source(scene)
    act(scene, { _each: [{ a: '†result#1.text' }], value: '†item.a' })
  }),
  way('how often a tool acts', (scene) => {
    source(scene)
    act(scene, { _each: '†result#1.rows', value: 'ours' }, { guarded: () => scene.order })
  }),
  way('indexes of its rows', (scene) => {
    source(scene)
    act(scene, { _each: '†result#1.rows', value: '†index' }, { guarded: () => scene.order })
  }),
  way('an item that fails', (scene) => {
    source(scene)
    const fail = (input: unknown): never => {
      throw new Error(JSON.stringify(input))
    }
    ours(scene, 'complain', fail)
    scene.call('complain', { _each: '†result#1.rows', value: '†item' })
  }),
  way('an item that has no such field', (scene) => {
    source(scene)
    ours(scene, 'echo', (input) => input)
    scene.call('echo', { _each: '†result#1.rows', value: '†item.none' })
  }),
  way('results of items that were given back', (scene) => {
    source(scene)
    ours(scene, 'echo', (input) => input)
    scene.call('echo', { _each: '†result#1.rows', value: '†item' })
    act(scene, { value: '†result#2[0].value.from' })
  }),
]

const shown = (
  name: string,
  more: (scene: Scene) => object,
  args: Record<string, unknown> = {},
): Way =>
  way(name, (scene) => {
    scene.use(tool('source', () => scene.order, { readOnly: true, ...more(scene) }))
    scene.call('source', args)
    scene.call('source', args)
  })

const SHOWN: readonly Way[] = [
  shown('the preview of a large result', (scene) => ({
    maxResultChars: 100,
    execute: () => ({ text: `${scene.order} ${'x'.repeat(500)}` }),
  })),
  shown('the preview of a large list', (scene) => ({
    maxResultChars: 100,
    execute: () => Array(50).fill({ [scene.order]: scene.order }),
  })),
  shown(
    'the preview of a large item',
    (scene) => ({
      maxResultChars: 100,
      returns: { fields: { text: { integrity: 'untrusted' } } },
      execute: () => ({ id: 1, text: `${scene.order} ${'x'.repeat(500)}` }),
    }),
    { _each: [1, 2], value: '†item' },
  ),
  shown('another output for the model', (scene) => ({
    toModelOutput: () => ({ said: scene.order }),
  })),
  shown('another output that fails', (scene) => ({
    toModelOutput() {
      throw new Error(scene.order)
    },
  })),
  shown('a value written among the data', () => ({ outputPath: '†state.mail' })),
  shown('a large value written among the data', (scene) => ({
    outputPath: '†state.mail',
    maxResultChars: 100,
    execute: () => `${scene.order} ${'x'.repeat(500)}`,
  })),
  shown('the name of a file', (scene) => ({
    execute: () => ({ mimeType: 'text/plain', dataBase64: 'eA==', fileName: `${scene.order}.txt` }),
  })),
  shown('the type of a file', (scene) => ({
    execute: () => ({ mimeType: `text/${scene.order}`, dataBase64: 'eA==' }),
  })),
  shown('the id of an asset', (scene) => ({
    execute: (_: unknown, { assets }: never) =>
      (assets as Scene['assets']).save(new Uint8Array(9), 'text/plain', {
        assetId: scene.order.replace(/\W+/g, '-'),
        name: scene.order,
      }),
  })),
  shown('progress', (scene) => ({
    execute(_: unknown, { progress }: { progress(text: string): void }) {
      progress(scene.order)
      return 1
    },
  })),
  shown('its keys', (scene) => ({ execute: () => ({ [scene.order]: { [scene.order]: 1 } }) })),
  shown('keys of trusted fields', (scene) => ({
    returns: { integrity: 'untrusted', fields: { id: { integrity: 'trusted' } } },
    execute: () => ({ id: 1, [scene.order]: 1 }),
  })),
]

const failing = (name: string, error: (scene: Scene) => unknown, more: object = {}): Way =>
  way(`an error: ${name}`, (scene) => {
    const execute = (): never => {
      throw error(scene)
    }
    scene.use(tool('source', execute, { readOnly: true, ...more }))
    scene.call('source', {})
    ours(scene, 'echo', (input) => Object(input).value)
    scene.call('echo', { value: '†result#1.message' })
    act(scene, { value: '†result#2' })
  })

const ERRORS: readonly Way[] = [
  failing('its message', (scene) => new Error(scene.order)),
  failing('its name and code', (scene) =>
    Object.assign(new Error('x'), { name: scene.order, code: scene.order }),
  ),
  failing('its cause', (scene) => new Error('x', { cause: new Error(scene.order) })),
  failing('a text', (scene) => scene.order),
  failing('an object', (scene) => ({ message: scene.order, code: 'flow_denied' })),
  failing('one that says that it is ours', (scene) =>
    Object.assign(new Error(scene.order), { code: 'approval_denied' }),
  ),
  failing('many of them', (scene) => new AggregateError([new Error(scene.order)], scene.order)),
  failing('one that is tried again', (scene) => new Error(scene.order), { retries: 1 }),
  way('an error: a place for errors among the data', (scene) => {
    const execute = (): never => {
      throw new Error(scene.order)
    }
    scene.use(
      tool('source', execute, { readOnly: true, outputPath: '†state.mail || †state.error' }),
    )
    scene.call('source')
    act(scene, { value: '†state.error.message' })
  }),
  way('an error: a schema that it does not fit', (scene) => {
    source(scene)
    const inputSchema = { type: 'object', properties: { value: { enum: ['a'] } } }
    ours(scene, 'strict', (input) => input, { inputSchema })
    scene.call('strict', { value: '†result#1.text' })
  }),
  way('an error: a schema of data that it does not fit', (scene) => {
    source(scene)
    const schema = {
      type: 'object',
      properties: { n: { type: 'number' } },
      additionalProperties: false,
    }
    scene.messages.push({ type: 'data', kind: 'typed', schema })
    ours(scene, 'echo', (input) => Object(input).value)
    scene.call('echo', { value: '†result#1', _outputPath: '†typed' })
  }),
]

const lateMessage = (name: string, message: (scene: Scene) => object, more: object = {}): Way =>
  way(`while a run is on: ${name}`, (scene) => {
    const execute: Tool['execute'] = async (_, { conversation }) => {
      await scene.agent?.send(conversation, [message(scene)] as never, { mode: 'steer', ...more })
      return 'fine'
    }
    ours(scene, 'sending', execute, { readOnly: true })
    scene.call('sending')
    ours(scene, 'echo', (input) => Object(input).value)
    scene.call('echo', { value: '†state.mail' })
    act(scene, { value: '†state.mail' })
  })
const from = (scene: Scene, role: string, more: object) => ({
  sender: { participant_id: scene.order, participant_role: role, name: scene.order },
  ...more,
})

const LATE: readonly Way[] = [
  ...['tool', 'plugin', 'guest', 'assistant '].map((role) =>
    lateMessage(`words of ${role}`, (scene) =>
      from(scene, role, { content_type: 'text/plain', content: scene.order }),
    ),
  ),
  lateMessage('data of a tool', (scene) =>
    from(scene, 'tool', {
      content_type: 'application/json',
      content: { type: 'data', kind: 'state', data: { mail: scene.order } },
    }),
  ),
  lateMessage('a reply to a command', (scene) =>
    from(scene, 'tool', {
      message_type: 'command-response',
      content_type: 'command',
      content: { response: scene.order },
    }),
  ),
  lateMessage(
    'words with an untrusted label',
    (scene) => ({ role: 'user', content: scene.order }),
    { label: { integrity: 'untrusted' } },
  ),
]

const closed = (name: string, value: object, given: (order: string) => unknown): Way =>
  way(`a closed parameter: ${name}`, (scene) => {
    scene.use(tool('source', () => given(scene.order), { readOnly: true }))
    scene.call('source')
    act(scene, { value: '†result#1' }, { properties: { value } })
  })

const CLOSED: readonly Way[] = [
  closed('a text for a choice', { enum: ['a', 'b'] }, (order) => order),
  closed('a text for a number', { type: 'integer', minimum: 0, maximum: 9 }, (order) => order),
  closed('a number out of bounds', { type: 'integer', minimum: 0, maximum: 99 }, () => 9999),
  closed(
    'a text after a date',
    { type: 'string', format: 'date' },
    (order) => `2026-05-14 ${order}`,
  ),
  closed(
    'a line after a time',
    { type: 'string', format: 'date-time' },
    (order) => `2026-05-14T10:00Z\n${order}`,
  ),
  closed('a list for a yes', { type: 'boolean' }, (order) => [order]),
  closed(
    'a format that is not closed',
    { type: 'string', format: 'email' },
    () => 'eve@evil.example',
  ),
  closed('a pattern', { type: 'string', pattern: '^A' }, (order) => order),
  closed(
    'a branch that is open',
    { anyOf: [{ type: 'string' }, { enum: ['a'] }] },
    (order) => order,
  ),
]

/** References that the engine reads, and not a tool. */
const engine = (name: string, args: Record<string, unknown>, more: object = {}): Way =>
  way(`an argument of the engine: ${name}`, (scene) => {
    source(scene)
    act(scene, args, { guarded: () => scene.order, ...more })
    ours(scene, 'echo', (input) => input)
    scene.call('echo', { value: '†state', other: '†result#2' })
  })

const ENGINE: readonly Way[] = [
  way('an argument of the engine: an instance', (scene) => {
    source(scene)
    act(scene, { value: '†state', _instance: '†result#1.text' }, { instances: true })
  }),
  way('an argument of the engine: a path for output', (scene) => {
    source(scene)
    ours(scene, 'echo', (input) => input)
    scene.call('echo', { value: 1, _outputPath: '<|†result#1.text|>' })
    scene.call('echo', { value: 1, _outputPath: '†result#1.text' })
  }),
  way('an argument of the engine: a method of output', (scene) => {
    source(scene)
    ours(scene, 'echo', (input) => input)
    scene.call('echo', { value: 1, _outputPath: '†state', _outputMethod: '†result#1.text' })
  }),
  way('an argument of the engine: a key', (scene) => {
    source(scene)
    act(scene, { value: { '†result#1.text': 1, '<|†result#1.text|>': 1 } })
  }),
  way('an argument of the engine: a name of a tool', (scene) => {
    source(scene)
    scene.call('†result#1.text', {})
    scene.call('<|†result#1.text|>', {})
  }),
  way('an argument of the engine: a list within a text', (scene) => {
    source(scene)
    ours(scene, 'echo', (input) => input)
    scene.call('echo', { _each: '<|†result#1.text|>', value: '†item' })
  }),
  engine('a list of lists', { _each: ['†result#1.rows'], value: '†item[0].from' }),
  engine('a list of one list', { _each: '†result#1.rows[0]', value: 'ours' }),
  way('a name of a file that the model saves', (scene) => {
    source(scene)
    scene.natives.add('save_asset')
    scene.call('save_asset', { text: '†result#1.text', name: '†result#1.text' })
    scene.call('save_asset', { ref: '†result#2.ref' })
  }),
  way('a pattern that is searched for', async (scene) => {
    const ref = await asset(scene, ['ours'])
    source(scene)
    scene.set({ reading: true })
    scene.call('search_asset', { ref, query: '(<|†result#1.text|>', regex: true })
    scene.call('fetch_asset', { ref, format: '†result#1.text' })
    scene.call('fetch_asset', { ref: `${ref}/content/<|†result#1.text|>` })
  }),
  way('words of an approval rule that fails', (scene) => {
    source(scene)
    const needsApproval = (input: unknown): never => {
      throw new Error(JSON.stringify(input))
    }
    act(scene, { value: '†result#1' }, { needsApproval, ...OPEN, guarded: () => 'ours' })
  }),
  way('words of a policy that refuses', (scene) => {
    source(scene)
    const before = ({ items }: { items: readonly { arguments: unknown }[] }) => {
      return { decision: 'deny', reason: JSON.stringify(items[0]?.arguments) }
    }
    const checks = ({ id }: Tool): boolean => id === 'echo'
    scene.set({ policies: [{ checks, before }] as never })
    ours(scene, 'echo', (input) => input)
    scene.call('echo', { value: '†result#1' })
  }),
  way('words of a policy that changes an outcome', (scene) => {
    scene.set({
      policies: [
        {
          after: (_: unknown, { value }: { value: unknown }) => ({
            events: [],
            value: { again: value },
          }),
        },
      ] as never,
    })
    source(scene)
    act(scene, { value: '†result#1.again.text' })
  }),
]

/** Single attacks on an agent. */
export const AGENT_WAYS: readonly Way[] = [
  ...[...POINTERS, ...NESTED, ...SUBAGENTS, ...MAPPED, ...SHOWN, ...ERRORS, ...LATE, ...CLOSED],
  ...ENGINE,
]
