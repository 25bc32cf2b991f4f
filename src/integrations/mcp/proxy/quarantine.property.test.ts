import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../../agent/fixtures/random.ts'
import { createAssets } from '../../../assets/create-assets.ts'
import { poison, poisonAt, poisonValue } from '../../../policies/trust/fixtures/poison.ts'
import type { Channel, RpcMessage } from '../rpc/json-rpc.ts'
import { proxyMcp } from './proxy-mcp.ts'

/** For more runs: `BYREF_TRUST_RUNS=5000 npm run unit -- src/integrations/mcp/proxy/quarantine`. */
const RUNS = Number(process.env.BYREF_TRUST_RUNS ?? 60)
const FIRST = Number(process.env.BYREF_TRUST_SEED ?? 1)

const OBJECT = { type: 'object', properties: { a: {}, b: { type: 'string' } } }
const TOOLS = [
  { name: 'read', inputSchema: OBJECT, annotations: { readOnlyHint: true } },
  {
    name: 'shaped',
    inputSchema: OBJECT,
    outputSchema: OBJECT,
    annotations: { readOnlyHint: true },
  },
  { name: 'act', inputSchema: OBJECT },
]

/** Base64 that contains poison, which its characters do not show. */
const asBase64 = (choose: Random) => Buffer.from(poison(choose, 60)).toString('base64')

function block(choose: Random): unknown {
  const word = poison(choose)
  const annotations = { title: word, audience: [word], priority: 77_787_778 }
  const body = choose.chance(0.5) ? { text: said(choose) } : { blob: asBase64(choose) }
  return choose.pick<unknown>([
    { type: 'text', text: said(choose), annotations },
    { type: 'image', data: asBase64(choose), mimeType: `image/${word}` },
    { type: 'audio', data: word, mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: `file:///${word}`, mimeType: `text/${word}`, ...body } },
    { type: 'resource_link', uri: `file:///${word}`, name: word, title: word, size: 78_787_878 },
    { type: word, [word]: word },
    poisonValue(choose),
  ])
}

function said(choose: Random): string {
  const value = poisonValue(choose)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Possible responses of a server to any request: of its type, of another type, or of none. */
function result(choose: Random): Record<string, unknown> {
  const word = poison(choose)
  const blocks = Array.from({ length: choose.pick([0, 1, 2, 30]) }, () => block(choose))
  const made: Record<string, unknown> = {
    _meta: { [word]: word, 'byref/label': poisonValue(choose) },
    ...(choose.chance(0.7) ? { content: blocks } : {}),
    ...(choose.chance(0.4) ? { structuredContent: poisonValue(choose) } : {}),
    ...(choose.chance(0.3) ? { contents: blocks.map((one) => Object(one).resource ?? one) } : {}),
    ...(choose.chance(0.3) ? { messages: blocks.map((content) => ({ role: word, content })) } : {}),
    ...(choose.chance(0.3) ? { isError: choose.pick([true, word]) } : {}),
    ...(choose.chance(0.1)
      ? { resultType: choose.pick(['input_required', word]), requestState: word }
      : {}),
    ...(choose.chance(0.1) ? { task: { taskId: word, status: word } } : {}),
    ...(choose.chance(0.1) ? { completion: { values: [word] } } : {}),
    [word]: poisonValue(choose),
  }
  for (const list of ['resources', 'tools', 'prompts', 'resourceTemplates']) {
    if (choose.chance(0.5)) made[list] = [{ uri: `file:///${word}`, name: word, title: word }]
  }
  if (choose.chance(0.2)) made.nextCursor = word
  return made
}

/** Messages that a server sends by itself. */
function unasked(choose: Random, token: unknown): RpcMessage {
  const word = poison(choose)
  const any = { [word]: word, message: word, data: poisonValue(choose), uri: `file:///${word}` }
  const notification = (method: string, params: object = {}) => ({
    method,
    params: { ...any, ...params },
  })
  const request = (method: string) => ({ method, id: word, params: { messages: [any], ...any } })
  const progressToken = choose.chance(0.7) ? token : word
  const progress = { progressToken, progress: 78_787_878, total: 87_878_787 }
  return {
    jsonrpc: '2.0',
    ...choose.pick([
      notification('notifications/message', { level: word, logger: word }),
      notification('notifications/progress', progress),
      notification('notifications/resources/updated'),
      notification('notifications/resources/list_changed'),
      notification('notifications/tools/list_changed'),
      notification('notifications/cancelled', { requestId: word, reason: word }),
      notification(word),
      ...['sampling/createMessage', 'elicitation/create', 'roots/list', 'ping', word].map(request),
      { id: word, result: { [word]: word } },
      { error: { code: 78_787_878, message: word } },
    ]),
  } as RpcMessage
}

/** A server that describes itself once, and then sends anything. */
function hostileServer(choose: Random): Channel {
  const first: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'mail', version: '1', [poison(choose)]: poison(choose) },
      capabilities: { tools: { [poison(choose)]: {} }, [poison(choose)]: {}, prompts: {} },
      [poison(choose)]: poison(choose),
    },
    'tools/list': { tools: TOOLS, _meta: { [poison(choose)]: poison(choose) } },
    'prompts/list': { prompts: [{ name: 'ask' }], nextCursor: poison(choose) },
    'resources/templates/list': { resourceTemplates: [] },
  }
  const server: Channel = {
    start: async () => {},
    close: async () => server.onclose?.(),
    async send({ id, method, params }) {
      if (id === undefined || method === undefined) return
      const token = Object(params?._meta).progressToken
      while (choose.chance(0.4)) server.onmessage?.(unasked(choose, token))
      const known = first[method]
      delete first[method]
      const word = poison(choose)
      const error = { code: choose.pick([78_787_878, -32602]), message: word, data: result(choose) }
      const answer = choose.chance(0.15) ? { error } : { result: result(choose) }
      server.onmessage?.({ jsonrpc: '2.0', id, ...(known ? { result: { ...known } } : answer) })
      while (choose.chance(0.2)) server.onmessage?.(unasked(choose, token))
    },
  }
  return server
}

