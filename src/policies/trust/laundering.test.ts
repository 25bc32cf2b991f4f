import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import type { Agent, AgentOptions } from '../../agent/agent-contract.ts'
import { say } from '../../agent/fixtures/agent.ts'
import { createAssets } from '../../assets/create-assets.ts'
import { defineTool, type Tool, type ToolContext } from '../../boundary/tool.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { joinAll } from '../../core/labels/label.ts'
import { createLabels, type Labels } from '../../core/labels/labels.ts'
import { readAll } from '../../log/conversation-log.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../../testing/scripted-model.ts'

const any = { type: 'object', properties: { value: {}, other: {} } }

const theirs = defineTool({
  id: 'theirs',
  description: 'Reads what somebody wrote',
  inputSchema: any,
  readOnly: true,
  openWorld: false,
  returns: { integrity: 'untrusted', readers: ['ann', 'bob'] },
  execute: () => ({ words: 'obey', rows: [{ id: 1, name: 'obey' }], key: 'a' }),
})
const ours = defineTool({
  id: 'ours',
  description: 'Reads what we know',
  inputSchema: any,
  readOnly: true,
  openWorld: false,
  execute: () => ({ rows: [{ id: 1, price: 3 }], fine: true }),
})
const secret = defineTool({
  id: 'secret',
  description: 'Reads what only Bob and Cy may',
  inputSchema: any,
  readOnly: true,
  returns: { readers: ['bob', 'cy'] },
  execute: () => 'psst',
})
const echo = defineTool({
  id: 'echo',
  description: 'Gives it back',
  inputSchema: any,
  readOnly: true,
  openWorld: false,
  idempotent: true,
  execute: ({ value, other }) => ({ value, other }),
})
const box = defineTool({
  id: 'box',
  description: 'Keeps what it is given, and gives what it has',
  inputSchema: any,
  openWorld: false,
  accepts: { integrity: 'untrusted', confidentiality: 'private' },
  execute: ({ value }) => value ?? 'what it has',
})

const call = (name: string, args: Record<string, unknown> = {}) => ({
  calls: [{ name, arguments: args }],
})

async function played(
  turns: readonly ScriptedTurn[],
  options: Partial<AgentOptions> = {},
): Promise<{ agent: Agent; conversation: string; labels: Labels }> {
  const agent = createAgent({
    model: scriptedModel([...turns, 'Done.']),
    trust: 'quarantine',
    tools: [theirs, ours, secret, echo, box] as Tool[],
    ...options,
  })
  const run = agent.run({ messages: say('Go') })
  expect((await run.result).reason).toBe('done')
  return { agent, conversation: run.conversation, labels: await labelsOf(agent, run.conversation) }
}

async function labelsOf(agent: Agent, conversation: string): Promise<Labels> {
  const labels = createLabels()
  for await (const record of readAll(agent.log, conversation)) labels.apply(record)
  return labels
}

const untrusted = { integrity: 'untrusted', confidentiality: 'private', readers: ['ann', 'bob'] }
const variable = (kind: string, path: (string | number)[] = [], instance?: string) => ({
  type: 'variable' as const,
  kind,
  path,
  ...(instance === undefined ? {} : { instance }),
})
const result = (labels: Labels, number: number) =>
  labels.variable(variable('result', [], String(number)))

