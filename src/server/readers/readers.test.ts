import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { defineTool } from '../../boundary/tool.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { LabelsInfo } from '../../wire/types.ts'
import type { Caller } from '../caller.ts'
import { type Ask, openApi, refusal } from '../fixtures/api.ts'

const SECRET = 'ninety-eight thousand'

const PEOPLE: Record<string, Caller> = {
  anna: { subject: 'anna', namespace: 'firm', role: 'owner' },
  ben: { subject: 'ben', namespace: 'firm', role: 'owner' },
  eve: { subject: 'eve', namespace: 'other', role: 'owner' },
}

const payroll = defineTool({
  id: 'payroll',
  description: 'Reads what somebody earns',
  inputSchema: { type: 'object', properties: {} },
  readOnly: true,
  returns: { confidentiality: 'private', readers: ['anna'] },
  async execute(_, { assetStore, ...context }) {
    context.progress(SECRET)
    return {
      salary: SECRET,
      slip: {
        mimeType: 'text/plain',
        name: `${SECRET}.txt`,
        dataBase64: Buffer.from(`slip: ${SECRET}`).toString('base64'),
      },
    }
  },
})

const pay = defineTool({
  id: 'pay',
  description: 'Pays it',
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'string' }, note: { type: 'string' } },
  },
  execute: ({ amount }) => `paid ${amount}`,
})

const call = (id: string, name: string, args: Record<string, unknown>) => ({
  calls: [{ id, name, arguments: args }],
})

const TURNS = [
  call('c1', 'payroll', { _outputPath: '†state.pay' }),
  call('c2', 'pay', { amount: '†state.pay.salary', note: `They get ${SECRET}` }),
  `It was ${SECRET}.`,
  `As I said: ${SECRET}.`,
  `Still ${SECRET}.`,
]

const auth = { verify: (token: string) => PEOPLE[token] ?? null, secret: 'x'.repeat(40) }

function open() {
  const api = openApi(TURNS, { agent: { trust: 'track', tools: [payroll, pay] }, auth })
  const as =
    (who: string) =>
    (path: string, ask: Ask = {}) =>
      api.ask(path, { token: who, ...ask })
  return { ...api, anna: as('anna'), ben: as('ben'), eve: as('eve') }
}

const post = (json: unknown): Ask => ({ method: 'POST', json })

