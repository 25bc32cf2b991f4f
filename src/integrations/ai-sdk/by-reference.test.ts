import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import {
  convertToModelMessages,
  dynamicTool,
  generateText,
  isStepCount,
  type ModelMessage,
  readUIMessageStream,
  streamText,
  ToolLoopAgent,
  type ToolSet,
  tool,
  toUIMessageStream,
  type UIMessage,
} from 'ai'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../../assets/create-assets.ts'
import { PNG } from '../../assets/fixtures/stores.ts'
import type { ScriptedTurn } from '../../testing/scripted-model.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { byReference } from './by-reference.ts'
import { calls } from './fixtures/models.ts'

const rows = Array.from({ length: 3000 }, (_, i) => ({ id: i, name: `Row number ${i}` }))
const png = new Uint8Array(PNG)
const none = z.object({})
const weather = tool({
  description: 'The weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: city.length }),
})
const table = tool({ inputSchema: none, execute: () => rows })
const photo = tool({ inputSchema: none, execute: () => ({ caption: 'A dot', image: png }) })

/** A tool that stores its inputs. */
function keeper<Input>(inputSchema: z.ZodType<Input>) {
  const given: Input[] = []
  const execute = (input: Input): string => {
    given.push(input)
    return 'kept'
  }
  return { given, keep: tool({ inputSchema, execute } as never) }
}

const seeing = { takes: ['image/*'] }
const many = isStepCount(10)

async function run<Tools extends ToolSet>(
  turns: readonly ScriptedTurn[],
  tools: Tools,
  {
    refs = byReference({ capabilities: seeing }),
    ...more
  }: Record<string, unknown> & { refs?: ReturnType<typeof byReference> } = {},
) {
  const model = scriptedModel(turns)
  const asked = { prompt: 'Go', ...more } as { prompt: string }
  const result = await generateText({
    ...asked,
    model: refs.model(model),
    tools: refs.tools(tools),
    stopWhen: many,
  })
  return { model, result, refs, prompts: model.requests.map(({ prompt }) => prompt) }
}

const shownTo = (prompt: LanguageModelV4Prompt | undefined): string => JSON.stringify(prompt)

/** The result of each call in a prompt. */
function outputs(prompt: LanguageModelV4Prompt | undefined): unknown[] {
  const tools = prompt?.filter((message) => message.role === 'tool') ?? []
  return tools.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'tool-result' ? part.output : [])),
  )
}