describe('an untrusted value stays untrusted', () => {
  it('after a tool returns it, in a text, a list or by a second name', async () => {
    const { labels } = await played([
      call('theirs', { _outputPath: '†state.mail' }),
      call('echo', { value: ['see <|†state.mail.words|>'] }),
      call('echo', { value: '†result#2.value[0]', other: '†nothing || †state.mail.key' }),
      call('ours'),
    ])
    expect(result(labels, 2)).toMatchObject(untrusted)
    expect(result(labels, 3)).toMatchObject(untrusted)
    expect(result(labels, 3).sources).toEqual(result(labels, 1).sources)
    expect(result(labels, 4)).toMatchObject({ integrity: 'trusted', confidentiality: 'public' })
  })

  it('after a mapped call over it, or over trusted values with it', async () => {
    const { labels } = await played([
      call('theirs'),
      call('echo', { _each: '†result#1.rows', value: '†item.name' }),
      call('echo', { _each: ['a', 'b'], value: '†result#1.words', other: '†item' }),
      call('echo', { _each: ['a', 'b'], value: '†item' }),
    ])
    expect(result(labels, 2)).toMatchObject(untrusted)
    expect(result(labels, 3)).toMatchObject(untrusted)
    expect(result(labels, 4)).toMatchObject({ integrity: 'trusted' })
  })

  it('after it is written beside trusted data, in any way', async () => {
    const into = (method: string, path: string) => [
      call('ours', { _outputPath: path }),
      call('theirs', { _outputPath: path, _outputMethod: method }),
    ]
    for (const method of ['merge', 'assign']) {
      const { labels } = await played(into(method, '†state.all'))
      expect(labels.variable(variable('state', ['all', 'fine']))).toMatchObject(untrusted)
    }
    const { labels } = await played([
      call('echo', { value: ['x'], _outputPath: '†list' }),
      call('theirs', { _outputPath: '†list.value', _outputMethod: 'push' }),
      call('theirs', { _outputPath: '†state.a.b' }),
      call('ours', { _outputPath: '†state.a.c' }),
    ])
    expect(labels.variable(variable('list', ['value', 0]))).toMatchObject(untrusted)
    expect(labels.variable(variable('list', ['other']))).toMatchObject({ integrity: 'trusted' })
    expect(labels.variable(variable('state', ['a', 'c']))).toMatchObject({ integrity: 'trusted' })
    expect(labels.variable(variable('state', ['a']))).toMatchObject(untrusted)
  })

  it('after trusted data overwrites a part of it', async () => {
    for (const method of ['merge', 'assign', 'push', 'concat']) {
      const { labels } = await played([
        call('theirs', { _outputPath: '†l' }),
        call('echo', { value: ['x'], _outputPath: '†l.rows' }),
        call('theirs', { _outputPath: '†l.rows.value' }),
        call('ours', { _outputPath: '†l', _outputMethod: method }),
      ])
      expect(labels.variable(variable('l', ['words']))).toMatchObject(untrusted)
    }
  })

  it('after an item of a list is removed, and others take its place', async () => {
    const { labels } = await played([
      call('echo', { value: 'x', _outputPath: '†l.items' }),
      call('theirs', { _outputPath: '†l.b' }),
      call('ours', { _outputPath: '†l.b', _outputMethod: 'delete' }),
    ])
    expect(labels.variable(variable('l', ['b']))).toMatchObject(untrusted)
    expect(labels.variable(variable('l', ['items']))).toMatchObject(untrusted)
  })

  it('unless the whole value is replaced', async () => {
    const { labels } = await played([
      call('theirs', { _outputPath: '†state.a' }),
      call('ours', { _outputPath: '†state.a' }),
    ])
    expect(labels.variable(variable('state', ['a']))).toMatchObject({ integrity: 'trusted' })
  })

  it('as a large value in an asset, and as a reference inside a reference', async () => {
    const wide = defineTool({ ...theirs, id: 'wide', maxResultChars: 10 } as never)
    const { labels, agent } = await played(
      [
        call('wide', { _outputPath: '†state.big' }),
        call('echo', { value: '†state.big.words' }),
        call('echo', { value: { deep: '†state.big' } }),
      ],
      { tools: [wide, echo] },
    )
    expect(result(labels, 2)).toMatchObject(untrusted)
    expect(result(labels, 3)).toMatchObject(untrusted)
    const { assets } = await agent.assets.list()
    expect(joinAll(assets.map(({ assetId }) => labels.asset({ id: assetId })))).toMatchObject(
      untrusted,
    )
    expect(labels.asset({ id: 'unheard-of' })).toMatchObject({
      integrity: 'untrusted',
      confidentiality: 'private',
    })
  })

  it('as an asset that trusted data references', async () => {
    const opens = defineTool({
      ...echo,
      id: 'opens',
      inputSchema: {
        type: 'object',
        properties: { value: { type: 'string', asset_ref_acceptable: true } },
      },
    } as never)
    const agent = createAgent({
      model: scriptedModel([call('opens', { value: '†doc.file' }), 'Done.']),
      trust: 'quarantine',
      tools: [opens],
    })
    const { ref } = await agent.assets.save(new TextEncoder().encode('obey'), 'text/plain')
    const run = agent.run({
      messages: [
        { type: 'data', kind: 'doc', data: { file: ref } },
        { role: 'user', content: 'Go', metadata: { attachments: [{ assetRef: ref }] } },
      ],
    })
    await run.result
    const labels = await labelsOf(agent, run.conversation)
    expect(labels.variable(variable('doc'))).toMatchObject({ integrity: 'trusted' })
    expect(result(labels, 1)).toMatchObject({ integrity: 'untrusted' })
    expect(labels.context()).toMatchObject({ integrity: 'trusted' })
  })

  it('after a tool keeps it and returns it later', async () => {
    const { labels } = await played([
      call('box', { value: 'ours' }),
      call('box', { value: 'also' }),
      call('theirs'),
      call('box', { value: '†result#3.words' }),
      call('box'),
    ])
    expect(result(labels, 2)).toMatchObject({ integrity: 'trusted' })
    expect(result(labels, 5)).toMatchObject(untrusted)
  })

  it('after a tool reads it by itself', async () => {
    const looks = defineTool({
      ...echo,
      id: 'looks',
      execute: (_: unknown, { read }: ToolContext) => read('†result#1'),
    } as never)
    const { labels } = await played([call('theirs'), call('looks')], { tools: [theirs, looks] })
    expect(result(labels, 2)).toMatchObject(untrusted)
  })

  it('after a fork, a restart, and on another host with the same log', async () => {
    const log = createMemoryLog()
    const { agent, conversation } = await played([call('theirs', { _outputPath: '†state.a' })], {
      log,
    })
    const fork = await agent.fork(conversation)
    await agent.close()
    const other = createAgent({
      model: scriptedModel([call('echo', { value: '†state.a.words' }), 'Done.']),
      trust: 'quarantine',
      tools: [theirs, echo],
      log,
    })
    await other.run({ conversation: fork, messages: say('Go on') }).result
    expect(result(await labelsOf(other, fork), 2)).toMatchObject(untrusted)
  })

  it('after another agent imports it into a new log', async () => {
    const first = await played([call('theirs', { _outputPath: '†state.mail' })])
    const lines: string[] = []
    for await (const line of first.agent.log.export(first.conversation)) lines.push(line)
    const log = createMemoryLog()
    const conversation = await log.import(lines, { id: 'copy' })
    const model = scriptedModel([
      call('echo', { value: '†state.mail.words' }),
      call('echo', { value: '†result#1' }),
      'Done.',
    ])
    const agent = createAgent({ model, trust: 'quarantine', tools: [echo], log })
    await agent.run({ conversation, messages: say('Go on') }).result
    const labels = await labelsOf(agent, conversation)
    for (const number of [1, 2, 3]) expect(result(labels, number)).toMatchObject(untrusted)
    expect(JSON.stringify(model.requests.map(({ prompt }) => prompt))).not.toContain('obey')
  })

  it('in a join of an untrusted table with a trusted one', async () => {
    const assets = createAssets()
    const bytes = (csv: string) => new TextEncoder().encode(csv)
    const mine = await assets.importFile(bytes('id,price\n1,3\n'), { name: 'ours.csv' })
    const outside = assets.scoped({ label: () => ({ integrity: 'untrusted' }) })
    const other = await outside.importFile(bytes('id,name\n1,obey\n'), { name: 'theirs.csv' })
    const [ours, theirs] = [mine.table?.ref ?? '', other.table?.ref ?? '']
    const query = (sql: string) => call('query_tables', { sql })
    const agent = createAgent({
      model: scriptedModel([
        query(`SELECT price FROM "${ours}"`),
        query(`SELECT price FROM "${ours}" JOIN "${theirs}" USING (id)`),
        call('echo', { value: '†result#2' }),
        'Done.',
      ]),
      trust: { mode: 'quarantine', attachments: 'trusted' },
      tools: ['query_tables', echo],
      assets,
    })
    const attachments = [{ assetRef: ours }, { assetRef: theirs }]
    const run = agent.run({
      messages: [{ role: 'user', content: 'Join', metadata: { attachments } }],
    })
    await run.result
    const labels = await labelsOf(agent, run.conversation)
    expect(result(labels, 1).integrity).toBe('trusted')
    expect(result(labels, 2).integrity).toBe('untrusted')
    expect(result(labels, 3).integrity).toBe('untrusted')
  })

  it('in a query over a result', async () => {
    const rows = (id: string, integrity: 'trusted' | 'untrusted') =>
      defineTool({
        id,
        description: id,
        inputSchema: { type: 'object' },
        readOnly: true,
        returns: { integrity },
        execute: () => [{ word: integrity }],
      })
    const query = (sql: string) => call('query_tables', { sql })
    const agent = createAgent({
      model: scriptedModel([
        call('mine'),
        call('others'),
        query('SELECT 1 AS n FROM "†result#1"'),
        query('SELECT 1 AS n FROM "†result#2"'),
        'Done.',
      ]),
      trust: 'quarantine',
      tools: ['query_tables', rows('mine', 'trusted'), rows('others', 'untrusted')],
    })
    const run = agent.run({ messages: say('Count') })
    await run.result
    const labels = await labelsOf(agent, run.conversation)
    expect(result(labels, 3).integrity).toBe('trusted')
    expect(result(labels, 4).integrity).toBe('untrusted')
  })

  it('in a summary, when the prompt has become too long', async () => {
    const model = scriptedModel([
      call('theirs'),
      ...['Read.', 'Fine.', 'Fine.', 'Fine.'],
      call('ours'),
      'Done.',
    ])
    const history = { maxTokens: 600, summarize: () => 'All is well.' }
    const agent = createAgent({ model, trust: 'track', tools: [theirs, ours], history })
    const conversation = 'long'
    for (const words of ['Read', 'and', 'go', 'on', 'then']) {
      await agent.run({ conversation, messages: say(words.padEnd(1000, ' x')) }).result
    }
    const last = JSON.stringify(model.requests.at(-1)?.prompt)
    expect(last).toContain('All is well.')
    expect(last).not.toContain('obey')
    const labels = await labelsOf(agent, conversation)
    expect(result(labels, 2)).toMatchObject(untrusted)
    expect(labels.context()).toMatchObject(untrusted)
  })

  it('after a deletion of what was written over it', async () => {
    const { agent, conversation } = await played([
      call('theirs', { _outputPath: '†state.a' }),
      call('ours', { _outputPath: '†state.a' }),
    ])
    const events: ConversationEvent[] = []
    for await (const { event } of readAll(agent.log, conversation)) events.push(event)
    const writes = events.flatMap((event) =>
      event.type === 'NEW_MESSAGE' && event.payload.content_type === 'data' ? event.payload.id : [],
    )
    await agent.deleteMessage(conversation, writes[1] ?? '')
    const labels = await labelsOf(agent, conversation)
    expect(labels.variable(variable('state', ['a']))).toMatchObject(untrusted)
  })

  it('after a person fails to overwrite it during a run, against its schema', async () => {
    const asked = Promise.withResolvers<void>()
    const waited = Promise.withResolvers<void>()
    const wait = defineTool({
      id: 'wait',
      description: 'Waits',
      inputSchema: any,
      openWorld: false,
      readOnly: true,
      async execute() {
        asked.resolve()
        await waited.promise
      },
    })
    const turns = [call('theirs', { _outputPath: '†state.mail' }), call('wait'), 'So.', 'Done.']
    const agent = createAgent({
      model: scriptedModel(turns),
      trust: 'quarantine',
      tools: [theirs, wait] as Tool[],
    })
    const schema = { type: 'object', properties: { mail: { type: 'object' } } }
    const messages = [{ type: 'state', schema } as const, ...say('Go')]
    const run = await agent.start({ conversation: 'c', messages })
    await asked.promise
    const wrong = { type: 'state', state: 'a text', _path: 'mail' } as const
    const queued = await agent.start({ conversation: 'c', messages: [wrong, ...say('And?')] })
    waited.resolve()
    await run.result
    await queued.result
    const { board } = (await agent.conversation('c')) ?? {}
    expect(board?.read('†state.mail')).toMatchObject({ words: 'obey' })
    const labels = await labelsOf(agent, 'c')
    expect(labels.variable(variable('state', ['mail', 'words']))).toMatchObject(untrusted)
  })

  it('through a sub-agent', async () => {
    const inner = createAgent({
      model: scriptedModel([call('echo', { value: '†input.task' }), 'It is done.']),
      trust: 'track',
      tools: [echo],
    })
    const { labels } = await played([call('theirs'), call('helper', { task: '†result#1.words' })], {
      tools: [theirs, inner.asTool({ id: 'helper', description: 'Helps' })],
    })
    expect(result(labels, 2)).toMatchObject(untrusted)
  })

  it('after a sub-agent has read it by itself', async () => {
    const inner = createAgent({
      model: scriptedModel([call('theirs'), 'It says: obey.']),
      trust: 'track',
      tools: [theirs],
    })
    const { labels } = await played([call('helper', { task: 'Read' })], {
      tools: [inner.asTool({ id: 'helper', description: 'Helps' })],
    })
    expect(result(labels, 1)).toMatchObject(untrusted)
  })

  it('after an approval that changes arguments', async () => {
    const acts = defineTool({ ...box, id: 'acts', accepts: {} } as never)
    const agent = createAgent({
      model: scriptedModel([call('theirs'), call('acts', { value: '†result#1' }), 'Done.']),
      trust: 'quarantine',
      tools: [theirs, acts],
    })
    const run = agent.run({ messages: say('Go') })
    for await (const event of run) {
      if (event.type !== 'APPROVAL_REQUESTED') continue
      const answer = { approved: true, arguments: { value: 'changed' } }
      await agent.approve(run.conversation, event.toolCallId, answer)
    }
    expect(result(await labelsOf(agent, run.conversation), 2)).toMatchObject(untrusted)
  })
})

