import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../assets/create-assets.ts'
import { PNG, threeMethods } from '../assets/fixtures/stores.ts'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { Agent, AgentOptions } from './agent-contract.ts'
import { camera, count, eventsOf, prompts, say } from './fixtures/agent.ts'

const READING = ['fetch_asset', 'search_asset', 'query_tables']

describe('createAgent, with assets', () => {
  it('replaces the bytes of a tool by references before anyone sees them', async () => {
    const model = scriptedModel([{ calls: [{ name: 'camera', arguments: {} }] }, 'There.'])
    const agent = createAgent({ model, tools: [camera] })
    const run = agent.run({ messages: say('Take a picture') })
    const events = await eventsOf(run)
    const created = events.flatMap((event) =>
      event.type === 'ASSET_CREATED' ? [event.payload] : [],
    )
    expect(created).toMatchObject([
      {
        mime: 'image/png',
        kind: 'image',
        by: 'tool',
        tool: 'camera',
        origin: '/picture',
        size: PNG.length,
      },
    ])
    const result = run.messages.find(({ metadata }) => metadata.tool_result)
    expect(result?.content).toEqual({
      note: 'smile',
      picture: { assetRef: created[0]?.ref, mimeType: 'image/png', kind: 'image' },
    })
    expect(prompts(model)[1]).toContain(created[0]?.ref)
    expect(prompts(model)[1]).not.toContain('iVBOR')
    const { bytes } = await agent.assets.get(created[0]?.ref ?? '')
    expect(Buffer.from(bytes)).toEqual(PNG)
  })

  it('passes bare base64 of a result to a bytes parameter, by its variable', async () => {
    const shoot = defineTool({
      id: 'shoot',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => ({ image: PNG.toString('base64') }),
    })
    let given: unknown
    const measure = defineTool({
      id: 'measure',
      description: '',
      inputSchema: {
        type: 'object',
        properties: { image: { asset_ref_acceptable: true, asset_ref_as: 'bytes' } },
      },
      execute: ({ image }) => {
        given = image
        return 'measured'
      },
    })
    const model = scriptedModel([
      { calls: [{ name: 'shoot', arguments: {} }] },
      { calls: [{ name: 'measure', arguments: { image: '†result#1.image' } }] },
      'Done.',
    ])
    await createAgent({ model, tools: [shoot, measure] }).run({ messages: say('Go') }).result
    expect(given).toEqual(new Uint8Array(PNG))
    expect(prompts(model).join()).not.toContain('iVBOR')
  })

  it('returns the base64 of a result to a text parameter, by its variable', async () => {
    const shoot = defineTool({
      id: 'shoot',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => ({ image: PNG.toString('base64') }),
    })
    const given: unknown[] = []
    const post = defineTool({
      id: 'post',
      description: '',
      inputSchema: z.object({
        image: z.base64().optional(),
        file: z.object({}).loose().optional(),
      }),
      execute(input) {
        given.push(input)
        return 'posted'
      },
    })
    const model = scriptedModel([
      { calls: [{ name: 'shoot', arguments: {} }] },
      { calls: [{ name: 'post', arguments: { image: '†result#1.image' } }] },
      { calls: [{ name: 'post', arguments: { file: '†result#1.image' } }] },
      'Done.',
    ])
    await createAgent({ model, tools: [shoot, post] }).run({ messages: say('Go') }).result
    expect(given).toEqual([
      { image: PNG.toString('base64') },
      {
        file: { assetRef: expect.stringMatching(/^asset:/), mimeType: 'image/png', kind: 'image' },
      },
    ])
    expect(prompts(model).join()).not.toContain('iVBOR')
  })

  it('finds what a run in a namespace saved, by the namespace of the call', async () => {
    const model = scriptedModel([{ calls: [{ name: 'camera', arguments: {} }] }, 'There.'])
    const agent = createAgent({ model, tools: [camera] })
    const run = agent.run({ messages: say('Take a picture'), namespace: 'x' })
    const created = (await eventsOf(run)).find((event) => event.type === 'ASSET_CREATED')
    const ref = created?.payload.ref ?? ''
    const { bytes } = await agent.assets.get(ref, { namespace: 'x' })
    expect(Buffer.from(bytes)).toEqual(PNG)
    expect((await agent.scoped('x').assets.get(ref)).bytes).toEqual(bytes)
    await expect(agent.assets.get(ref)).rejects.toMatchObject({ code: 'asset_not_found' })
  })

  it('lets an event handler read the bytes of an event', async () => {
    const seen: (string | undefined)[] = []
    const model = scriptedModel([{ calls: [{ name: 'camera', arguments: {} }] }, 'There.'])
    const onEvent = (event: ConversationEvent): void => {
      if (event.type !== 'ASSET_CREATED') return
      seen.push((event.payload as { base64?: string }).base64, JSON.stringify(event))
    }
    await createAgent({ model, tools: [camera], callbacks: { onEvent } }).run({
      messages: say('x'),
    }).result
    expect(seen[0]).toBe(PNG.toString('base64'))
    expect(seen[1]).not.toContain('iVBOR')
  })

  it('resolves references in accepting parameters and keeps them literal in the log', async () => {
    const assets = createAssets()
    const { table } = await assets.importFile(new TextEncoder().encode('a,b\n1,2\n3,4\n'), {
      name: 't.csv',
    })
    const rows = `${table?.ref}/content/rows`
    const model = scriptedModel([
      { calls: [{ name: 'count', arguments: { rows, times: 5, _outputPath: '†state.size' } }] },
      { calls: [{ name: 'count', arguments: { rows: [1], times: '†state.size.count' } }] },
      'Done.',
    ])
    const agent = createAgent({ model, tools: [count], assets })
    const attachments = [{ assetRef: table?.ref ?? '' }]
    const run = agent.run({
      messages: [{ role: 'user', content: 'Count', metadata: { attachments } }],
    })
    await run.result
    const results = run.messages.filter(({ metadata }) => metadata.tool_result)
    expect(results.map(({ content }) => content)).toEqual([
      { written_to: ['†state.size'], value: { count: 10 } },
      { count: 10 },
    ])
    const calls = run.messages.flatMap(({ metadata }) => metadata.tool_calls ?? [])
    expect(calls.map((call) => call.arguments)).toMatchObject([
      { rows },
      { times: '†state.size.count' },
    ])
    expect(prompts(model)[0]).toContain('2 rows, columns: a (number), b (number)')
    expect(prompts(model)[1]).toContain('†state.size')
    expect(prompts(model)[1]).not.toContain('## Data')
  })

  it('resolves the changed arguments of an approval in the namespace of the conversation', async () => {
    const config = { namespacing: { mode: 'context', includeInRef: true } } as const
    const agent = createAgent({
      model: scriptedModel([
        { calls: [{ id: 'c1', name: 'count', arguments: { rows: [1], times: 1 } }] },
        'Counted.',
      ]),
      tools: [{ ...count, needsApproval: true }],
      assets: { config },
    })
    const { table } = await agent.assets
      .scoped({ namespace: 'tenant-a' })
      .importFile(new TextEncoder().encode('a,b\n1,2\n3,4\n'), { name: 't.csv' })
    const run = agent.run({ conversation: 'c', namespace: 'tenant-a', messages: say('Count') })
    for await (const event of run) {
      if (event.type !== 'APPROVAL_REQUESTED') continue
      const changed = { rows: `${table?.ref}/content/rows`, times: 5 }
      await agent.approve(
        'c',
        'c1',
        { approved: true, arguments: changed },
        { namespace: 'tenant-a' },
      )
    }
    const result = run.messages.find(({ metadata }) => metadata.tool_result)
    expect(result?.content).toEqual({ count: 10 })
  })

  it('keeps the assets of a run in its namespace', async () => {
    const config = { namespacing: { mode: 'context', includeInRef: true } } as const
    const turns = [{ calls: [{ name: 'camera', arguments: {} }] }, 'There.']
    const agent = createAgent({ model: scriptedModel(turns), tools: [camera], assets: { config } })
    const run = agent.run({ messages: say('go'), namespace: 'tenant-a' })
    const created = (await eventsOf(run)).flatMap((event) =>
      event.type === 'ASSET_CREATED' ? [event.payload.ref] : [],
    )
    expect(created).toEqual([expect.stringMatching(/^asset:\/\/tenant-a\/\w+$/)])
    const own = agent.assets.scoped({ namespace: 'tenant-a' })
    expect((await own.info(created[0] ?? '')).mime).toBe('image/png')
    const other = agent.assets.scoped({ namespace: 'tenant-b' })
    await expect(other.info(created[0] ?? '')).rejects.toMatchObject({ code: 'asset_not_found' })
  })

  it('offers the native tools by name, and when the model does not receive bytes directly', () => {
    const model = scriptedModel([])
    const ids = (agent: Agent): string[] => agent.tools.map(({ id }) => id)
    const small = { ...camera, maxResultChars: Infinity }
    expect(ids(createAgent({ model, tools: ['fetch_asset', small] }))).toEqual([
      'fetch_asset',
      'camera',
      'search_asset',
      'query_tables',
    ])
    const assets = { config: { resolveInLLM: false } }
    expect(ids(createAgent({ model, tools: [small], assets }))).toEqual([
      'camera',
      'save_asset',
      ...READING,
    ])
    expect(() => createAgent({ model, tools: ['drop_asset' as 'save_asset'] })).toThrow(
      /tools\[0\] must be a tool made by defineTool, or .*"save_asset" or .*, not "drop_asset"/,
    )
  })

  it('offers the tools that read large results from the first large result on', async () => {
    const large = { ...camera, maxResultChars: 10, execute: () => 'x'.repeat(100) }
    const shownTo = async (options: Partial<AgentOptions>): Promise<(string[] | undefined)[]> => {
      const call = { calls: [{ name: 'camera', arguments: {} }] }
      const model = scriptedModel([call, call, 'Done.'])
      await createAgent({ model, ...options }).run({ messages: say('go') }).result
      return model.requests.map(({ tools }) => tools?.map(({ name }) => name))
    }
    const [one, all] = [['camera'], ['camera', ...READING]]
    expect(await shownTo({ tools: [large] })).toEqual([one, all, all])
    expect(await shownTo({ tools: [large], reading: true })).toEqual([all, all, all])
    expect(await shownTo({ tools: [large], reading: false })).toEqual([one, one, one])
    expect(await shownTo({ tools: [camera] })).toEqual([one, one, one])
    // The agent keeps its own tool, and a tool that was named is present from the start.
    const own = { ...camera, id: 'search_asset' }
    const { tools } = createAgent({ model: scriptedModel([]), tools: [large, own, 'fetch_asset'] })
    expect(tools.map(({ id }) => id)).toEqual([
      'camera',
      'search_asset',
      'fetch_asset',
      'query_tables',
    ])
    expect(tools[1]).toBe(own)
  })

  it('offers them after a compaction, because tools precede the messages in the prompt', async () => {
    const log = createMemoryLog()
    const large = { ...camera, maxResultChars: 10, execute: () => 'x'.repeat(100) }
    const call = { calls: [{ name: 'camera', arguments: {} }] }
    const model = scriptedModel([call, call, 'Done.'])
    const agent = createAgent({ model, tools: [large], log })
    const run = agent.run({ messages: say('go') })
    const events = await eventsOf(run)
    expect(events.filter(({ type }) => type === 'PROMPT_COMPACTED')).toMatchObject([
      { reason: 'tools' },
    ])
    const steps = events.flatMap((event) => (event.type === 'STEP_STARTED' ? event.messageId : []))
    const debug = await Promise.all(steps.map((id) => agent.debug(run.conversation, id)))
    const tools = (debug as { request: { tools: { name: string }[] } }[]).map(({ request }) => {
      return request.tools.map(({ name }) => name)
    })
    expect(tools.map((names) => names.length)).toEqual([1, 4, 4])
  })

  it('queries lists of objects by their † paths', async () => {
    const towns = [
      { town: 'Rome', people: 3 },
      { town: 'Oslo', people: 1 },
    ]
    const list = {
      ...camera,
      id: 'list',
      execute: () => ({ towns, 'a "b"': [{ x: 5 }], large: 'x'.repeat(50_000) }),
    }
    const query = (sql: string, more = {}) => ({
      name: 'query_tables',
      arguments: { sql, ...more },
    })
    const sum = 'select sum(people) as n from'
    const model = scriptedModel([
      {
        calls: [
          { name: 'list', arguments: { _outputPath: '†state.found' } },
          query(`${sum} "†state.found.towns"`),
        ],
      },
      {
        calls: [
          query(`${sum} "<|†result#1.towns|>" where town <> '†'`),
          query(`${sum} †result#1.towns`),
          query(`${sum} †result#1.towns, †result#2`),
          query('select x as n from "†result#1[""a \\""b\\""""]"'),
          query(`${sum} t`, { tables: { t: '†result#1.towns' } }),
          query('select n + 1 as n from "†result#2"'),
          query('select sum(people) as "†total" from "†result#1.towns" order by †total'),
          query(`${sum} "†result#1"`),
          query(`${sum} "†result#1.large"`),
        ],
      },
      'Done.',
    ])
    const agent = createAgent({ model, tools: [list, 'query_tables'] })
    const run = agent.run({ messages: say('How many?') })
    await run.result
    const results = run.messages.flatMap(({ metadata, content }) =>
      metadata.tool_result ? [content ?? metadata.tool_result] : [],
    )
    const error = (words: string) => ({ error: { message: expect.stringContaining(words) } })
    const n = (value: number) => ({ rows: [{ n: value }] })
    expect(results.slice(1)).toMatchObject([
      ...[n(4), n(4), n(4), n(4), n(5), n(4), n(5)],
      { rows: [{ '†total': 4 }] },
      error('several lists of rows. Name one of them: †result#1.towns, †result#1["a \\"b\\""].'),
      error('is not an asset reference'),
    ])
    const written = run.messages.flatMap(({ metadata }) => metadata.tool_calls ?? [])
    expect(written[1]?.arguments).toEqual({ sql: `${sum} "†state.found.towns"` })
  })

  it('reads on in a large result from a search match', async () => {
    const rows = Array.from({ length: 2_000 }, (_, i) => ({ city: `Town ${i}`, people: i }))
    const many = defineTool({
      id: 'many',
      description: '',
      inputSchema: { type: 'object' },
      maxResultChars: 10_000,
      execute: () => ({ rows }),
    })
    const assets = createAssets()
    const turns: ScriptedTurn[] = [{ calls: [{ name: 'many', arguments: {} }] }, 'Much.']
    const run = createAgent({ model: scriptedModel(turns), tools: [many], assets }).run({
      messages: say('go'),
    })
    await run.result
    const { ref } = (await assets.list()).assets[0] as { ref: string }
    const reading: ScriptedTurn[] = [
      { calls: [{ name: 'search_asset', arguments: { ref, query: 'Town 1234' } }] },
      { calls: [{ name: 'fetch_asset', arguments: { ref: `${ref}/content/rows/1234` } }] },
      { calls: [{ name: 'fetch_asset', arguments: { ref } }] },
      { calls: [{ name: 'search_asset', arguments: { ref, query: 'Town', limit: 100 } }] },
      'Read.',
    ]
    const next = createAgent({ model: scriptedModel(reading), tools: [many], assets }).run({
      messages: say(`See ${ref}`),
    })
    await next.result
    const results = next.messages.filter(({ metadata }) => metadata.tool_result)
    expect(results[0]?.content).toEqual({
      assetRef: ref,
      hits: [{ ref: `${ref}/content/rows/1234/city`, text: 'Town 1234' }],
      total: 1,
    })
    expect(results[1]?.content).toMatchObject({
      text: '{\n  "city": "Town 1234",\n  "people": 1234\n}',
    })
    expect(results[2]?.content).toMatchObject({ startLine: 1, nextStartLine: expect.any(Number) })
    for (const { content } of results) {
      expect(content).not.toHaveProperty('offloaded')
      expect(JSON.stringify(content).length).toBeLessThan(32_000)
    }
  })

  it('gives an app’s own save_asset its arguments, and keeps what its results contain', async () => {
    const dataBase64 = PNG.toString('base64')
    const result = { assetRef: 'unit-7', base64: 'short text', title: 'Unit' }
    const received: unknown[] = []
    const own = defineTool({
      id: 'save_asset',
      description: 'Saves.',
      inputSchema: { type: 'object', properties: { dataBase64: { type: 'string' } } },
      execute(input) {
        received.push(input)
        return result
      },
    })
    const model = scriptedModel([
      { calls: [{ name: 'save_asset', arguments: { dataBase64 } }] },
      'Done.',
    ])
    const run = createAgent({ model, tools: [own] }).run({ messages: say('go') })
    await run.result
    expect(received).toEqual([{ dataBase64 }])
    expect(run.messages.find(({ metadata }) => metadata.tool_result)?.content).toEqual(result)
  })

  it('fails only the call whose result is nested too deeply', async () => {
    const depths = [890, 995, 1000, 1100]
    const nest = defineTool({
      id: 'nest',
      description: 'Nests.',
      inputSchema: { type: 'object', properties: { depth: { type: 'number' } } },
      execute: (input) => {
        const { depth } = input as { depth: number }
        return JSON.parse('['.repeat(depth) + ']'.repeat(depth))
      },
    })
    const calls = depths.map((depth) => ({ name: 'nest', arguments: { depth } }))
    const run = createAgent({ model: scriptedModel([{ calls }, 'Done.']), tools: [nest] }).run({
      messages: say('go'),
    })
    expect((await run.result).text).toBe('Done.')
    const codes = run.messages.flatMap(({ metadata: { tool_result } }) =>
      tool_result ? [tool_result.error?.code] : [],
    )
    expect(codes).toEqual([undefined, 'too_deep', 'too_deep', 'too_deep'])
  })

  it('keeps what a model saves and fetches out of the log and prompts, and shows it once', async () => {
    const dataBase64 = PNG.toString('base64')
    const assets = createAssets()
    const saved = await assets.save(new Uint8Array(PNG), 'image/png')
    const turns: ScriptedTurn[] = [
      { calls: [{ name: 'save_asset', arguments: { mimeType: 'image/png', dataBase64 } }] },
      { calls: [{ name: 'fetch_asset', arguments: { ref: saved.ref } }] },
      { calls: [{ name: 'camera', arguments: { sample: `data:image/png;base64,${dataBase64}` } }] },
      'Done.',
    ]
    const model = { ...scriptedModel(turns), provider: 'openai.responses' }
    const agent = createAgent({ model, tools: ['save_asset', 'fetch_asset', camera], assets })
    const run = agent.run({ messages: say('go') })
    await run.result
    const log = JSON.stringify(await agent.log.read(run.conversation))
    expect(log).not.toContain(dataBase64.slice(0, 40))
    const calls = run.messages.flatMap(({ metadata }) => metadata.tool_calls ?? [])
    expect(calls.map((call) => call.arguments)).toEqual([
      { ref: expect.stringMatching(/^asset:/) },
      { ref: saved.ref },
      { sample: expect.stringMatching(/^data:image\/png;base64,<\|asset:/) },
    ])
    const results = run.messages.filter(({ metadata }) => metadata.tool_result)
    expect(results.map(({ content }) => content).slice(0, 2)).toEqual([
      { assetRef: calls[0]?.arguments.ref, mimeType: 'image/png', size: PNG.length, kind: 'image' },
      { assetRef: saved.ref, mimeType: 'image/png', fetched: true },
    ])
    const files = model.requests.map(({ prompt }) =>
      prompt.flatMap((message) =>
        message.role === 'user' ? message.content.filter((part) => part.type === 'file') : [],
      ),
    )
    expect(files.map((parts) => parts.length)).toEqual([0, 0, 1, 0])
    expect(files[2]?.[0]).toMatchObject({ mediaType: 'image/png', data: { type: 'data' } })
  })

  it('returns a large result as a reference with a preview', async () => {
    const many = defineTool({
      id: 'many',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => ({ items: Array.from({ length: 20_000 }, (_, i) => ({ i })) }),
    })
    const model = scriptedModel([{ calls: [{ name: 'many', arguments: {} }] }, 'Much.'])
    const agent = createAgent({ model, tools: [many] })
    const run = agent.run({ messages: say('go') })
    await run.result
    const result = run.messages.find(({ metadata }) => metadata.tool_result)?.content as {
      assetRef: string
    }
    expect(await agent.assets.resolve(`${result.assetRef}/content/items/19999/i`)).toBe(19_999)
    expect(prompts(model)[1]?.length).toBeLessThan(20_000)
    const events = await agent.log.read(run.conversation)
    expect(JSON.stringify(events)).toContain(`"ref":"${result.assetRef}"`)
  })

  it('stores attachments by their bodies', async () => {
    const agent = createAgent({ model: scriptedModel(['Nice.']) })
    const attachments = [
      { mimeType: 'image/png', dataBase64: PNG.toString('base64'), fileName: 'dot.png' },
      new File(['a,b\n1,2\n'], 'x.csv', { type: 'text/csv' }),
    ]
    const messages = [{ role: 'user', content: 'See', metadata: { attachments } }]
    const run = agent.run({ messages })
    const created = (await eventsOf(run)).flatMap((event) =>
      event.type === 'ASSET_CREATED' ? [event.payload] : [],
    )
    expect(created).toMatchObject([
      { mime: 'image/png', by: 'user', origin: '/metadata/attachments/0', name: 'dot.png' },
      { mime: 'text/csv', by: 'user', origin: '/metadata/attachments/1', name: 'x.csv' },
    ])
    expect(run.messages[0]?.metadata.attachments).toEqual([
      { kind: 'image', mimeType: 'image/png', fileName: 'dot.png', assetRef: created[0]?.ref },
      { kind: 'file', mimeType: 'text/csv', fileName: 'x.csv', assetRef: created[1]?.ref },
    ])
    const broken = { metadata: { attachments: [{ mimeType: 'image/png', dataBase64: '***' }] } }
    await expect(
      agent.run({ messages: [{ role: 'user', content: 'See', ...broken }] }).result,
    ).rejects.toThrow('An attachment is invalid: The body cannot be decoded')
    const paths = ['photos/gauge.png'] as never[]
    await expect(
      createAgent({ model: scriptedModel([]) }).run({
        messages: [{ role: 'user', content: 'Look', metadata: { attachments: paths } }],
      }).result,
    ).rejects.toThrow(/such as a File, .* or await openAsBlob\(path\) of node:fs/)
  })

  it('shows attached images to a model that accepts images, unless resolveInLLM is false', async () => {
    for (const resolveInLLM of [true, false]) {
      const model = { ...scriptedModel(['Nice.']), provider: 'openai.responses' }
      const agent = createAgent({ model, assets: { config: { resolveInLLM } } })
      const { ref, assetId } = await agent.assets.save(PNG)
      const messages = [
        { role: 'user', content: 'See', metadata: { attachments: [{ assetRef: ref }] } },
      ]
      await agent.run({ messages }).result
      const [prompt] = prompts(model)
      expect(prompt?.includes('"type":"file"')).toBe(resolveInLLM)
      expect(prompt).toContain(`[Attached image: asset_id=\\"${assetId}\\"]`)
    }
  })

  it('leaves the only read of a passthrough body to the application', async () => {
    const turns: ScriptedTurn[] = [{ calls: [{ name: 'camera', arguments: {} }] }, 'Nice.']
    const model = { ...scriptedModel(turns), provider: 'openai.responses' }
    const agent = createAgent({
      model,
      tools: [camera],
      assets: { config: { backend: 'passthrough' } },
    })
    const attachments = [{ mimeType: 'image/png', dataBase64: PNG.toString('base64') }]
    const run = agent.run({
      messages: [{ role: 'user', content: 'See', metadata: { attachments } }],
    })
    const refs = (await eventsOf(run)).flatMap((event) =>
      event.type === 'ASSET_CREATED' ? [event.payload.ref] : [],
    )
    expect(refs).toHaveLength(2)
    expect(prompts(model).join()).not.toContain('"type":"file"')
    for (const ref of refs) {
      expect(Buffer.from((await agent.assets.get(ref)).bytes)).toEqual(PNG)
      await expect(agent.assets.get(ref)).rejects.toThrow('it was read before')
    }
  })

  it('knows the assets of a store without records after a restart, in their namespace only', async () => {
    const store = threeMethods()
    const log = createMemoryLog()
    const config = { namespacing: { mode: 'context' } } as const
    const begin = (namespace: string, turns: ScriptedTurn[]) => {
      const assets = { store, config }
      const agent = createAgent({
        model: scriptedModel(turns),
        tools: [camera],
        log,
        assets,
        namespace,
      })
      return { agent, run: agent.run({ conversation: 'c', messages: say('go') }) }
    }
    const before = begin('a', [{ calls: [{ name: 'camera', arguments: {} }] }, 'There.'])
    const refs = (await eventsOf(before.run)).flatMap((event) =>
      event.type === 'ASSET_CREATED' ? [event.payload.ref] : [],
    )
    expect(refs).toHaveLength(1)
    const foreign = begin('b', ['Hm.'])
    await foreign.run.result
    await expect(foreign.agent.assets.get(refs[0] ?? '')).rejects.toThrow('asset')
    const after = begin('a', ['Again.'])
    await after.run.result
    expect(Buffer.from((await after.agent.assets.get(refs[0] ?? '')).bytes)).toEqual(PNG)
  })

  it('shows the model the field that it fetched, and a part of a picture as numbers', async () => {
    const assets = createAssets()
    const image = Uint8Array.from([...PNG, ...Array(300).fill(0)])
    const { ref } = await assets.saveAsset({ content_type: 'data', content: { image } })
    const fetch = (range: object): ScriptedTurn => ({
      calls: [{ name: 'fetch_asset', arguments: { ref: `${ref}/content/image`, ...range } }],
    })
    const turns = [fetch({}), fetch({ start: 0, end: 4 }), fetch({ start: 1 }), 'Done.']
    const model = { ...scriptedModel(turns), provider: 'openai.responses' }
    const agent = createAgent({ model, tools: ['fetch_asset'], assets })
    const run = agent.run({ messages: say('go') })
    await run.result
    const results = run.messages.filter(({ metadata }) => metadata.tool_result)
    const fetched = { assetRef: `${ref}/content/image`, mimeType: 'image/png', fetched: true }
    const note = `These are the first 256 of ${image.length - 1} bytes: ask for fewer.`
    expect(results.map((result) => result.content)).toEqual([
      fetched,
      { ...fetched, start: 0, end: 4, hex: '89 50 4e 47' },
      { ...fetched, start: 1, hex: expect.stringMatching(/^50 4e( ..){254}$/), note },
    ])
    const parts = model.requests.map(({ prompt }) =>
      prompt.flatMap((message) =>
        message.role === 'user' ? message.content.filter((part) => part.type === 'file') : [],
      ),
    )
    expect(parts.map((files) => files.length)).toEqual([0, 1, 0, 0])
    expect(parts[1]?.[0]).toMatchObject({
      mediaType: 'image/png',
      data: { data: Buffer.from(image).toString('base64') },
    })
    expect(prompts(model)[1]).toContain(`ref=\\"${ref}/content/image\\"`)
  })

  it('shows only a preview of a large result, whatever its shape', async () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`key ${i}`, i]))
    const long = 'x'.repeat(100_000)
    const shapes = { wide, list: [wide], deep: { wide: { wide } }, long, items: [long, long, long] }
    for (const value of Object.values(shapes)) {
      const large = defineTool({
        id: 'large',
        description: '',
        inputSchema: { type: 'object' },
        execute: () => value,
      })
      const turns: ScriptedTurn[] = [
        { calls: [{ name: 'large', arguments: {} }] },
        { calls: [{ name: 'large', arguments: { _outputPath: '†memory.large' } }] },
        'Much.',
      ]
      const agent = createAgent({ model: scriptedModel(turns), tools: [large] })
      const run = agent.run({ messages: say('go') })
      await run.result
      for (const { content, metadata } of run.messages) {
        if (metadata.tool_result) expect(JSON.stringify(content).length).toBeLessThan(4_500)
      }
    }
  })

  it('can be cancelled while the stream of a tool is silent', async () => {
    const silent = defineTool({
      id: 'silent',
      description: '',
      inputSchema: { type: 'object' },
      execute: (_, { progress }) => {
        progress('streaming')
        return new ReadableStream({ pull: () => new Promise(() => {}) })
      },
    })
    const turns: ScriptedTurn[] = [{ calls: [{ name: 'silent', arguments: {} }] }, 'Done.']
    const agent = createAgent({ model: scriptedModel(turns), tools: [silent] })
    const run = agent.run({ messages: say('go') })
    for await (const event of run) {
      if (event.type === 'TOOL_PROGRESS') setTimeout(run.cancel, 10)
    }
    expect(await run.result).toMatchObject({ reason: 'cancelled' })
  })

  it('keeps bodies in parts and in metadata by reference', async () => {
    const model = { ...scriptedModel(['Nice.']), provider: 'openai.responses' }
    const agent = createAgent({ model })
    const url = `data:image/png;base64,${PNG.toString('base64')}`
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url, detail: 'low' } },
    ]
    const run = agent.run({ messages: [{ role: 'user', content, metadata: { icon: url, x: 1 } }] })
    await run.result
    const [message] = run.messages
    expect(message?.content).toEqual([
      content[0],
      {
        type: 'image_url',
        image_url: {
          url: expect.stringMatching(/^asset:/),
          detail: 'low',
          mimeType: 'image/png',
        },
      },
    ])
    expect(message?.metadata).toMatchObject({ icon: { mimeType: 'image/png' }, x: 1 })
    expect(JSON.stringify(await agent.log.read(run.conversation))).not.toContain('iVBOR')
    expect(prompts(model)[0]).toContain('"type":"file"')
  })

  it('does not copy bytes next to a reference, at any depth', async () => {
    const base64 = PNG.toString('base64')
    const copies = defineTool({
      id: 'copies',
      description: '',
      inputSchema: { type: 'object' },
      execute: async (_, { assets }) => {
        const { ref } = await assets.save(new Uint8Array(PNG))
        const dataUrl = `data:image/png;base64,${base64}`
        return {
          files: [{ assetRef: ref, dataUrl, note: 'kept' }],
          raw: { assetRef: ref, mimeType: 'image/png', dataBase64: base64 },
        }
      },
    })
    const turns: ScriptedTurn[] = [{ calls: [{ name: 'copies', arguments: {} }] }, 'Done.']
    const model = scriptedModel(turns)
    const agent = createAgent({ model, tools: [copies] })
    const run = agent.run({ messages: say('go') })
    await run.result
    const result = run.messages.find(({ metadata }) => metadata.tool_result)
    expect(result?.content).toMatchObject({
      files: [{ note: 'kept' }],
      raw: { mimeType: 'image/png' },
    })
    expect(JSON.stringify(await agent.log.read(run.conversation))).not.toContain('iVBOR')
    expect(prompts(model).join()).not.toContain('iVBOR')
  })

  it('keeps results up to the size that a tool allows, and does not offload pages', async () => {
    const sized = (id: string, maxResultChars: number) =>
      defineTool({
        id,
        description: '',
        inputSchema: { type: 'object' },
        maxResultChars,
        execute: () => ({ text: 'x'.repeat(50_000) }),
      })
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from('\u0001'.repeat(16_000)), 'text/plain')
    const call = (name: string, args = {}): ScriptedTurn => ({ calls: [{ name, arguments: args }] })
    const turns = [
      call('small'),
      call('large'),
      call('fetch_asset', { ref, format: 'text' }),
      'Ok.',
    ]
    const agent = createAgent({
      model: scriptedModel(turns),
      tools: [sized('small', 100), sized('large', 100_000), 'fetch_asset'],
      assets,
    })
    const run = agent.run({ messages: say('go') })
    await run.result
    const results = run.messages.filter(({ metadata }) => metadata.tool_result)
    expect(results.map(({ content }) => Object.keys(content as object)[0])).toEqual([
      'assetRef',
      'text',
      'assetRef',
    ])
    expect(results[2]?.content).toMatchObject({ text: '\u0001'.repeat(16_000) })
  })
})

it('shows the name and the description of a text that a tool saved', async () => {
  const write = defineTool({
    id: 'write',
    description: 'Writes a text',
    inputSchema: { type: 'object', properties: {} },
    async execute(_, { assets }) {
      const content = 'What the body says'
      const about = { asset_name: 'plan.txt', description: 'The plan for May' }
      const { ref } = await assets.saveAsset({ ...about, content_type: 'text/plain', content })
      return { assetRef: ref }
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'write', arguments: {} }] }, 'Done.'])
  const agent = createAgent({ model, tools: [write] })
  await agent.run({ messages: say('go') }).result
  expect(prompts(model)[1]).toMatch(/The plan for May/)
  expect(prompts(model)[1]).toMatch(/plan\.txt/)
  expect(prompts(model)[1]).not.toMatch(/What the body says|Uint8Array/)
})
