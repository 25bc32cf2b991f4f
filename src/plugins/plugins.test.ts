import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { prompts, say } from '../agent/fixtures/agent.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import type { MessageInput } from '../core/messages/to-message.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { loadPlugin, type PluginHandler } from './load-plugin.ts'

const YAML = `
info:
  name: charts
  title: Charts of tables
  description: Draws and counts
commands:
  - command_name: draw
    description: Draws a chart of rows
    parameter:
      type: object
      description: What to draw
      rows:
        type: array
        description: The rows
        asset_ref_acceptable: true
      kind:
        type: str
        enum: [bar, line]
        required: false
        example: bar
      required:
        type: string
        required: false
    response:
      description: the number of bars
  - command_name: store
    description: Keeps what it is given
    parameter:
      asset_ref_acceptable: true
      name: { type: string }
      rows: { type: array }
  - command_name: say
    description: Says a text
    parameter: { type: string, description: The text }
  - command_name: ping
    description: Answers
`

const HANDLERS: Record<string, PluginHandler> = {
  draw: (param) => ({ bars: (param as { rows: unknown[] }).rows.length }),
  store: (param) => param,
  say: (text) => `said ${text}`,
  ping: () => {
    throw new Error('nobody there')
  },
}
const charts = () => loadPlugin(YAML, HANDLERS)

const command = (
  name: string,
  param?: unknown,
  more: Partial<MessageInput> = {},
): MessageInput => ({
  receiver: { role: 'plugin', name: 'charts' },
  content_type: 'command',
  content: { command: name, ...(param === undefined ? {} : { param }) },
  ...more,
})

/** The replies in a list of messages. */
const replies = (messages: readonly Message[]) =>
  messages.filter(({ message_type }) => message_type === 'command-response')
const contents = (messages: readonly Message[]) => replies(messages).map(({ content }) => content)

