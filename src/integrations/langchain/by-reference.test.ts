import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import {
  Command,
  MemorySaver,
  MessagesDeltaValue,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { createAssets } from '../../assets/create-assets.ts'
import { byReference } from './by-reference.ts'
import { refIn, scriptedChat, textOf, type WrittenCall } from './fixtures/scripted-chat.ts'

const PICTURE = Buffer.alloc(1_000_000, 250)
PICTURE.set([137, 80, 78, 71, 13, 10, 26, 10])
const ROWS = Array.from({ length: 20_000 }, (_, id) => ({ id, city: `city ${id}` }))
const USER = { messages: [{ role: 'user', content: 'Go' }] }
const THREAD = { configurable: { thread_id: 't' } }

const photograph = tool(() => ({ taken: 'today', mimeType: 'image/png', data: PICTURE }), {
  name: 'photograph',
  description: 'Takes a photo',
  schema: z.object({}),
})
const rows = tool(() => ({ rows: ROWS }), { name: 'rows', schema: z.object({}) })
const size = tool(({ image }) => `${Buffer.from(image, 'base64').length} bytes`, {
  name: 'size',
  schema: z.object({ image: z.string() }),
})
const count = tool(({ list }) => `${list.length} rows`, {
  name: 'count',
  schema: z.object({ list: z.array(z.object({ id: z.number(), city: z.string() })) }),
})

const calls = (name: string, args: Record<string, unknown> = {}): WrittenCall[] => [{ name, args }]
const passes =
  (name: string, key: string, path = '') =>
  (messages: BaseMessage[]) =>
    calls(name, { [key]: `${refIn(textOf(messages))}${path}` })

/** A folder for one test. */
function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'byref-langchain-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Everything that a saver has stored of all threads, as text. */
function storedIn(saver: MemorySaver): string {
  const values = [...Object.values(saver.storage), ...Object.values(saver.writes)]
  const texts: string[] = []
  const visit = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString())
    else if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit)
  }
  values.forEach(visit)
  return texts.join('\n')
}

