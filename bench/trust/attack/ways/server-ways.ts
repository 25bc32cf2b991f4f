import { createAgent, defineTool } from '../../../../src/index.ts'
import { createServer } from '../../../../src/server/create-server.ts'
import { scriptedModel } from '../../../../src/testing/index.ts'
import type { Way } from './agent-ways.ts'

const SECRET = 'ninety-eight thousand'
const BASE = 'http://127.0.0.1:4114/api'
const AT = '/conversations/pay'

type Ask = (who: string, path: string, json?: unknown) => Promise<string>
interface Served {
  ask: Ask
  /** The id of an asset that only Anna may read. */
  asset: string
}

/** A conversation with data that only Anna may read, and a call that waits for approval. */
async function serve(): Promise<Served & { close(): Promise<unknown> }> {
  const payroll = defineTool({
    id: 'payroll',
    description: 'Reads',
    inputSchema: { type: 'object' },
    readOnly: true,
    returns: { confidentiality: 'private', readers: ['anna'] },
    execute: () => ({
      salary: SECRET,
      slip: {
        mimeType: 'text/plain',
        name: SECRET,
        dataBase64: Buffer.from(SECRET).toString('base64'),
      },
    }),
  })
  const pay = defineTool({
    id: 'pay',
    description: 'Pays',
    execute: () => 'paid',
    inputSchema: { type: 'object', properties: { amount: {}, note: {} } },
  })
  const call = (id: string, name: string, args: Record<string, unknown>) => ({
    calls: [{ id, name, arguments: args as never }],
  })
  const agent = createAgent({
    model: scriptedModel([
      call('c1', 'payroll', { _outputPath: '†state.pay' }),
      call('c2', 'pay', { amount: '†state.pay.salary', note: SECRET }),
      ...Array.from({ length: 5 }, () => `It was ${SECRET}.`),
    ]),
    trust: 'track',
    tools: [payroll, pay],
  })
  const verify = (subject: string) => ({ subject, namespace: 'firm', role: 'owner' }) as const
  const server = createServer({ agent, app: null, auth: { verify, secret: 'x'.repeat(40) } })
  const ask: Ask = async (who, path, json) => {
    const answer = await server.fetch(
      new Request(BASE + path, {
        method: json === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      }),
    )
    return answer.text()
  }
  await ask('anna', '/conversations', { id: 'pay' })
  await ask('ben', `${AT}/messages`, { content: 'Pay them' })
  for (let tries = 0; tries < 500; tries++) {
    if ((await ask('anna', AT)).includes('"waiting"')) break
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const { assets } = JSON.parse(await ask('anna', '/assets')) as { assets: { assetId: string }[] }
  return { ask, asset: assets[0]?.assetId ?? '', close: () => agent.close() }
}

/** A single attack of Ben on data that only Anna may read. */
const way = (name: string, reads: (served: Served) => Promise<readonly string[]>): Way => ({
  name: `HTTP: ${name}`,
  async run() {
    const served = await serve()
    try {
      // Without this check, the attack would have nothing to find.
      const whole = await served.ask('anna', `${AT}/messages`)
      if (!whole.includes(SECRET)) return 'its reader may not read it'
      const got = (await reads(served)).find((text) => text.includes(SECRET))
      return got === undefined ? null : `read: ${got.slice(0, 400)}`
    } finally {
      await served.close()
    }
  },
})

const get = (name: string, paths: (served: Served) => readonly string[]): Way =>
  way(name, (served) => Promise.all(paths(served).map((path) => served.ask('ben', path))))

export const SERVER_WAYS: readonly Way[] = [
  get('messages and events', () => [`${AT}/messages`, `${AT}/events`]),
  get('data, whole and by reference', () => [
    ...[`${AT}/data`, `${AT}/data?ref=${encodeURIComponent('†state.pay.salary')}`],
    `${AT}/data?ref=${encodeURIComponent('†result#1')}`,
  ]),
  get('an export with what is in it', () => [`${AT}/export`, `${AT}/export?debug=true`]),
  get('the list of assets', () => ['/assets', '/assets?search=ninety']),
  get('bytes, fields and rows of an asset', ({ asset }) => [
    ...[`/assets/${asset}`, `/assets/${asset}/content`, `/assets/${asset}/rows`],
    `/assets/${asset}/content?path=content`,
  ]),
  way('an address of its bytes', async ({ ask, asset }) => [
    await ask('ben', `/assets/${asset}/sign`, {}),
    await ask('ben', '/query', { sql: 'SELECT 1', tables: { slip: `asset://${asset}` } }),
  ]),
  way('other arguments of a call that waits', async ({ ask, asset }) => {
    const changed = { approved: true, arguments: { amount: `asset://${asset}`, note: 'x' } }
    await ask('ben', `${AT}/calls/c2/approval`, changed)
    return [await ask('ben', `${AT}/messages`), await ask('ben', `${AT}/events`)]
  }),
  way('its asset, in a conversation of their own', async ({ ask, asset }) => {
    await ask('ben', '/conversations', { id: 'mine' })
    const attachments = [{ assetRef: `asset://${asset}` }]
    await ask('ben', '/conversations/mine/messages', { content: 'Read it', attachments })
    await ask('ben', '/conversations/mine/data', { kind: 'state', data: { a: `asset://${asset}` } })
    const value = `?ref=${encodeURIComponent('†state.a')}`
    return Promise.all(
      ['messages', 'data', `data${value}`, 'events'].map((one) =>
        ask('ben', `/conversations/mine/${one}`),
      ),
    )
  }),
  way('a copy of the conversation', async ({ ask }) => {
    await ask('ben', `${AT}/fork`, { id: 'fork' })
    return Promise.all(
      ['messages', 'data', 'export'].map((one) => ask('ben', `/conversations/fork/${one}`)),
    )
  }),
  get('a search for its words', () => ['/conversations?search=ninety-eight']),
  get('where it came from', () => [
    `${AT}/lineage?ref=${encodeURIComponent('†state.pay')}`,
    `${AT}/labels`,
  ]),
]