describe('loadPlugin', () => {
  it('makes tools from commands, with flags on fields and on the whole parameter', async () => {
    const { name, title, description, commands } = await charts()
    expect([name, title, description]).toEqual(['charts', 'Charts of tables', 'Draws and counts'])
    const tools = [...commands.values()].map(({ tool }) => tool)
    expect(tools.map(({ id }) => id)).toEqual([
      'charts_draw',
      'charts_store',
      'charts_say',
      'charts_ping',
    ])
    expect(tools[0]?.description).toBe('Draws a chart of rows\nReturns: the number of bars')
    expect(tools[0]?.inputSchema).toEqual({
      type: 'object',
      description: 'What to draw',
      properties: {
        rows: { type: 'array', description: 'The rows', asset_ref_acceptable: true },
        kind: { type: 'string', enum: ['bar', 'line'], examples: ['bar'] },
        required: { type: 'string' },
      },
      required: ['rows'],
      additionalProperties: false,
    })
    expect(tools[1]?.inputSchema).toMatchObject({
      properties: { name: {}, rows: {}, _param: { type: 'object', asset_ref_acceptable: true } },
    })
    expect(tools[1]?.inputSchema).not.toHaveProperty('required')
    expect(tools[2]?.inputSchema).toMatchObject({
      properties: { _param: { type: 'string', description: 'The text' } },
      required: ['_param'],
    })
  })

  it.each([
    ['info: {', /cannot be read.*line 1/s],
    ['[]', /must have info and commands/],
    ['info: {}\ncommands: [{}]', /line 1, column 7: info.title must be text/],
    ['info: { title: x }\ncommands: []', /line 2, column 11: commands must be a list/],
    ['info: { title: x }\nother: 1\ncommands: [1]', /line 2, column 8: other is unknown/],
    [
      'info: { title: x }\ncommands:\n  - command_name: a\n    description: b\n    paramter: {}',
      /line 5, column 15: commands\[0\].paramter is unknown/,
    ],
    [
      'info: { title: x }\ncommands:\n  - command_name: a\n    description: b\n    parameter:\n      n: { type: nummer }',
      /line 6, column 18: commands\[0\].parameter.n.type is unknown: "nummer". Did you mean "number"\?/,
    ],
    [
      'info: { title: x }\ncommands:\n  - { command_name: a, description: b }\n  - { command_name: a, description: b }',
      /line 4.*commands\[1\].command_name is "a" a second time/,
    ],
    [
      'info: { title: x }\ncommands:\n  - command_name: a\n    description: b\n    parameter: { type: string, n: {} }',
      /parameter.type must be object/,
    ],
    [
      'info: { title: x }\ncommands:\n  - command_name: a\n    description: b\n    parameter:\n      n: { type: str, asset_ref_aceptable: true }',
      /parameter.n.asset_ref_aceptable is unknown.*Did you mean "asset_ref_acceptable"\?/,
    ],
    [
      'info: { title: x }\ncommands:\n  - command_name: a\n    description: b\n    parameter: { asset_ref_aceptable: true }',
      /parameter.asset_ref_aceptable is unknown.*Did you mean "asset_ref_acceptable"\?/,
    ],
    [
      'info: { title: x }\nartefact_id: y\ncommands: [1]',
      /line 2, column 14: artefact_id is unknown.*Did you mean "artifact_id"\?/,
    ],
    [
      'info: { title: x }\ncommands:\n  - command_name: a\n    description: b\n    parameter: { type: { n: { type: "List[int" } } }',
      /parameter.type.n.type misses a "\]": "List\[int"/,
    ],
    [
      'info: { title: x }\ncommands:\n  - command_name: a\n    description: b\n    parameter: { type: { n: { type: int } }, m: {} }',
      /parameter.m must be under "type"/,
    ],
    [
      'info: { title: x }\ncommands:\n  - command_name: a\n    description: b\n    parameters: [{ name: n, type: int }, { name: n, type: str }]',
      /line 5.*commands\[0\].parameters\[1\] is "n" a second time/,
    ],
  ])('reports where %j is wrong', async (yaml, message) => {
    const load = loadPlugin(yaml, { a: () => null })
    await expect(load).rejects.toThrow(message)
    await expect(load).rejects.toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })

  it('names commands that have the same name for models', async () => {
    const yaml = `
info: { title: 图表 }
commands:
  - { command_name: 查询, description: Finds }
  - { command_name: 删除, description: Deletes }`
    const load = loadPlugin(yaml, { 查询: () => 1, 删除: () => 2 })
    await expect(load).rejects.toThrow(
      'The commands "查询" and "删除" are both the tool "___" for models. Give one of them a command_name with letters of A to Z, digits, "_" or "-".',
    )
  })

  it('accepts the configuration of a ConCopilot component', async () => {
    const yaml = `
group_id: org.example
artifact_id: scissors
version: 0.1.0
type: plugin
as_plugin: true
info:
  title: Scissors
  description: For people
  description_for_model: Cuts pieces out of a picture
  description_for_human: Cuts
commands:
  - command_name: cut
    description: Cuts
    parameter:
      type:
        picture:
          type: Union[numpy.ndarray, PIL.Image.Image]
          description: What is cut
          asset_ref_acceptable: true
        corners: { type: "List[List[int]]", enum: null, example: [[0, 1]] }
        where: { type: any, required: false }
        weights: { type: "Dict[str, float]", required: false }
        label: { type: [str, int], required: false }
        size:
          type:
            _type_ref: size
            width: { type: int, description: In pixels }
            unit: { type: "Optional[str]", required: false }
          required: false
        most: { type: size, required: false }
        pieces:
          type:
            - { name: kind, type: string }
            - { name: depth, type: "int | List[int]", required: false }
          required: false
      description: How to cut
      asset_ref_acceptable: true
    response:
      type:
        pieces: { type: "List[numpy.ndarray]", optional: false }
  - command_name: sharpen
    description: Sharpens
    parameters:
      - { name: path, type: string, description: Of the file }
setup: { pip: [numpy], package: scissors }
url: https://example.org
developers: [{ name: Ann }]
licenses: [{ name: MIT }]
config: { name: shears, most: 8 }
`
    const { name, title, description, commands } = await loadPlugin(yaml, {
      cut: (param) => param,
      sharpen: (param) => param,
    })
    expect([name, title, description]).toEqual([
      ...['shears', 'Scissors', 'Cuts pieces out of a picture'],
    ])
    const size = {
      type: 'object',
      properties: {
        width: { type: 'integer', description: 'In pixels' },
        unit: { type: ['string', 'null'] },
      },
      required: ['width'],
      additionalProperties: false,
    }
    expect(commands.get('cut')?.tool.inputSchema).toMatchObject({
      type: 'object',
      description: 'How to cut',
      properties: {
        picture: { description: 'What is cut', asset_ref_acceptable: true },
        corners: {
          type: 'array',
          items: { type: 'array', items: { type: 'integer' } },
          examples: [[[0, 1]]],
        },
        where: {},
        weights: { type: 'object', additionalProperties: { type: 'number' } },
        label: { type: ['string', 'integer'] },
        size,
        most: size,
        pieces: {
          type: 'array',
          items: {
            properties: {
              kind: { type: 'string' },
              depth: {
                anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }],
              },
            },
            required: ['kind'],
          },
        },
        _param: { asset_ref_acceptable: true },
      },
      additionalProperties: false,
    })
    expect(commands.get('cut')?.tool.inputSchema).not.toHaveProperty('properties.picture.type')
    expect(commands.get('sharpen')?.tool.inputSchema).toEqual({
      type: 'object',
      properties: { path: { type: 'string', description: 'Of the file' } },
      required: ['path'],
      additionalProperties: false,
    })
  })

  it('accepts a field with the name "type"', async () => {
    const yaml = `
info: { title: x }
commands:
  - command_name: a
    description: b
    parameter: { type: { type: string, description: Its kind }, n: { type: int } }
`
    const { commands } = await loadPlugin(yaml, { a: () => null })
    expect(commands.get('a')?.tool.inputSchema).toMatchObject({
      properties: { type: { type: 'string' }, n: { type: 'integer' } },
    })
  })

  it('requires a handler for each command, and a command for each handler', async () => {
    await expect(loadPlugin(YAML, {})).rejects.toThrow('The command "draw" has no handler')
    const dancing = loadPlugin(YAML, { ...HANDLERS, dance: () => 1 })
    await expect(dancing).rejects.toThrow('Unknown command "dance"')
    const plugin = await charts()
    const twice = () => createAgent({ model: scriptedModel([]), plugins: [plugin, plugin] })
    expect(twice).toThrow('Two plugins have the name "charts"')
  })
})