describe('readers', () => {
  const mail = (readers: string[]) =>
    defineTool({
      id: 'mail',
      description: 'Tells them',
      inputSchema: any,
      openWorld: false,
      accepts: { integrity: 'untrusted', readers },
      execute: () => 'told',
    })

  async function told(readers: string[], value: string): Promise<boolean> {
    const { labels } = await played(
      [call('secret'), call('theirs'), call('mail', { value }), 'Done.'],
      { tools: [secret, theirs, mail(readers)], trust: { mode: 'track', onViolation: 'deny' } },
    )
    return labels.result(3) !== null && labels.retainedBy('mail').confidentiality === 'private'
  }

  it('are those who may read every part', async () => {
    expect(await told(['bob'], '†result#1')).toBe(true)
    expect(await told(['ann'], '†result#1')).toBe(false)
    expect(await told(['bob', 'cy'], 'both')).toBe(false)
  })

  it('decide who may answer a question about it', async () => {
    const acts = defineTool({ ...box, id: 'acts', accepts: {} } as never)
    const agent = createAgent({
      model: scriptedModel([call('secret'), call('acts', { value: '†result#1' }), 'Done.']),
      trust: 'quarantine',
      tools: [secret, acts],
    })
    const run = agent.run({ messages: say('Go') })
    for await (const event of run) {
      if (event.type !== 'APPROVAL_REQUESTED') continue
      const say = (by: string) =>
        agent.approve(run.conversation, event.toolCallId, { approved: true, by })
      await expect(say('ann')).rejects.toMatchObject({ code: 'forbidden' })
      await say('cy')
    }
    expect((await run.result).reason).toBe('done')
  })
})
