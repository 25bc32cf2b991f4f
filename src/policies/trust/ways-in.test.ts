import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import type { Agent, AgentOptions } from '../../agent/agent-contract.ts'
import { say } from '../../agent/fixtures/agent.ts'
import { createAssets } from '../../assets/create-assets.ts'
import { defineTool, type Tool } from '../../boundary/tool.ts'
import { createLabels, type Labels } from '../../core/labels/labels.ts'
import { readAll } from '../../log/conversation-log.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../../testing/scripted-model.ts'

// Each test covers a way in which untrusted text once became trusted, or was shown. `POISON` stands for the text.
const POISON = 'POISON-7f3a'
const any = { type: 'object', properties: { value: {}, other: {} } }
const assets = createAssets()

const mail = defineTool({
  id: 'read_mail',
  description: 'Reads the newest mail',
  inputSchema: any,
  readOnly: true,
  execute: () => ({ to: POISON, body: POISON, rows: [{ name: POISON }], file: asBytes() }),
})
const own = defineTool({
  id: 'own_data',
  description: 'Reads what we know',
  inputSchema: any,
  readOnly: true,
  openWorld: false,
  execute: ({ value }) => value ?? 'ours',
})

function asBytes() {
  return { mimeType: 'text/plain', data: Buffer.from(POISON).toString('base64') }
}

/** An acting tool, and its executions. */
function acting(more: Partial<Tool> & { inputSchema?: never } = {}, properties: object = {}) {
  const ran: unknown[] = []
  const tool = defineTool({
    id: 'act',
    description: 'Acts',
    inputSchema: { type: 'object', properties: { value: {}, ...properties } },
    mappable: true,
    openWorld: false,
    execute(input) {
      ran.push(input)
      return 'acted'
    },
    ...(more as object),
  }) as Tool
  return { tool, ran }
}

const call = (name: string, args: Record<string, unknown> = {}) => ({
  calls: [{ name, arguments: args }],
})

interface Played {
  agent: Agent
  conversation: string
  labels: Labels
  prompts: string
}

async function played(
  turns: readonly ScriptedTurn[],
  { messages = [], ...options }: Partial<AgentOptions> & { messages?: readonly object[] } = {},
): Promise<Played> {
  const model = scriptedModel([...turns, 'Done.'])
  const agent = createAgent({
    model,
    assets,
    trust: { mode: 'quarantine', onViolation: 'deny' },
    ...options,
  })
  const run = agent.run({ messages: [...messages, { content: 'Go' }] as never })
  await run.result
  const labels = createLabels()
  for await (const record of readAll(agent.log, run.conversation)) labels.apply(record)
  const prompts = JSON.stringify(model.requests.map(({ prompt }) => prompt))
  return { agent, conversation: run.conversation, labels, prompts }
}

const integrityOf = (labels: Labels, number: number) =>
  labels.variable({ type: 'variable', kind: 'result', path: [], instance: String(number) })
    .integrity

/** Saves poison as an asset, like a mail would. */
async function poisoned(content: unknown = [{ name: POISON }]) {
  const { ref } = await assets.saveAsset({ content_type: 'application/json', content })
  return ref
}