describe('a plugin that the model uses', () => {
  it('receives the values of references, for a field and for the whole parameter', async () => {
    const model = scriptedModel([
      {
        calls: [
          { name: 'charts_draw', arguments: { rows: 'asset://t/content/rows', kind: 'bar' } },
          { name: 'charts_store', arguments: { _param: 'asset://t/content' } },
          { name: 'charts_store', arguments: { name: 'x' } },
          { name: 'charts_say', arguments: { _param: 'hi' } },
        ],
      },
      'Done.',
    ])
    const agent = createAgent({ model, plugins: [await charts()] })
    const content = { name: 'cars', rows: [{ n: 1 }, { n: 2 }] }
    await agent.assets.saveAsset({ asset_id: 't', content_type: 'application/json', content })
    const run = agent.run({ messages: say('draw') })
    await run.result
    const results = run.messages.flatMap(({ metadata, content: value }) =>
      metadata.tool_result ? [metadata.tool_result.error?.code ?? value] : [],
    )
    expect(results).toEqual([{ bars: 2 }, content, 'invalid_arguments', 'said hi'])
  })
})

describe('a command message', () => {
  it('runs without a model, and is answered in the format of the reference', async () => {
    const model = scriptedModel([])
    const agent = createAgent({ model, plugins: [await charts()] })
    const content = { rows: [1, 2, 3], name: 'x' }
    await agent.assets.saveAsset({ asset_id: 't', content_type: 'application/json', content })
    const run = agent.run({
      conversation: 'c',
      messages: [
        { type: 'state', state: { rows: [1] } },
        command('draw', { rows: { asset_id: 't', field_path: ['content', 'rows'] } }),
        command('draw', { rows: '†state.rows' }, { name: 'Ann' }),
        command('store', { asset_id: 't', field_path: ['content'] }),
        command('say', 'hi'),
      ],
    })
    // The model needs the state, so it is called in the same run.
    await expect(run.result).rejects.toMatchObject({ code: 'model_failed' })
    const only = agent.run({ conversation: 'd', messages: [command('say', 'hi')] })
    expect(await only.result).toMatchObject({ reason: 'done', text: '' })
    expect(replies(only.messages)).toMatchObject([
      {
        sender: { participant_role: 'plugin', name: 'charts' },
        receiver: { participant_role: 'user' },
        message_type: 'command-response',
        content_type: 'command',
      },
    ])
    expect(contents(only.messages)).toEqual([{ command: 'say', response: 'said hi' }])
    expect(contents(run.messages)).toEqual([
      { command: 'draw', response: { bars: 3 } },
      { command: 'draw', response: { bars: 1 } },
      { command: 'store', response: content },
      { command: 'say', response: 'said hi' },
    ])
    expect(replies(run.messages)[1]?.receiver).toMatchObject({ name: 'Ann' })
    expect(model.requests).toHaveLength(1)
  })

  it('is answered with the error', async () => {
    const agent = createAgent({ model: scriptedModel([]), plugins: [await charts()] })
    const messages = [
      command('ping'),
      command('dance'),
      command('draw', { rows: 'asset://none' }),
      command('draw', { rows: [], size: 1 }),
      command('say'),
      { ...command('say', 'x'), receiver: { role: 'plugin', name: 'other' } } as MessageInput,
      { ...command('say', 'x'), receiver: { role: 'plugin', name: 'Charts of tables' } },
    ] as MessageInput[]
    const run = agent.run({ messages })
    await run.result
    const codes = contents(run.messages).map((content) => {
      const { response } = content as { response: { error?: { code: string } } }
      return response.error?.code ?? response
    })
    expect(codes).toEqual([
      'tool_failed',
      'tool_not_found',
      'asset_not_found',
      'invalid_arguments',
      'invalid_arguments',
      'tool_not_found',
      'said x',
    ])
  })

  it('is shown to the model later, with its reply', async () => {
    const model = scriptedModel(['I see.'])
    const agent = createAgent({ model, plugins: [await charts()] })
    const run = agent.run({ messages: [command('say', 'hi'), ...say('What did it say?')] })
    expect((await run.result).text).toBe('I see.')
    expect(prompts(model)[0]).toContain('said hi')
    expect(run.messages.map(({ message_type }) => message_type)).toEqual([
      'command',
      'chat',
      'note',
      'command-response',
      'chat',
    ])
  })

  it('records its call, so that the result is joined to it', async () => {
    const agent = createAgent({ model: scriptedModel([]), plugins: [await charts()] })
    const run = agent.run({ messages: [command('say', 'hi', { id: 'm' })] })
    await run.result
    const call = { id: 'command_m', name: 'charts_say', arguments: { _param: 'hi' } }
    expect(run.messages[0]?.metadata.tool_calls).toEqual([call])
    expect(run.messages[1]?.metadata.tool_result?.tool_call_id).toBe('command_m')
  })

  it('waits for a person if its handler requires it', async () => {
    const asked: unknown[] = []
    const needsApproval = (param: unknown) => asked.push(param) > 0
    const plugin = await loadPlugin(YAML, {
      ...HANDLERS,
      store: { execute: (p) => p, needsApproval },
    })
    const agent = createAgent({ model: scriptedModel([]), plugins: [plugin] })
    const run = agent.run({
      conversation: 'c',
      messages: [command('store', { name: 'x', rows: [] }, { id: 'm' })],
    })
    for await (const event of run) {
      if (event.type !== 'APPROVAL_REQUESTED') continue
      await agent.approve('c', 'command_m', { approved: false, reason: 'no' })
    }
    expect(asked).toEqual([{ name: 'x', rows: [] }])
    expect(contents(run.messages)).toMatchObject([
      { response: { error: { code: 'approval_denied' } } },
    ])
  })

  it('during a run waits for a run of its own, even if it was sent to steer', async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>()
    const plugin = await loadPlugin(YAML, { ...HANDLERS, say: (text) => open.then(() => text) })
    const agent = createAgent({ model: scriptedModel([]), plugins: [plugin] })
    const first = agent.run({ conversation: 'c', messages: [command('say', 'one')] })
    for await (const { type } of first) if (type === 'TOOL_STARTED') break
    await agent.send('c', command('say', 'two'), { mode: 'steer' })
    resolve()
    await first.result
    await agent.resume('c').result
    expect(contents(first.messages)).toEqual([
      { command: 'say', response: 'one' },
      { command: 'say', response: 'two' },
    ])
  })

  it('during a run gets a run of its own, even with ifBusy: steer', async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>()
    const plugin = await loadPlugin(YAML, { ...HANDLERS, say: (text) => open.then(() => text) })
    const agent = createAgent({ model: scriptedModel([]), plugins: [plugin] })
    const first = agent.run({ conversation: 'c', messages: [command('say', 'one')] })
    for await (const { type } of first) if (type === 'TOOL_STARTED') break
    const messages = [command('say', 'two')]
    const second = await agent.start({ conversation: 'c', messages, ifBusy: 'steer' })
    resolve()
    await first.result
    expect(second.id).not.toBe(first.id)
    await second.result
    expect(contents(second.messages)).toHaveLength(2)
  })

  it('survives a crash at any point: it is answered once, and repeated only if it is idempotent', async () => {
    for (const idempotent of [true, false]) {
      let done = 0
      const execute = (text: unknown) => `${text} ${++done}`
      const plugin = await loadPlugin(YAML, { ...HANDLERS, say: { execute, idempotent } })
      const log = createMemoryLog()
      const options = { model: scriptedModel([]), plugins: [plugin] }
      const run = createAgent({ ...options, log }).run({
        conversation: 'c',
        messages: [command('say', 'a'), command('say', 'b')],
      })
      await run.result
      const records = await log.read('c', { limit: 1000 })
      for (let end = 1; end <= records.length; end++) {
        const before = records.slice(0, end).map(({ event }) => event)
        // Appends are atomic: the start of the run with its calls, and the replies with its end.
        const has = (type: string): boolean => before.some((event) => event.type === type)
        const replied = contents(messagesIn(before)).length > 0
        if (!has('STEP_FINISHED') || (replied && !has('RUN_FINISHED'))) continue
        const other = createMemoryLog()
        await other.append('c', before)
        const begun = before.filter(({ type }) => type === 'TOOL_STARTED').length
        const ended = before.filter(
          (event) => event.type === 'NEW_MESSAGE' && event.payload.metadata.tool_result,
        ).length
        done = 0
        const resumed = createAgent({ ...options, log: other }).resume('c')
        await resumed.result
        const after = await other.read('c', { limit: 1000 })
        expect(contents(messagesIn(after.map(({ event }) => event)))).toHaveLength(2)
        const redone = idempotent ? 2 - ended : 2 - begun
        expect(done).toBe(redone)
      }
    }
  })

  it('is answered even if its run is cancelled', async () => {
    const plugin = await loadPlugin(YAML, { ...HANDLERS, say: () => new Promise(() => {}) })
    const agent = createAgent({ model: scriptedModel([]), plugins: [plugin] })
    const run = agent.run({ conversation: 'c', messages: [command('say', 'x')] })
    for await (const { type } of run) if (type === 'TOOL_STARTED') run.cancel()
    expect((await run.result).reason).toBe('cancelled')
    expect(contents(run.messages)).toMatchObject([{ response: { error: { code: 'interrupted' } } }])
  })
})

function messagesIn(events: readonly ConversationEvent[]): Message[] {
  return events.flatMap((event) => (event.type === 'NEW_MESSAGE' ? [event.payload] : []))
}