describe('byReference', () => {
  it('rejects the name of a model, and tools that are not objects', () => {
    const refs = byReference()
    const error = expect.objectContaining({ code: 'config_invalid' })
    expect(() => refs.model('openai/gpt-5-mini' as never)).toThrow(error)
    expect(() => refs.model('openai/gpt-5-mini' as never)).toThrow('gateway("openai/gpt-5-mini")')
    expect(() => refs.model(undefined as never)).toThrow(error)
    expect(() => refs.tools({ weather: 5 as never })).toThrow(error)
    expect(() => refs.tools([weather] as never)).toThrow(
      'The tools of byReference must be an object',
    )
  })

  it('does not change prompts without anything to reference', async () => {
    const turns = [calls(['weather', { city: 'Oslo' }], ['weather', { city: 'Rome' }]), 'Fine.']
    const plain = scriptedModel(turns)
    await generateText({ model: plain, tools: { weather }, prompt: 'Go', stopWhen: many })
    const { prompts, model, result } = await run(turns, { weather })
    expect(prompts).toEqual(plain.requests.map(({ prompt }) => prompt))
    expect(plain.requests.map(({ tools }) => tools)).toMatchObject(
      model.requests.map(({ tools }) => tools),
    )
    expect(model.requests[0]?.tools).toMatchObject([
      { inputSchema: { additionalProperties: false } },
    ])
    expect(result.text).toBe('Fine.')
  })

  it('shows bodies and long results as references, and the app gets the original values', async () => {
    const turns = [calls(['table', {}], ['photo', {}]), 'Done.']
    const { prompts, model, result } = await run(turns, { table, photo })
    const [offloaded, picture] = outputs(prompts[1])
    expect(offloaded).toMatchObject({
      type: 'text',
      value: expect.stringMatching(/^†result#1\n\{"assetRef":"asset:.*"offloaded":true,"preview":/),
    })
    expect(picture).toMatchObject({
      type: 'json',
      value: { caption: 'A dot', image: { assetRef: expect.stringMatching(/^asset:/) } },
    })
    expect(shownTo(prompts[1]).length).toBeLessThan(3000)
    const file = prompts[1]
      ?.flatMap(({ content }) => content as object[])
      .find((part) => Object(part).type === 'file')
    expect(file).toMatchObject({
      mediaType: 'image/png',
      data: { data: Buffer.from(png).toString('base64') },
    })
    const names = model.requests.map(({ tools }) => tools?.map(({ name }) => name))
    expect(names).toEqual([
      ['table', 'photo'],
      ['table', 'photo', 'fetch_asset', 'search_asset', 'query_tables'],
    ])
    const [first, second] = result.steps[0]?.toolResults ?? []
    expect(first?.output).toBe(rows)
    expect(Object(second?.output).image).toBe(png)
    expect(JSON.stringify(result.responseMessages).length).toBeLessThan(2000)
  })

  it('shows each result of calls that share an id', async () => {
    const turn = ['Oslo', 'Rome'].map((city) => ({ id: 'c', name: 'say', arguments: { city } }))
    const say = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => `${city} `.repeat(100),
    })
    const { prompts } = await run([{ calls: turn }, 'Done.'], { say })
    expect(outputs(prompts[1])).toMatchObject([
      { value: expect.stringMatching(/^†result#1\n.*Oslo/) },
      { value: expect.stringMatching(/^†result#2\n.*Rome/) },
    ])
  })

  it('edits assets and results if editing is on', async () => {
    const refs = byReference({ editing: true })
    const { ref } = await refs.assets.save(Buffer.from('one two'), 'text/plain')
    const model = scriptedModel([
      calls(['table', {}]),
      calls(['edit_asset', { ref, edits: [{ find: 'two', replace: 'three' }] }]),
      calls([
        'edit_asset',
        { ref: '†result#1', edits: [{ op: 'replace', path: '/0/name', value: 'new' }] },
      ]),
      'Done.',
    ])
    const { steps } = await generateText({
      model: refs.model(model),
      tools: refs.tools({ table }),
      prompt: 'Go',
      stopWhen: many,
    })
    const [text, data] = steps.slice(1, 3).map(({ toolResults }) => Object(toolResults[0]?.output))
    expect(await refs.assets.resolve(text.assetRef)).toBe('one three')
    expect(await refs.assets.resolve(`${data.assetRef}/0/name`)).toBe('new')
    expect(shownTo(model.requests[3]?.prompt)).toContain('+one three')
    expect(byReference().tools({ table })).not.toHaveProperty('edit_asset')
  })

  it('keeps the types of tools', () => {
    const refs = byReference()
    const tools = refs.tools({ weather, photo })
    expectTypeOf(tools.weather).toEqualTypeOf(weather)
    expectTypeOf(tools.photo).toEqualTypeOf(photo)
    expect(Object.keys(tools)).toEqual([
      'weather',
      'photo',
      'fetch_asset',
      'search_asset',
      'query_tables',
    ])
    const fetch_asset = tool({ inputSchema: none, execute: () => 'mine' })
    expectTypeOf(refs.tools({ fetch_asset }).fetch_asset).toEqualTypeOf(fetch_asset)
  })

  it('resolves variables, references and embedded references in parameters', async () => {
    const { keep, given } = keeper(
      z.object({
        rows: z.array(z.object({ id: z.number(), name: z.string() })),
        degrees: z.number().int(),
        note: z.string(),
        image: z.custom<Uint8Array>().meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' }),
        data: z.object({ caption: z.string() }).loose(),
      }),
    )
    const input = {
      rows: '†result#2',
      degrees: '†result#1.temperature',
      note: 'In <|†result#1.city|> and \\†result',
      image: '†result#3.image',
      data: '†result#3',
    }
    const turns = [
      calls(['weather', { city: 'Oslo' }], ['table', {}], ['photo', {}]),
      calls(['keep', input]),
      'Done.',
    ]
    const { prompts, result } = await run(turns, { weather, table, photo, keep })
    expect(outputs(prompts[2]).at(-1)).toEqual({ type: 'text', value: 'kept' })
    expect(given).toMatchObject([{ rows, degrees: 4, note: 'In Oslo and †result', image: png }])
    // The app sees the model's own arguments.
    expect(result.steps[1]?.toolCalls[0]?.input).toEqual(input)
  })

  it('passes files as text to tools that do not know references', async () => {
    const data = Buffer.from(png).toString('base64')
    const assets = createAssets()
    const { ref } = await assets.save(png, 'image/png')
    const draw = tool({ inputSchema: none, execute: () => ({ image: data }) })
    const { keep, given } = keeper(
      z.object({
        image: z.base64().optional(),
        url: z.url().optional(),
        text: z.string().optional(),
      }),
    )
    const turns = [
      calls(['draw', {}]),
      calls(['keep', { image: '†result#1.image' }], ['keep', { image: ref }]),
      calls(['keep', { url: ref }]),
      calls(['keep', { text: `![](data:image/png;base64,<|${ref}|>)` }]),
      'Done.',
    ]
    const { prompts } = await run(turns, { draw, keep }, { refs: byReference({ assets }) })
    const url = `data:image/png;base64,${data}`
    expect(given).toEqual([{ image: data }, { image: data }, { url }, { text: `![](${url})` }])
    expect(shownTo(prompts.at(-1))).not.toContain('iVBOR')
  })

  it('passes the reference if a schema requires it, and rejects unknown forms', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(png, 'image/png')
    const as = (form: string) =>
      keeper(
        z.object({ file: z.string().meta({ asset_ref_acceptable: true, asset_ref_as: form }) }),
      )
    const refs = byReference({ assets })
    const { keep, given } = as('ref')
    await run([calls(['keep', { file: ref }]), 'Done.'], { keep }, { refs })
    expect(given).toEqual([{ file: ref }])
    await expect(run(['Done.'], { keep: as('base64').keep }, { refs })).rejects.toThrow(
      /The tool "keep".*asset_ref_as.*"base64"/s,
    )
  })

  it('tells the model what is wrong with a reference or its value', async () => {
    const { keep, given } = keeper(z.object({ n: z.number() }))
    const turns = [
      calls(['weather', { city: 'Oslo' }]),
      calls(
        ['keep', { n: '†result#7' }],
        ['keep', { n: '†result#1.wind' }],
        ['keep', { n: '†result#1.city' }],
      ),
      'Sorry.',
    ]
    const { prompts, result } = await run(turns, { weather, keep })
    const [, unknown, field, misfit] = outputs(prompts[2]).map((one) => Object(one).value)
    expect(unknown).toBe('VariableError: There is no result †result#7. Results: †result#1.')
    expect(field).toContain('temperature')
    expect(misfit).toMatch(/"keep" do not match its schema: \/n: .*number/)
    expect(given).toEqual([])
    expect(result.text).toBe('Sorry.')
  })

  it('reads results of earlier requests from the messages, in any stored form', async () => {
    const assets = createAssets()
    const first = byReference({ assets })
    const before = await run([calls(['table', {}]), 'A table.'], { table }, { refs: first })
    const { keep, given } = keeper(z.object({ row: z.object({ id: z.number() }).loose() }))
    const kept = JSON.parse(JSON.stringify(before.result.responseMessages)) as ModelMessage[]
    const messages = [{ role: 'user', content: 'Go' }, ...kept, { role: 'user', content: 'More' }]
    const turns = [calls(['keep', { row: '†result#1[2999]' }]), 'Done.']
    const second = byReference({ assets })
    const after = await run(turns, { table, keep }, { refs: second, messages, prompt: undefined })
    expect(given).toEqual([{ row: rows[2999] }])
    expect(after.prompts[0]?.slice(0, 3)).toEqual(before.prompts[1]?.slice(0, 3))
  })

  it('shows messages from a browser as they were shown before', async () => {
    const assets = createAssets()
    const data = Buffer.from(png).toString('base64')
    const draw = tool({ inputSchema: none, execute: () => ({ mimeType: 'image/png', data }) })
    async function ask(turns: readonly ScriptedTurn[], messages: UIMessage[]) {
      const refs = byReference({ assets, capabilities: seeing })
      const tools = refs.tools({ table, draw })
      const model = scriptedModel(turns)
      const result = streamText({
        model: refs.model(model),
        tools,
        stopWhen: many,
        messages: await convertToModelMessages(messages, { tools }),
      })
      let message: UIMessage | undefined
      for await (message of readUIMessageStream({
        stream: toUIMessageStream({ stream: result.stream }),
      }));
      return { model, message: JSON.parse(JSON.stringify(message)) as UIMessage }
    }
    const question: UIMessage = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Go' }] }
    const before = await ask([calls(['table', {}], ['draw', {}]), 'Here.'], [question])
    expect(JSON.stringify(before.message)).toContain(data)
    const again: UIMessage = { ...question, id: 'u2' }
    const after = await ask(['Again.'], [question, before.message, again])
    const [prompt, same] = [before.model.requests[1]?.prompt, after.model.requests[0]?.prompt]
    expect(same?.slice(0, prompt?.length)).toEqual(prompt)
  })

  it('starts each prompt with the previous one', async () => {
    const step = (i: number) =>
      calls([
        ['weather', 'table', 'photo'][i % 3] as string,
        i % 3 === 0 ? { city: 'x'.repeat(300) } : {},
      ])
    const turns = [...Array.from({ length: 8 }, (_, i) => step(i)), 'Done.']
    const { prompts } = await run(turns, { weather, table, photo })
    for (const [i, prompt] of prompts.slice(1).entries()) {
      expect(prompt.slice(0, prompts[i]?.length)).toEqual(prompts[i])
    }
    expect(shownTo(prompts.at(-1)).match(/## References/g)).toHaveLength(3)
    expect(shownTo(prompts.at(-1)).match(/\[same image as above/g)).toHaveLength(1)
  })

  it('runs tools with the input as their schemas transform it', async () => {
    const given: unknown[] = []
    const inputSchema = z.object({ n: z.string().transform((text) => BigInt(text)) })
    const count = tool({ inputSchema, execute: ({ n }) => String(given.push(n)) })
    const { result } = await run([calls(['count', { n: '12' }]), 'Done.'], { count })
    expect([given, result.text]).toEqual([[12n], 'Done.'])
  })

  it('streams preliminary results, also of a call with references', async () => {
    const count = tool({
      inputSchema: z.object({ to: z.number() }),
      async *execute({ to }) {
        for (let i = 1; i <= to; i++) yield { at: i }
      },
    })
    const refs = byReference()
    const model = scriptedModel([
      calls(['weather', { city: 'No' }]),
      calls(['count', { to: 2 }], ['count', { to: '†result#1.temperature' }]),
      'Done.',
    ])
    const tools = refs.tools({ weather, count })
    const agent = new ToolLoopAgent({ model: refs.model(model), tools })
    const { stream } = await agent.stream({ prompt: 'Go' })
    const seen: string[] = []
    for await (const part of stream) {
      if (part.type !== 'tool-result' || part.toolName !== 'count') continue
      seen.push(`${part.toolCallId} ${Object(part.output).at}${part.preliminary ? '…' : ''}`)
    }
    expect(seen.sort()).toEqual([
      'count-0 1…',
      'count-0 2',
      'count-0 2…',
      'count-1 1…',
      'count-1 2',
      'count-1 2…',
    ])
    expect(outputs(model.requests[2]?.prompt).slice(1)).toEqual(
      Array(2).fill({ type: 'json', value: { at: 2 } }),
    )
  })

  it('passes on errors of tools, and results that cannot be stored', async () => {
    const broken = tool({
      inputSchema: none,
      execute: (): string => {
        throw new Error('No luck')
      },
    })
    const loop: Record<string, unknown> = { image: png }
    loop.self = loop
    const circle = tool({ inputSchema: none, execute: () => loop })
    const turns = [calls(['broken', {}], ['circle', {}]), 'Oh.']
    const { prompts, result } = await run(turns, { broken, circle })
    expect(outputs(prompts[1])).toEqual([
      { type: 'error-text', value: 'Error: No luck' },
      { type: 'error-text', value: expect.stringContaining('contains itself') },
    ])
    expect(result.text).toBe('Oh.')
  })

  it('asks for approval with the values, and runs what was approved', async () => {
    const asked: unknown[] = []
    const { keep, given } = keeper(z.object({ n: z.number() }))
    const pay = {
      ...keep,
      needsApproval: ({ n }: { n: number }) => {
        asked.push(n)
        return n > 3
      },
    } as typeof keep
    const tools = { weather, pay }
    const pays = calls(['pay', { n: '†result#1.temperature' }])
    const small = await run([calls(['weather', { city: 'No' }]), pays, 'Paid.'], tools)
    expect(small.result.text).toBe('Paid.')
    const { result, refs } = await run([calls(['weather', { city: 'Oslo' }]), pays], tools)
    expect([asked, given]).toEqual([[2, 4], [{ n: 2 }]])
    const request = result.content.find((part) => part.type === 'tool-approval-request')
    const messages = [
      { role: 'user', content: 'Go' },
      ...result.responseMessages,
      {
        role: 'tool',
        content: [
          { type: 'tool-approval-response', approvalId: request?.approvalId, approved: true },
        ],
      },
    ]
    const after = await run(['Paid.'], tools, { refs, messages, prompt: undefined })
    expect(given).toEqual([{ n: 2 }, { n: 4 }])
    expect(outputs(after.prompts[0]).at(-1)).toEqual({ type: 'text', value: 'kept' })
  })

  it('keeps what a tool shows to its model, with files as references', async () => {
    const data = Buffer.from(png).toString('base64')
    const shot = tool({
      inputSchema: none,
      execute: () => ({ secret: 1 }),
      toModelOutput: () => ({
        type: 'content',
        value: [
          { type: 'text', text: 'The screen' },
          { type: 'file', mediaType: 'image/png', filename: 'a.png', data: { type: 'data', data } },
        ],
      }),
    })
    const brief = tool({
      inputSchema: none,
      execute: () => rows,
      toModelOutput: ({ output }) => ({ type: 'text', value: `${output.length} rows` }),
    })
    const { keep, given } = keeper(z.object({ text: z.string() }))
    const turns = [
      calls(['shot', {}], ['brief', {}]),
      calls(['keep', { text: '†result#1[0]' }]),
      'Done.',
    ]
    const { prompts } = await run(turns, { shot, brief, keep })
    expect(outputs(prompts[1])).toEqual([
      { type: 'json', value: ['The screen', { assetRef: expect.stringMatching(/^asset:/) }] },
      { type: 'text', value: '3000 rows' },
    ])
    expect(shownTo(prompts[1]).split(data)).toHaveLength(2)
    expect(given).toEqual([{ text: 'The screen' }])
  })

  it('stores long text and JSON of content, such as that of MCP servers', async () => {
    const shows = (...texts: string[]) =>
      tool({
        inputSchema: none,
        execute: () => 'done',
        toModelOutput: () => ({
          type: 'content',
          value: texts.map((text) => ({ type: 'text' as const, text })),
        }),
      })
    const blob = Buffer.from(png).toString('base64')
    const picture = { type: 'resource', resource: { uri: 'x:a', mimeType: 'image/png', blob } }
    const tools = {
      page: shows('line of text\n'.repeat(80_000)),
      list: shows(JSON.stringify({ rows })),
      both: shows('short', JSON.stringify(picture)),
      short: shows('a', '{"b":1}'),
    }
    const { keep, given } = keeper(z.object({ rows: z.array(z.looseObject({ id: z.number() })) }))
    const turns = [
      calls(['page', {}], ['list', {}], ['both', {}], ['short', {}]),
      calls(['keep', { rows: '†result#2.rows' }]),
      'Done.',
    ]
    const { prompts } = await run(turns, { ...tools, keep })
    const shown = shownTo(prompts[1])
    expect(shown.length).toBeLessThan(20_000)
    expect(shown.split(blob)).toHaveLength(2)
    expect(outputs(prompts[1])).toMatchObject(
      ['text', 'text', 'json', 'content'].map((type) => ({ type })),
    )
    expect(given).toEqual([{ rows }])
  })

  it('does not change tools of providers, and the schemas of dynamic ones', async () => {
    const search = {
      type: 'provider',
      id: 'x.search',
      args: {},
      isProviderExecuted: true,
      inputSchema: none,
    } as never as ToolSet[string]
    const given: unknown[] = []
    const remote = dynamicTool({
      inputSchema: z.object({ text: z.string() }),
      execute: async (input) => {
        given.push(input)
        return rows
      },
    })
    const refs = byReference()
    const wrapped = refs.tools({ search, remote })
    expect(wrapped.search).toBe(search)
    expect(wrapped.remote.inputSchema).toBe(remote.inputSchema)
    const turns = [
      calls(['weather', { city: 'Oslo' }]),
      calls(['remote', { text: '†result#1.city' }]),
      'Done.',
    ]
    const { prompts } = await run(turns, { weather, remote })
    expect(given).toEqual([{ text: 'Oslo' }])
    expect(outputs(prompts[2])[1]).toMatchObject({
      value: expect.stringContaining('"offloaded":true'),
    })
  })

  it('converts results of unwrapped tools to references', async () => {
    const refs = byReference()
    const model = scriptedModel([calls(['table', {}]), 'Done.'])
    await generateText({ model: refs.model(model), tools: { table }, prompt: 'Go', stopWhen: many })
    expect(shownTo(model.requests[1]?.prompt)).toContain('offloaded')
    expect(shownTo(model.requests[1]?.prompt)).not.toContain('search_asset')
  })

  it('passes signals on, and runs nothing that was cancelled', async () => {
    const stop = new AbortController()
    const signals: unknown[] = []
    const wait = tool({
      inputSchema: z.object({ n: z.number() }),
      execute: async (_, { abortSignal }) => {
        signals.push(abortSignal?.aborted)
        await new Promise((_, reject) => {
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason))
          stop.abort(new Error('Enough'))
        })
      },
    })
    const turns = [
      calls(['weather', { city: 'Oslo' }]),
      calls(['wait', { n: '†result#1.temperature' }]),
    ]
    await expect(run(turns, { weather, wait }, { abortSignal: stop.signal })).rejects.toThrow(
      'Enough',
    )
    expect(signals).toEqual([false])
  })

  it('reads further in long results, and looks at images', async () => {
    const refs = byReference({ capabilities: seeing })
    const { ref } = await refs.assets.save(png, 'image/png')
    const turns = [
      calls(['table', {}]),
      ({ prompt }: LanguageModelV4CallOptions) => {
        const [long] = /asset:\/\/\w+/.exec(shownTo(prompt)) ?? []
        return calls(
          ['search_asset', { ref: long, query: 'number 2998' }],
          ['fetch_asset', { ref }],
        )
      },
      'Done.',
      'And again.',
    ]
    const { prompts, result } = await run(turns, { table }, { refs })
    const [, found, fetched] = outputs(prompts[2]).map((one) => Object(one).value)
    expect(JSON.stringify(found)).toContain('/content/2998/name')
    expect(fetched).toEqual({ assetRef: ref, mimeType: 'image/png', fetched: true })
    expect(prompts[2]?.at(-1)).toMatchObject({
      role: 'user',
      content: [{ type: 'text' }, { type: 'file' }],
    })
    const messages = [
      { role: 'user', content: 'Go' },
      ...result.responseMessages,
      { role: 'user', content: 'And?' },
    ]
    const after = await run(['Fine.'], { table }, { refs, messages, prompt: undefined })
    expect(shownTo(after.prompts[0])).not.toContain('"type":"file"')
  })

  it('shows what people attach by reference, or embed in text', async () => {
    const refs = byReference({ capabilities: seeing })
    const picture = await refs.assets.save(png, 'image/png', { name: 'dot.png' })
    const csv = await refs.assets.save(Buffer.from('a,b\n1,2\n'), 'text/csv')
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'file', data: picture.ref, mediaType: 'image/png', filename: 'dot.png' },
          { type: 'file', data: new URL(csv.ref), mediaType: 'text/csv' },
          { type: 'text', text: `As in <|${picture.ref}|>?` },
        ],
      },
    ]
    const { prompts, model } = await run(
      ['Yes.'],
      { weather },
      { refs, messages, prompt: undefined },
    )
    const [message] = prompts[0] ?? []
    expect(message?.content).toMatchObject([
      { text: `[Attached image: asset_id="${picture.assetId}" name="dot.png"]` },
      { type: 'file', mediaType: 'image/png' },
      { text: `[Attached file: asset_id="${csv.assetId}"]` },
      { text: expect.stringContaining('a,b\n1,2') },
      { text: `As in <|${picture.ref}|>?` },
      { text: `[same image as above: ${picture.ref}]` },
    ])
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toContain('fetch_asset')
  })

  it('calls methods of tools on their own objects', async () => {
    class Counter {
      description = 'Counts'
      inputSchema = z.object({ by: z.number() })
      count = 0
      needsApproval({ by }: { by: number }): boolean {
        return by + this.count < 0
      }
      execute({ by }: { by: number }): number {
        this.count += by
        return this.count
      }
    }
    const turns = [calls(['count', { by: 2 }]), calls(['count', { by: '†result#1' }]), 'Done.']
    const { prompts } = await run(turns, { count: new Counter() as ToolSet[string] })
    expect(outputs(prompts[2])).toEqual([2, 4].map((value) => ({ type: 'json', value })))
  })

  it('keeps namespaces apart', async () => {
    const refs = byReference({ assets: { config: {} } })
    const saved = await refs.scoped('a').assets.save(png, 'image/png')
    await expect(refs.scoped('b').assets.info(saved.ref)).rejects.toThrow(/not found|no asset/i)
    const { keep, given } = keeper(
      z.object({
        image: z.string().meta({ asset_ref_acceptable: true, contentEncoding: 'base64' }),
      }),
    )
    const turns = [calls(['keep', { image: saved.ref }]), 'Done.']
    await run(turns, { keep }, { refs: refs.scoped('b') })
    expect(given).toEqual([])
    await run(turns, { keep }, { refs: refs.scoped('a') })
    expect(given).toEqual([{ image: Buffer.from(png).toString('base64') }])
  })

  it('rejects unknown options', () => {
    expect(() => byReference({ maxChars: 1 } as never)).toThrow(
      /Unknown option "maxChars" in byReference/,
    )
  })
})