describe('byReference in an agent', () => {
  it('keeps results of 1 MB out of state, checkpoints and prompts, and passes them on', async () => {
    const { model, requests } = scriptedChat([
      calls('photograph'),
      passes('size', 'image'),
      calls('rows'),
      passes('count', 'list', '/content/rows'),
      'Done.',
    ])
    const checkpointer = new MemorySaver()
    const refs = byReference()
    const agent = createAgent({
      model,
      checkpointer,
      middleware: [refs.middleware],
      tools: refs.tools([photograph, size, rows, count]),
    })
    const { messages } = await agent.invoke(USER, THREAD)
    const results = messages.filter(ToolMessage.isInstance).map(({ text }) => text)
    expect(JSON.parse(results[0] ?? '')).toMatchObject({ taken: 'today', mimeType: 'image/png' })
    expect(results[1]).toBe('1000000 bytes')
    expect(results[2]).toMatch(/"offloaded":true,"preview":.*"city 0"/)
    expect(results[3]).toBe('20000 rows')
    expect(JSON.stringify(requests().at(-1)).length).toBeLessThan(12_000)
    expect(storedIn(checkpointer).length).toBeLessThan(120_000)
    const { bytes } = await refs.assets.get(refIn(results[0] ?? ''))
    expect(PICTURE.equals(bytes)).toBe(true)
  })

  it('is continued by another process after a kill', async () => {
    const folder = temporary()
    const script = fileURLToPath(new URL('fixtures/killed-agent.ts', import.meta.url))
    const run = (how: string) =>
      promisify(execFile)(
        process.execPath,
        ['--conditions=byref-source', '--no-warnings', script, folder, how],
        { timeout: 60_000 },
      )
    await expect(run('die')).rejects.toMatchObject({ signal: 'SIGKILL' })
    const database = await readFile(join(folder, 'threads.sqlite'))
    expect(database.length).toBeLessThan(100_000)
    expect((await run('go on')).stdout.trim()).toBe('1000000 bytes')
  }, 120_000)

  it.each(['values', 'updates', 'messages', 'tools'] as const)(
    'streams references: %s',
    async (streamMode) => {
      const { model } = scriptedChat([calls('photograph'), passes('size', 'image'), 'Done.'])
      const agent = createAgent({
        model,
        tools: [photograph, size],
        middleware: [byReference().middleware],
      })
      let streamed = ''
      for await (const chunk of await agent.stream(USER, { streamMode }))
        streamed += JSON.stringify(chunk)
      expect(streamed).toContain('asset://')
      expect(streamed).toContain('1000000 bytes')
      expect(streamed.length).toBeLessThan(20_000)
    },
  )

  it('stores results of parallel calls, and equal ones once', async () => {
    const { model } = scriptedChat([
      [...calls('photograph'), ...calls('rows'), ...calls('photograph')],
      'Done.',
    ])
    const refs = byReference()
    const agent = createAgent({ model, tools: [photograph, rows], middleware: [refs.middleware] })
    const { messages } = await agent.invoke(USER)
    const found = messages.filter(ToolMessage.isInstance).map(({ text }) => refIn(text))
    expect(found[0]).toBe(found[2])
    expect(new Set(found).size).toBe(2)
    expect((await refs.assets.list()).assets).toHaveLength(2)
  })

  it('asks a person about references, and runs the call with values', async () => {
    const { model } = scriptedChat([calls('photograph'), passes('size', 'image'), 'Done.'])
    const checkpointer = new MemorySaver()
    const approval = humanInTheLoopMiddleware({ interruptOn: { size: true } })
    const agent = createAgent({
      model,
      checkpointer,
      tools: [photograph, size],
      middleware: [byReference().middleware, approval],
    })
    const asked = await agent.invoke(USER, THREAD)
    const [question] =
      (asked as { __interrupt__?: { value: { actionRequests: { args: object }[] } }[] })
        .__interrupt__ ?? []
    expect(question?.value.actionRequests[0]?.args).toEqual({
      image: expect.stringMatching(/^asset:/),
    })
    const { messages } = await agent.invoke(
      new Command({ resume: { decisions: [{ type: 'approve' }] } }) as never,
      THREAD,
    )
    expect(textOf(messages)).toBe('1000000 bytes')
    expect(storedIn(checkpointer).length).toBeLessThan(60_000)
  })

  it('shows errors of tools and references to the model, as without it', async () => {
    const broken = tool(
      () => {
        throw new Error('no film')
      },
      { name: 'broken', schema: z.object({}) },
    )
    const loud = tool(() => Promise.reject(new Error('x'.repeat(200_000))), {
      name: 'loud',
      schema: z.object({}),
    })
    const answers = [
      calls('broken'),
      calls('size', { image: 'asset://nothing' }),
      calls('size', { image: 7 }),
      calls('loud'),
      'Done.',
    ]
    const run = async (middleware: ReturnType<typeof byReference>['middleware'][]) => {
      const agent = createAgent({
        model: scriptedChat(answers).model,
        tools: [broken, size, loud],
        middleware,
      })
      return (await agent.invoke(USER)).messages.filter(ToolMessage.isInstance)
    }
    const [failed, missing, wrong, long] = await run([byReference().middleware])
    const [bare] = await run([])
    expect(failed).toMatchObject({ content: bare?.content, status: 'error', name: 'broken' })
    expect(missing).toMatchObject({
      status: 'error',
      content: expect.stringContaining('no asset "nothing"'),
    })
    expect(wrong).toMatchObject({
      status: 'error',
      content: expect.stringMatching(/"size".*\/image/),
    })
    expect(long?.text.length).toBeLessThan(5_000)
  })

  it('changes nothing while results are small, and then only adds to prompts', async () => {
    const { model, requests, tools } = scriptedChat([
      calls('size', { image: 'aaaa' }),
      calls('photograph'),
      calls('size', { image: 'aaaa' }),
      'Done.',
    ])
    const agent = createAgent({
      model,
      tools: [photograph, size],
      middleware: [byReference().middleware],
      systemPrompt: 'Be brief',
    })
    await agent.invoke(USER)
    const [, small, first, second] = requests().map((one) =>
      one.map(({ type, content }) => ({ type, content })),
    )
    expect(JSON.stringify(small)).not.toContain('References')
    expect(JSON.stringify(first)).toContain('## References')
    expect(second?.slice(0, first?.length)).toEqual(first)
    expect(tools[1]?.map(({ name }) => name)).toEqual(['photograph', 'size'])
    expect(tools[2]?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['fetch_asset', 'search_asset']),
    )
  })

  it('lets a model read and search a result, and look at an image once', async () => {
    const seen = (messages: BaseMessage[]) =>
      JSON.stringify(messages.at(-1)?.content).includes('data:image/png')
    const looks: boolean[] = []
    const look = (next: WrittenCall[] | string) => (messages: BaseMessage[]) => {
      looks.push(seen(messages))
      return next
    }
    const { model } = scriptedChat([
      calls('rows'),
      (messages) => calls('search_asset', { ref: refIn(textOf(messages)), query: 'city 19999' }),
      calls('photograph'),
      (messages) => calls('fetch_asset', { ref: refIn(textOf(messages)) }),
      look(calls('photograph')),
      look('Done.'),
    ])
    const checkpointer = new MemorySaver()
    const agent = createAgent({
      model,
      checkpointer,
      tools: [photograph, rows],
      middleware: [byReference().middleware],
    })
    const { messages } = await agent.invoke(USER, THREAD)
    expect(messages.filter(ToolMessage.isInstance)[1]?.text).toContain('city 19999')
    expect(looks).toEqual([true, false])
    expect(storedIn(checkpointer).length).toBeLessThan(150_000)
  })

  it('lets a model look at the files in a result that became one reference', async () => {
    const album = tool(
      () => ({
        rows: ROWS,
        images: [{ mimeType: 'image/png', data: PICTURE.subarray(0, 99) }],
        notes: [{ mimeType: 'text/plain', data: new TextEncoder().encode('sunny '.repeat(9)) }],
      }),
      { name: 'album', schema: z.object({}) },
    )
    const { model, requests } = scriptedChat([
      calls('album'),
      passes('fetch_asset', 'ref', '/content/images/0'),
      (messages) =>
        calls('fetch_asset', {
          ref: `${refIn(textOf(messages.slice(0, 3)))}/content/notes/0`,
        }),
      'Done.',
    ])
    const { middleware } = byReference()
    await createAgent({ model, tools: [album], middleware: [middleware] }).invoke(USER)
    expect(JSON.stringify(requests().at(-2)?.at(-1))).toContain('data:image/png')
    expect(requests().at(-1)?.at(-1)?.text).toContain('sunny')
  })

  it('reports that a model accepts no images', async () => {
    const { model, requests } = scriptedChat([
      calls('photograph'),
      (messages) => calls('fetch_asset', { ref: refIn(textOf(messages)) }),
      'Done.',
    ])
    Object.defineProperty(model, 'profile', { value: { imageInputs: false } })
    const agent = createAgent({
      model,
      tools: [photograph],
      middleware: [byReference().middleware],
    })
    await agent.invoke(USER)
    expect(JSON.stringify(requests().at(-1))).toMatch(/\[not shown: image\/png, asset:/)
  })

  it.each([
    ['image_url', (ref: string) => ({ type: 'image_url', image_url: { url: ref } })],
    ['image_url as text', (ref: string) => ({ type: 'image_url', image_url: ref })],
    ['image', (ref: string) => ({ type: 'image', url: ref })],
    ['file', (ref: string) => ({ type: 'file', url: ref, mimeType: 'image/png' })],
  ])('shows the images that people refer to, in a block of %s', async (_, block) => {
    const refs = byReference()
    const { ref } = await refs.assets.save(PICTURE, 'image/png')
    const { model, requests } = scriptedChat(['I see.'])
    const checkpointer = new MemorySaver()
    const agent = createAgent({ model, checkpointer, tools: [], middleware: [refs.middleware] })
    await agent.invoke({ messages: [new HumanMessage({ content: [block(ref)] })] }, THREAD)
    expect(JSON.stringify(requests()[0])).toContain(PICTURE.toString('base64'))
    expect(storedIn(checkpointer).length).toBeLessThan(20_000)
  })

  it('names other files that people attach', async () => {
    const refs = byReference()
    const { ref } = await refs.assets.save(Buffer.from('%PDF-1.7'), 'application/pdf')
    const { model, requests } = scriptedChat(['I see.'])
    const agent = createAgent({ model, tools: [], middleware: [refs.middleware] })
    const content = [{ type: 'file' as const, url: ref, mimeType: 'application/pdf' }]
    await agent.invoke({ messages: [new HumanMessage({ content })] })
    expect(JSON.stringify(requests()[0])).toContain(`[not shown: application/pdf, ${ref}]`)
  })

  it('continues a thread whose image no longer exists', async () => {
    const { model, requests } = scriptedChat(['I see nothing.'])
    const agent = createAgent({ model, tools: [], middleware: [byReference().middleware] })
    const content = [{ type: 'image_url', image_url: { url: 'asset://gone' } }]
    await agent.invoke({ messages: [new HumanMessage({ content })] })
    expect(JSON.stringify(requests()[0])).toContain('[not shown: There is no asset')
  })
})