// One story: each test continues where the previous one has ended.
describe('readers', { shuffle: false }, () => {
  const { anna, ben, eve, askJson } = open()
  const at = '/api/conversations/pay'
  let asset = ''
  let streams: Record<'anna' | 'ben', { text: string }>

  async function read(path: string, who: typeof anna): Promise<string> {
    return (await who(path)).text()
  }

  async function stands(id: string, status: string): Promise<void> {
    await vi.waitFor(async () => {
      const summary = await askJson(`/api/conversations/${id}`, { token: 'anna' })
      expect(summary.status).toBe(status)
    }, 30_000)
  }

  function follow(answer: Response): { text: string } {
    const got = { text: '' }
    const decoder = new TextDecoder()
    void (async () => {
      for await (const chunk of answer.body ?? []) got.text += decoder.decode(chunk)
    })()
    return got
  }

  beforeAll(async () => {
    await anna('/api/conversations', post({ id: 'pay' }))
    streams = {
      anna: follow(await anna(`${at}/stream`)),
      ben: follow(await ben(`${at}/stream`)),
    }
    await ben(`${at}/messages`, post({ content: 'Pay them' }))
    await stands('pay', 'waiting')
    const page = await askJson<{ assets: { assetId: string }[] }>('/api/assets', { token: 'anna' })
    asset = `/api/assets/${page.assets[0]?.assetId}`
  })

  it('shows other users only the type and size of a value, wherever it is', async () => {
    for (const path of [
      `${at}/messages`,
      `${at}/events`,
      `${at}/data`,
      `${at}/export?debug=true`,
      '/api/assets',
    ]) {
      expect([path, await read(path, anna)]).toEqual([path, expect.stringContaining(SECRET)])
      const seen = await ben(path)
      expect(seen.status).toBe(200)
      expect([path, await seen.text()]).toEqual([path, expect.not.stringContaining(SECRET)])
    }
    const { entries } = await askJson<{ entries: { data: unknown }[] }>(`${at}/data`, {
      token: 'ben',
    })
    expect(entries[0]?.data).toEqual({ withheld: true, type: 'object', size: expect.any(Number) })
  })

  it('marks an incomplete export, and leaves nothing out for readers', async () => {
    expect((await ben(`${at}/export`)).headers.get('byref-withheld')).toBe('true')
    const whole = await anna(`${at}/export`)
    expect(whole.headers.get('byref-withheld')).toBeNull()
    // An export with omissions can be imported.
    const made = await ben('/api/conversations/import?id=left', {
      method: 'POST',
      body: await read(`${at}/export`, ben),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(made.status).toBe(201)
    expect(await read('/api/conversations/left/messages', ben)).not.toContain(SECRET)
  })

  it('rejects requests for bytes, fields, rows, URLs, prompts and values', async () => {
    const { messages } = await askJson<{ messages: { message: { id: string } }[] }>(
      `${at}/messages`,
      { token: 'anna' },
    )
    // The model saw the result of the first call before it made the second one.
    const answers = messages.map(({ message }) => message.id)
    const prompts = await Promise.all(
      answers.map(async (id) => {
        const [forAnna, forBen] = [
          await anna(`${at}/prompts/${id}`),
          await ben(`${at}/prompts/${id}`),
        ]
        const hasSecret = (await forAnna.text()).includes(SECRET)
        return { hasSecret, status: forBen.status }
      }),
    )
    expect(prompts.filter(({ hasSecret }) => hasSecret).map(({ status }) => status)).toEqual([403])
    const value = `${at}/data?ref=${encodeURIComponent('†state.pay.salary')}`
    const missing = await ben(`${at}/data?ref=${encodeURIComponent('†state.pay.nothing')}`)
    expect([missing.status, await missing.text()]).toEqual([
      403,
      expect.not.stringContaining('salary'),
    ])
    for (const path of [
      asset,
      `${asset}/content`,
      `${asset}/content?path=content`,
      `${asset}/rows`,
      value,
    ]) {
      expect([path, await refusal(await ben(path))]).toEqual([
        path,
        { status: 403, code: 'forbidden' },
      ])
    }
    expect(await read(`${asset}/content`, anna)).toBe(`slip: ${SECRET}`)
    expect((await ben(`${asset}/sign`, post({}))).status).toBe(403)
    const sql = { sql: 'SELECT 1', tables: { slip: `asset://${asset.split('/').at(-1)}` } }
    expect((await ben('/api/query', post(sql))).status).toBe(403)
    expect((await anna('/api/query', post(sql))).status).toBe(403)
    expect((await ben(`${at}/messages/${answers.at(-1)}/debug`)).status).toBe(403)
    // Nothing of the other tenant is included.
    for (const path of [at, `${at}/messages`, asset, `${asset}/content`]) {
      expect((await eve(path)).status).toBe(404)
    }
  })

  it('asks only people who may read the arguments for an approval', async () => {
    const asked = await read(`${at}/events`, ben)
    expect(asked).toContain('APPROVAL_REQUESTED')
    // The name of the called tool is shown, but not its arguments.
    const messages = await read(`${at}/messages`, ben)
    expect(messages).toMatch(
      /"tool_calls":\[\{"id":"c2","name":"pay","arguments":\{"withheld":true/,
    )
    expect(await refusal(await ben(`${at}/calls/c2/approval`, post({ approved: true })))).toEqual({
      status: 403,
      code: 'forbidden',
    })
    expect((await anna(`${at}/calls/c2/approval`, post({ approved: true }))).status).toBe(202)
    await stands('pay', 'idle')
    const events = await read(`${at}/events`, anna)
    expect(events).toContain('"by":"anna"')
    expect(events).toContain(`It was ${SECRET}.`)
  })

  it('withholds stream events, and derived values', async () => {
    await expect.poll(() => streams.anna.text).toContain('RUN_FINISHED')
    await expect.poll(() => streams.ben.text).toContain('RUN_FINISHED')
    expect(streams.anna.text).toContain('TEXT_MESSAGE_CONTENT')
    expect(streams.anna.text).toContain(`It was ${SECRET}.`)
    expect(streams.ben.text).toContain('TEXT_MESSAGE_CONTENT')
    expect(streams.ben.text).not.toContain(SECRET)
    expect(await read(`${at}/messages`, ben)).not.toContain(SECRET)
  })

  it('finds nothing for users who may not read it', async () => {
    const found = async (who: typeof anna, search: string) => {
      const page = await (await who(`/api/conversations?search=${search}`)).json()
      return (page as { conversations: { id: string }[] }).conversations.map(({ id }) => id)
    }
    expect(await found(anna, 'ninety-eight')).toEqual(['pay'])
    expect(await found(ben, 'ninety-eight')).toEqual([])
    expect(await found(ben, 'pay them')).toContain('pay')
  })

  it('does not let a value be copied elsewhere', async () => {
    await ben('/api/conversations', post({ id: 'mine' }))
    const ref = `asset://${asset.split('/').at(-1)}`
    const carried = { content: 'Read it', attachments: [{ assetRef: ref }] }
    expect((await ben('/api/conversations/mine/messages', post(carried))).status).toBe(403)
    const data = { kind: 'state', data: { file: ref } }
    expect((await ben('/api/conversations/mine/data', post(data))).status).toBe(403)
    const kept = { content_type: 'application/json', content: { file: ref } }
    expect((await ben('/api/assets/structured', post(kept))).status).toBe(403)
    // A copy by a permitted reader keeps the readers.
    expect((await anna('/api/conversations/mine/messages', post(carried))).status).toBe(202)
    await stands('mine', 'idle')
    expect(await read('/api/conversations/mine/messages', anna)).toContain(SECRET)
    const seen = await read('/api/conversations/mine/messages', ben)
    expect(seen).toContain('withheld')
    expect(seen).not.toContain(SECRET)
    expect(seen).not.toContain('Read it')
    expect(await read('/api/conversations?search=read', ben)).not.toContain('"mine"')
    expect(await askJson('/api/conversations/mine', { token: 'ben' })).toMatchObject({
      title: null,
    })
    expect(await read('/api/runs?conversation=mine', ben)).toContain('"title":null')
    expect(await read('/api/runs?conversation=mine', anna)).toContain('"title":"Read it"')
    // Nor in a fork, where it is sent again.
    await ben(`${at}/fork`, post({ id: 'fork' }))
    expect(await read('/api/conversations/fork/messages', ben)).not.toContain(SECRET)
    expect(await read('/api/conversations/fork/messages', anna)).toContain(SECRET)
  })

  it('accepts readers of a message, also when it is sent again', async () => {
    await anna('/api/conversations', post({ id: 'said' }))
    const label = { confidentiality: 'private', readers: ['anna'] }
    const sent = await askJson<{ messageId: string }>('/api/conversations/said/messages', {
      ...post({ content: `Only for me: ${SECRET}`, label }),
      token: 'anna',
    })
    await stands('said', 'idle')
    const again = `/api/conversations/said/messages/${sent.messageId}/retry`
    expect((await ben(again, post({}))).status).toBe(403)
    const retried = await askJson<{ conversation: string }>(again, { ...post({}), token: 'anna' })
    const path = `/api/conversations/${retried.conversation}/events`
    expect(await read(path, anna)).toContain(SECRET)
    expect(await read(path, ben)).not.toContain(SECRET)
  })

  it('shows where a value came from, without the text of other readers', async () => {
    const path = `${at}/lineage?ref=${encodeURIComponent('†result#2')}`
    const forAnna = await (await anna(path)).json()
    expect(forAnna).toMatchObject({ of: ['call:c2'] })
    expect(JSON.stringify(forAnna)).toContain('†state.pay.salary')
    const text = await read(path, ben)
    expect(text).toContain('call:c1')
    expect(text).toContain('"readers":["anna"]')
    expect(text).not.toContain('salary')
    expect((await ben(`${at}/lineage?ref=nothing`)).status).toBe(404)
  })

  it('marks values that are untrusted or private', async () => {
    const assetId = asset.split('/').at(-1) as string
    const marks = await askJson<LabelsInfo>(`${at}/labels`, { token: 'ben' })
    expect(marks.assets[assetId]).toMatchObject({ confidentiality: 'private', readers: ['anna'] })
    expect(marks.data.state).toMatchObject({ readers: ['anna'] })
    expect(Object.keys(marks.messages).length).toBeGreaterThan(1)
    const rest = await askJson(`${at}/labels?after=${marks.position}`, { token: 'ben' })
    expect(rest).toEqual({ ...marks, messages: {} })
  })

  it('deletes assets with readers together with the last conversation that references them', async () => {
    for (const id of ['left', 'mine', 'fork', 'pay']) {
      expect((await anna(`${asset}/content`)).status).toBe(200)
      expect((await anna(`/api/conversations/${id}`, { method: 'DELETE' })).status).toBe(204)
    }
    expect((await anna(asset)).status).toBe(404)
  })
})

describe('agentsOf', () => {
  it('gives a namespace or a role its own agents', async () => {
    const log = createMemoryLog()
    const agent = (name: string, trust: 'off' | 'quarantine') =>
      createAgent({ name, log, trust, model: scriptedModel([`I am ${name}`, `I am ${name}`]) })
    const api = openApi([], {
      agents: { free: agent('free', 'off'), strict: agent('strict', 'quarantine') },
      auth,
      agentsOf: ({ subject }) =>
        subject === 'anna' ? ['free', 'strict'] : subject === 'ben' ? ['strict'] : [],
    })
    const info = await api.askJson<{ agents: { name: string; trust: string }[] }>('/api/info', {
      token: 'ben',
    })
    expect(info.agents).toMatchObject([{ name: 'strict', trust: 'quarantine' }])
    await api.ask('/api/conversations', { ...post({ id: 'a' }), token: 'ben' })
    const say = (agent?: string) =>
      api.ask('/api/conversations/a/messages', { ...post({ content: 'Hi', agent }), token: 'ben' })
    expect(await refusal(await say('free'))).toEqual({ status: 404, code: 'agent_not_found' })
    expect((await say()).status).toBe(202)
    await expect
      .poll(async () => (await api.askJson('/api/conversations/a', { token: 'ben' })).agent)
      .toBe('strict')
    expect((await api.ask('/api/info', { token: 'eve' })).status).toBe(403)
  })
})

describe('a caller who may not use the agent of a conversation', () => {
  it('may read it, but not answer or cancel its calls', async () => {
    const log = createMemoryLog()
    const pay = defineTool({
      id: 'pay',
      description: 'pays',
      needsApproval: true,
      execute: () => 'paid',
      inputSchema: { type: 'object' },
    })
    const turn = { calls: [{ id: 'p1', name: 'pay', arguments: {} }] }
    const free = createAgent({ name: 'free', log, tools: [pay], model: scriptedModel([turn]) })
    const strict = createAgent({ name: 'strict', log, model: scriptedModel([]) })
    const agentsOf = ({ subject }: { subject: string }) =>
      subject === 'anna' ? ['free', 'strict'] : ['strict']
    const api = openApi([], { agents: { free, strict }, auth, agentsOf })
    await api.ask('/api/conversations', { ...post({ id: 'c' }), token: 'anna' })
    await api.ask('/api/conversations/c/messages', { ...post({ content: 'Pay' }), token: 'anna' })
    const statusOf = async () =>
      (await api.askJson<{ status: string }>('/api/conversations/c', { token: 'ben' })).status
    await expect.poll(statusOf).toBe('waiting')
    const paths = { 'calls/p1/approval': { approved: true }, cancel: {} }
    for (const [path, body] of Object.entries(paths)) {
      const answer = await api.ask(`/api/conversations/c/${path}`, { ...post(body), token: 'ben' })
      expect(await refusal(answer)).toEqual({ status: 404, code: 'agent_not_found' })
    }
    expect(await statusOf()).toBe('waiting')
  })
})

describe('a request of a sub-agent', () => {
  it('has the same readers in the conversation of the caller', async () => {
    const log = createMemoryLog()
    const options = { log, trust: 'track' } as const
    const tools = [payroll, pay]
    const helper = createAgent({ model: scriptedModel(TURNS), tools, ...options })
    const { ask, agent } = openApi([call('h', 'helper', { task: 'Pay' }), 'Done.'], {
      agent: { tools: [helper.asTool({ id: 'helper', description: '' })], ...options },
      auth,
    })
    const run = agent.scoped('firm').run({ conversation: 'c', messages: 'Pay them' })
    for await (const event of run) if (event.type === 'APPROVAL_REQUESTED') break
    const requestFor = async (token: string, conversation: string) => {
      const answer = await ask(`/api/conversations/${conversation}/export`, { token })
      const lines = (await answer.text()).split('\n').filter((line) => line.includes('APPROVAL_'))
      return lines.map((line) => JSON.parse(line).event.arguments)
    }
    const asked = await requestFor('anna', 'c%2Fh')
    expect(asked).toMatchObject([{ amount: SECRET }])
    expect(await requestFor('anna', 'c')).toEqual(asked)
    const withheld = await requestFor('ben', 'c%2Fh')
    expect(JSON.stringify(withheld)).not.toContain(SECRET)
    expect(await requestFor('ben', 'c')).toEqual(withheld)

    const at = '/api/conversations/c/calls/h%2Fc2/approval'
    const approve = (token: string) => ask(at, { token, ...post({ approved: true }) })
    expect(await refusal(await approve('ben'))).toEqual({ status: 403, code: 'forbidden' })
    expect((await approve('anna')).status).toBe(202)
    expect((await run.result).text).toBe('Done.')
    expect(await requestFor('ben', 'c')).toEqual([...withheld, undefined])
  })
})

describe('an asset without a conversation', () => {
  it('has the readers of its own record', async () => {
    const { anna, ben, agent } = open()
    const label = { confidentiality: 'private', readers: ['anna'] } as const
    const { assets } = agent.scoped('firm')
    const saved = await assets
      .scoped({ label: () => label })
      .save(Buffer.from(SECRET), 'text/plain')
    const path = `/api/assets/${saved.assetId}`
    expect((await anna(path)).status).toBe(200)
    expect((await ben(path)).status).toBe(403)
    await ben('/api/conversations', post({ id: 'ours' }))
    const said = { content: 'Read it', settings: { stopSequences: [saved.ref] } }
    expect((await ben('/api/conversations/ours/messages', post(said))).status).toBe(403)
  })
})

describe('labels', () => {
  it('are those of every message, whatever its id is', async () => {
    const { askJson } = openApi(['Hello.'], { agent: { trust: 'track' } })
    const { id } = await askJson<{ id: string }>('/api/conversations', post({}))
    const at = `/api/conversations/${id}`
    const label = { confidentiality: 'private' }
    await askJson(`${at}/messages`, post({ id: '__proto__', content: 'a', label }))
    const { messages } = await askJson<LabelsInfo>(`${at}/labels`)
    expect(Object.getOwnPropertyDescriptor(messages, '__proto__')?.value).toMatchObject(label)
  })
})

describe('an export', () => {
  it('withholds what is appended while it starts', async () => {
    const log = createMemoryLog()
    const verify = (subject: string): Caller => ({ subject, namespace: null, role: 'owner' })
    const { ask, agent } = openApi([], { agent: { log, trust: 'track' }, auth: { verify } })
    await log.create('c')
    const exportAll = log.export.bind(log)
    log.export = async function* (id) {
      const label = { confidentiality: 'private', readers: ['anna'] } as const
      await agent.add(id, { type: 'data', kind: 'pay', data: SECRET }, { label })
      yield* exportAll(id)
    }
    const answer = await ask('/api/conversations/c/export', { token: 'ben' })
    expect(answer.headers.get('byref-withheld')).toBe('true')
    expect(await answer.text()).not.toContain(SECRET)
  })
})