describe('trusted data that points to something untrusted', () => {
  const pointing = (data: object) => [{ type: 'data', kind: 'doc', data }]

  it('does not run an acting tool for each row', async () => {
    const ref = `${await poisoned()}/content`
    const { tool, ran } = acting()
    await played([call('act', { _each: '†doc.ref', value: '†item.name' })], {
      tools: [tool],
      messages: pointing({ ref }),
    })
    expect(ran).toEqual([])
  })

  it('does not reach an acting tool through a list that the model wrote', async () => {
    const { tool, ran } = acting()
    const own = { to: 'ann@example.com', note: '†result#1' }
    await played(
      [
        call('read_mail'),
        call('act', { _each: ['†result#1'], value: '†item' }),
        call('act', { _each: [{ to: '†result#1.to' }], value: '†item.to' }),
        call('act', { _each: [own], value: '†item.to' }),
      ],
      { tools: [mail, tool] as Tool[] },
    )
    expect(ran).toEqual([{ value: 'ann@example.com' }])
  })

  it('does not reach an acting tool through a tool that reads it', async () => {
    const { tool, ran } = acting()
    const { labels } = await played(
      [
        call('read_mail'),
        call('fetch_asset', { ref: '†result#1' }),
        call('act', { value: '†result#2.text' }),
        call('act', { value: '†result#2.assetRef' }),
      ],
      { tools: [mail, tool, 'fetch_asset'] as Tool[] },
    )
    expect(ran).toEqual([])
    expect(integrityOf(labels, 2)).toBe('untrusted')
  })

  it('does not choose how often an acting tool runs', async () => {
    const { tool, ran } = acting()
    const open = acting({ id: 'open', accepts: { integrity: 'untrusted' } } as never)
    const each = { _each: '†result#1.rows', value: 'ours' }
    await played([call('read_mail'), call('act', each), call('open', each)], {
      tools: [mail, tool, open.tool] as Tool[],
    })
    expect(ran).toEqual([])
    expect(open.ran).toEqual([{ value: 'ours' }])
  })

  it('is read with the label of the asset behind it', async () => {
    const assetRef = await poisoned({ name: POISON })
    const stand = { offloaded: true, assetRef, mimeType: 'application/json', kind: 'file', size: 9 }
    const { tool, ran } = acting()
    const { labels } = await played(
      [call('act', { value: '†doc.name' }), call('own_data', { value: '†doc.name' })],
      { tools: [tool, own] as Tool[], messages: pointing(stand) },
    )
    expect(ran).toEqual([])
    expect(integrityOf(labels, 2)).toBe('untrusted')
  })

  it('is read with that label when a text parameter takes a file as base64', async () => {
    const bytes = new TextEncoder().encode(`${POISON} \0`)
    const { ref: assetRef } = await assets.save(bytes, 'application/octet-stream')
    const file = { assetRef, mimeType: 'application/octet-stream', kind: 'file' }
    const { tool, ran } = acting({}, { text: { type: 'string' } })
    await played([call('act', { text: '†doc' })], { tools: [tool], messages: pointing(file) })
    expect(ran).toEqual([])
  })

  it('does not show the keys of the asset in an error', async () => {
    const assetRef = await poisoned({ [POISON]: 1 })
    const stand = { offloaded: true, assetRef, mimeType: 'application/json', kind: 'file', size: 9 }
    const { prompts } = await played([call('own_data', { value: '†doc.none' })], {
      tools: [own],
      messages: pointing(stand),
    })
    expect(prompts).not.toContain(POISON)
  })

  it('is not trusted when a tool that kept it returns it later', async () => {
    const ref = await poisoned({ name: POISON })
    let kept: unknown = null
    const keeper = defineTool({
      id: 'keeper',
      description: 'Keeps a value',
      inputSchema: { type: 'object', properties: { value: { asset_ref_acceptable: true } } },
      openWorld: false,
      accepts: { integrity: 'untrusted', confidentiality: 'private' },
      execute({ value }) {
        const before = kept
        kept = value ?? kept
        return before ?? 'empty'
      },
    })
    const { labels } = await played(
      [call('keeper', { value: '†doc.ref' }), call('own_data'), call('keeper')],
      { tools: [keeper, own] as Tool[], messages: pointing({ ref }) },
    )
    expect(integrityOf(labels, 3)).toBe('untrusted')
  })
})

describe('a parameter inside a value that is passed by reference', () => {
  const inner = {
    mail: {
      type: 'object',
      asset_ref_acceptable: true,
      properties: { to: { type: 'string', 'x-accepts': { integrity: 'trusted' } }, body: {} },
    },
  }
  const open = { accepts: { integrity: 'untrusted', confidentiality: 'private' } } as const

  it('keeps what it accepts, for variables, lists, assets and mapped items', async () => {
    const { tool, ran } = acting(open as never, inner)
    const list = acting({ ...open, id: 'act_all' } as never, {
      mails: { type: 'array', items: inner.mail },
    })
    await played(
      [
        call('read_mail'),
        call('act', { mail: '†result#1' }),
        call('act', { mail: await poisoned({ to: POISON }) }),
        call('act', { _each: ['†result#1'], mail: { to: '†result#1.to' } }),
        call('act_all', { mails: ['†result#1'] }),
      ],
      { tools: [mail, tool, list.tool] as Tool[] },
    )
    expect([...ran, ...list.ran]).toEqual([])
  })

  it('allows fields that are trusted there', async () => {
    const { tool, ran } = acting(open as never, inner)
    const half = defineTool({
      id: 'half',
      description: 'Reads a mail whose address we chose',
      inputSchema: any,
      readOnly: true,
      returns: { fields: { to: {}, body: { integrity: 'untrusted' } } },
      execute: () => ({ to: 'ann@example.com', body: POISON }),
    })
    await played([call('half'), call('act', { mail: '†result#1' })], {
      tools: [half, tool] as Tool[],
    })
    expect(ran).toEqual([{ mail: { to: 'ann@example.com', body: POISON } }])
  })

  it('is not opened by another branch of its schema', async () => {
    const value = {
      anyOf: [
        { type: 'string' },
        { type: 'string', 'x-accepts': { integrity: 'untrusted', confidentiality: 'private' } },
      ],
    }
    const { tool, ran } = acting({}, { value })
    await played([call('read_mail'), call('act', { value: '†result#1.body' })], {
      tools: [mail, tool] as Tool[],
    })
    expect(ran).toEqual([])
  })
})