describe('tools of LangChain by reference', () => {
  const assets = createAssets()
  const refs = byReference({ assets })
  const long = 'x'.repeat(20_000)
  const call = async (given: Parameters<typeof refs.tools>[0][number], args: object = {}) => {
    const [made] = refs.tools([given])
    return Object(made).invoke({ id: 'c', name: 'given', args, type: 'tool_call' })
  }

  it('stores content and artifact, messages, blocks, JSON in text and yields', async () => {
    const schema = z.object({})
    const pair = await call(
      tool(() => [long, { bytes: PICTURE }], {
        name: 'pair',
        schema,
        responseFormat: 'content_and_artifact',
      }),
    )
    expect(pair.content).toContain('"offloaded":true')
    expect(pair.artifact.bytes).toMatchObject({ assetRef: expect.stringMatching(/^asset:/) })
    const message = await call(
      tool(() => new ToolMessage({ content: long, tool_call_id: 'c', status: 'error' }), {
        name: 'message',
        schema,
      }),
    )
    expect(message).toMatchObject({
      status: 'error',
      tool_call_id: 'c',
      content: expect.stringContaining('asset://'),
    })
    expect(JSON.stringify(message).length).toBeLessThan(2_000)
    const block = {
      type: 'image',
      source_type: 'base64',
      mime_type: 'image/png',
      data: PICTURE.toString('base64'),
    }
    const blocks = await call(
      tool(() => [{ type: 'text', text: 'a' }, block], { name: 'blocks', schema }),
    )
    expect(blocks.content).toMatch(/"assetRef":"asset:/)
    const text = await call(tool(() => JSON.stringify({ rows: ROWS }), { name: 'text', schema }))
    expect(await assets.resolve(`${refIn(text.content)}/content/rows/7/city`)).toBe('city 7')
    const yields = tool(
      async function* () {
        yield 'half'
        return long
      },
      { name: 'yields', schema },
    )
    expect((await call(yields)).content).toContain('"offloaded":true')
    const small = await call(tool(() => [{ type: 'text', text: 'a' }], { name: 'small', schema }))
    expect(small.content).toEqual([{ type: 'text', text: 'a' }])
  })

  it('accepts schemas of zod 3, plain text, and the types that a parameter requires', async () => {
    const { ref } = await assets.save(PICTURE, 'image/png')
    const old = tool(({ image, n }) => `${image.length} ${n}`, {
      name: 'old',
      schema: z3.object({ image: z3.string(), n: z3.number().default(3) }),
    })
    expect((await call(old, { image: ref })).content).toBe('1333336 3')
    const plain = tool((text: string) => `${text.length}`, { name: 'plain', description: 'Counts' })
    expect((await call(plain, { input: ref })).content).toBe('1333336')
    const image = z.custom<Uint8Array>().meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' })
    const bytes = tool(({ image }) => `${image.byteLength}`, {
      name: 'bytes',
      schema: z.object({ image }),
    })
    expect((await call(bytes, { image: ref })).content).toBe('1000000')
  })

  it('does not change commands, tools of a provider and headless tools', async () => {
    const command = new Command({ update: { messages: [] } })
    expect(await call(tool(() => command, { name: 'command', schema: z.object({}) }))).toBe(command)
    const provider = { type: 'web_search' }
    const headless = tool(() => 'x', {
      name: 'headless',
      schema: z.object({}),
      metadata: { headlessTool: true },
    })
    expect(refs.tools([provider, headless])).toEqual([provider, headless])
  })

  it('rejects tools in another form', () => {
    expect(() => refs.tools({ size } as never)).toThrow(/must be an array/)
  })

  it('keeps namespaces apart, and adds edit_asset', async () => {
    const root = byReference({ editing: true })
    const [ada, bob] = ['ada', 'bob'].map((user) => root.scoped(user))
    for (const unknown of [undefined, '', '..']) {
      expect(() => root.scoped(unknown as string)).toThrow(/is not a valid namespace/)
    }
    const { ref } = await (ada as typeof root).assets.save(PICTURE, 'image/png')
    const measured = (of: typeof root | undefined) => {
      const [made] = of?.tools([size]) ?? []
      return Object(made).invoke({ id: 'c', name: 'size', args: { image: ref }, type: 'tool_call' })
    }
    expect((await measured(ada)).content).toBe('1000000 bytes')
    await expect(measured(bob)).rejects.toThrow(/no asset/)
    expect(bob?.readingTools.map(({ name }) => name)).toContain('edit_asset')
  })
})

describe('a graph of LangGraph by reference', () => {
  it('continues over SQLite with deltas of messages', async () => {
    const folder = temporary()
    const file = join(folder, 'threads.sqlite')
    const assets = createAssets()
    const graphOf = (answers: Parameters<typeof scriptedChat>[0]) => {
      const refs = byReference({ assets })
      const tools = [...refs.tools([photograph, size]), ...refs.readingTools] as never[]
      const { model, requests } = scriptedChat(answers)
      const graph = new StateGraph(new StateSchema({ messages: MessagesDeltaValue }))
        .addNode('model', async ({ messages }) => {
          const prompt = [new SystemMessage('Be brief'), ...(await refs.prompt(messages))]
          return { messages: [await model.bindTools(tools).invoke(prompt)] }
        })
        .addNode('tools', new ToolNode(tools))
        .addEdge(START, 'model')
        .addConditionalEdges('model', toolsCondition)
        .addEdge('tools', 'model')
        .compile({ checkpointer: SqliteSaver.fromConnString(file) })
      return { graph, requests }
    }
    await graphOf([calls('photograph'), 'Taken.']).graph.invoke(USER, THREAD)
    const { graph, requests } = graphOf([
      (messages) => calls('size', { image: refIn(textOf(messages)) }),
      'Done.',
    ])
    const { messages } = await graph.invoke(USER, THREAD)
    expect(textOf(messages)).toBe('1000000 bytes')
    expect(messages.filter(AIMessage.isInstance)).toHaveLength(4)
    expect(JSON.stringify(requests().at(-1))).toContain('## References')
    expect((await readFile(file)).length).toBeLessThan(100_000)
  })
})