/** Requests of a client, with references from earlier responses. */
function request(choose: Random, seen: string): Pick<RpcMessage, 'method' | 'params'> {
  const refs = seen.match(/asset:\/\/\w+/g) ?? ['asset://none']
  const ref = choose.pick(refs)
  const given = choose.pick([ref, `${ref}/content/a`, `${ref}/content/0`, `at <|${ref}|>`, 'text'])
  const resource = choose.pick(['byref-resource:1', 'test://x', ref])
  const sql = choose.pick([`select * from "${ref}"`, `select nothing from "${ref}"`])
  const call = (name: string, args: object) => ({
    method: 'tools/call',
    params: { name, arguments: args },
  })
  const args = choose.pick([
    { a: given, b: given },
    { a: given, b: 1 },
  ])
  return choose.pick([
    ...TOOLS.map(({ name }) => call(name, { a: given, b: given })),
    ...TOOLS.map(({ name }) => call('call_tool', { name, arguments: args })),
    call('search_tools', { query: choose.pick(['read', 'act', given]) }),
    call('call_tool', { name: 'other', arguments: {} }),
    call('query_tables', { sql }),
    call('fetch_asset', { ref }),
    call('other', {}),
    ...['initialize', 'tools/list', 'prompts/list', 'resources/list', 'ping'].map((method) => ({
      method,
    })),
    ...['resources/templates/list', 'tasks/list', 'server/discover'].map((method) => ({ method })),
    { method: 'resources/read', params: { uri: resource } },
    { method: 'resources/subscribe', params: { uri: resource } },
    { method: 'prompts/get', params: { name: 'ask' } },
    { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'ask' } } },
    { method: 'logging/setLevel', params: { level: 'debug' } },
  ])
}

/** Everything that a client receives in one session, and how many of its responses contain a reference. */
async function session(seed: number): Promise<{ told: string[]; named: number }> {
  const choose = createRandom(seed)
  const told: string[] = []
  const waiting = new Map<unknown, () => void>()
  const client: Channel = {
    start: async () => {},
    close: async () => client.onclose?.(),
    async send(message) {
      told.push(JSON.stringify(message))
      if (message.method === undefined) waiting.get(message.id)?.()
      else if (message.id !== undefined) {
        // It approves everything.
        const answer = { action: 'accept', content: { approve: true }, roots: [] }
        await turn()
        client.onmessage?.({ jsonrpc: '2.0', id: message.id, result: answer })
      }
    },
  }
  const ended = proxyMcp(client, hostileServer(choose), {
    assets: createAssets(),
    trust: 'quarantine',
    toolSearch: seed % 2 === 0,
  })
  await turn()
  const ask = (id: number, what: Pick<RpcMessage, 'method' | 'params'>) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.set(id, resolve)
    const params = { ...what.params, _meta: { progressToken: id } }
    client.onmessage?.({ jsonrpc: '2.0', id, ...what, params })
    return promise
  }
  const capabilities = { sampling: {}, elicitation: {}, roots: {} }
  await ask(0, { method: 'initialize', params: { capabilities } })
  // The first description of a server comes from its author.
  for (const [i, method] of ['tools/list', 'prompts/list', 'resources/templates/list'].entries()) {
    await ask(i + 1, { method })
  }
  for (let id = 4; id < 24; id++) await ask(id, request(choose, told.join()))
  client.onclose?.()
  await ended
  return { told, named: told.filter((one) => one.includes('<untrusted ')).length }
}

describe('proxyMcp in quarantine', () => {
  it('shows a client no eight bytes of what a server returns, whatever that is', async () => {
    let named = 0
    for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
      const of = await session(seed)
      named += of.named
      expect(of.told.find(leaks), `seed ${seed}`).toBeUndefined()
    }
    // It is not silent: values are passed by name.
    expect(named).toBeGreaterThan(RUNS)
  })

  it('is checked by a test that finds leaks', async () => {
    const choose = createRandom(1)
    expect(leaks(JSON.stringify(unasked(choose, poison(choose))))).toBe(true)
    expect(leaks(JSON.stringify({ data: asBase64(choose) }))).toBe(true)
    expect(
      leaks('asset://1m82ag3d800009erd2kqt4hrbbe = <untrusted text, about 1000 characters>'),
    ).toBe(false)
  })
})

/** Whether there is poison in a text, also as base64. */
function leaks(text: string): boolean {
  if (poisonAt(text) !== -1) return true
  const long = text.match(/[A-Za-z0-9+/]{24,}/g) ?? []
  return long.some((one) => {
    return [0, 1, 2, 3].some(
      (cut) => poisonAt(Buffer.from(one.slice(cut), 'base64').toString('latin1')) !== -1,
    )
  })
}