describe('sub-agents', () => {
  const inner = (tools: Tool[], turns: readonly ScriptedTurn[]) =>
    createAgent({
      model: scriptedModel([...turns, 'Done.']),
      assets,
      trust: { mode: 'quarantine', onViolation: 'deny' },
      tools,
      log: createMemoryLog(),
    })

  it('get shared data with its own label', async () => {
    const { tool, ran } = acting()
    const helper = inner([tool], [call('act', { value: '†mail.body' })])
    await played(
      [call('read_mail', { _outputPath: '†mail' }), call('helper', { task: 'Use the mail' })],
      {
        tools: [
          mail,
          helper.asTool({ id: 'helper', description: 'Helps', data: ['†mail'] }),
        ] as Tool[],
      },
    )
    expect(ran).toEqual([])
  })

  it('that fail do not reveal their texts', async () => {
    const helper = createAgent({
      model: scriptedModel([call('read_mail'), new Error(`It said ${POISON}`)]),
      assets,
      trust: 'track',
      retry: { maxRetries: 0 },
      tools: [mail],
    })
    const { prompts } = await played([call('helper', { task: 'Read' })], {
      tools: [helper.asTool({ id: 'helper', description: 'Helps' })],
    })
    expect(prompts).not.toContain(POISON)
  })
})

describe('what the model sees', () => {
  it('contains no field of a preview of an offloaded item', async () => {
    const big = defineTool({
      id: 'big',
      description: 'Reads a long mail',
      inputSchema: any,
      readOnly: true,
      idempotent: true,
      maxResultChars: 2000,
      returns: { fields: { body: { integrity: 'untrusted' } } },
      execute: () => ({ id: 1, body: `${POISON} ${'x'.repeat(5000)}` }),
    })
    const { prompts } = await played([call('big', { _each: [1, 2], value: '†item' })], {
      tools: [big] as Tool[],
    })
    expect(prompts).not.toContain(POISON)
  })

  it('contains no name or type of a file in a person’s data', async () => {
    const { assetRef, ...file } = await assets
      .save(Buffer.from('x'), 'text/plain', { name: `${POISON}.txt` })
      .then(({ ref, mime, name }) => ({ assetRef: ref, mimeType: mime, name }))
    const data = { file: { assetRef, kind: 'file', ...file } }
    const { prompts } = await played(['Fine.'], {
      messages: [{ type: 'data', kind: 'doc', data }],
    })
    expect(prompts).not.toContain(POISON)
  })
})

describe('the sender of a value', () => {
  it('does not make a reply to a command trusted during a run', async () => {
    const { tool, ran } = acting()
    const steering: Tool = {
      ...own,
      id: 'steered',
      async execute(_, { conversation }) {
        const reply = {
          sender: { participant_id: 'eve', participant_role: 'tool' },
          message_type: 'command-response',
          content_type: 'command',
          content: { response: POISON },
        }
        await agent.send(conversation, [reply as never], { mode: 'steer' })
        return 'fine'
      },
    }
    const model = scriptedModel([call('steered'), call('own_data'), 'Done.'])
    const agent = createAgent({
      model,
      assets,
      trust: 'quarantine',
      tools: [steering, own, tool] as Tool[],
    })
    await agent.run({ messages: say('Go') }).result
    expect(ran).toEqual([])
    expect(JSON.stringify(model.requests.map(({ prompt }) => prompt))).not.toContain(POISON)
  })

  it('does not hide behind a field that is named "*"', async () => {
    const { tool, ran } = acting()
    await played(
      [
        call('read_mail', { _outputPath: '†box' }),
        call('own_data', { _outputPath: '†box["*"]' }),
        call('act', { value: '†box.body' }),
      ],
      { tools: [mail, own, tool] as Tool[] },
    )
    expect(ran).toEqual([])
  })

  it('is not forgotten by a tool that reads and keeps it', async () => {
    let kept: unknown = null
    const keeper = defineTool({
      id: 'keeper',
      description: 'Reads, keeps, and returns later',
      inputSchema: any,
      openWorld: false,
      async execute({ value }, { read }) {
        if (value === 'read') kept = await read('†result#1.body')
        return value === 'read' ? 'kept' : kept
      },
    })
    const { labels } = await played(
      [call('read_mail'), call('keeper', { value: 'read' }), call('keeper', { value: 'give' })],
      { tools: [mail, keeper] as Tool[] },
    )
    expect(integrityOf(labels, 3)).toBe('untrusted')
  })
})
