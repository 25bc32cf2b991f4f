import { APICallError } from '@ai-sdk/provider'
import { describe, expect, it, vi } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { defineTool } from '../boundary/tool.ts'
import type { LogRecord } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import { readAll } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { silentWav } from '../prompt/fixtures/bodies.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { AgentOptions } from './agent-contract.ts'
import { prompts, say } from './fixtures/agent.ts'

const page = defineTool({
  id: 'page',
  description: 'A page',
  inputSchema: { type: 'object', properties: { n: {} } },
  execute: ({ n }) => `Page ${n}: ${'word '.repeat(300)}`,
})
const turn = (n: number) => ({ calls: [{ name: 'page', arguments: { n } }] })

async function compactions(log: AgentOptions['log']): Promise<LogRecord['event'][]> {
  const found: LogRecord['event'][] = []
  for await (const { event } of readAll(log as never, 'c')) {
    if (event.type === 'PROMPT_COMPACTED') found.push(event)
  }
  return found
}

describe('compaction', () => {
  it('replaces older results by their names when the prompt is too large, and calls can still pass them', async () => {
    const log = createMemoryLog()
    const calls = Array.from({ length: 8 }, (_, n) => turn(n))
    const passing = { calls: [{ name: 'page', arguments: { n: '†result#1' } }] }
    const model = scriptedModel([...calls, passing, 'Done.'])
    const agent = createAgent({ model, tools: [page], log, history: { maxTokens: 1500 } })
    const run = agent.run({ conversation: 'c', messages: say('Read them all') })
    expect((await run.result).text).toBe('Done.')
    const made = await compactions(log)
    expect(made.length).toBeGreaterThan(0)
    expect(made[0]).toMatchObject({ reason: 'size', media: null })
    const last = prompts(model).at(-1) as string
    expect(last).toContain('Read them all')
    const named = /†result#\d+: 15\d\d characters, no longer shown/
    expect(prompts(model).some((prompt) => named.test(prompt))).toBe(true)
    expect(last.length).toBeLessThan(1500 * 4 * 1.5)
    const passed = run.messages.findLast(({ metadata }) => metadata.tool_result)
    expect(passed?.content).toContain('Page Page 0: word word')
  })

  it('also leaves out the oldest messages if needed, and includes a summary of them', async () => {
    const log = createMemoryLog()
    const summarize = vi.fn(
      ({ messages, previous }: { messages: readonly Message[]; previous: string | null }) => {
        return `${previous ?? ''}${messages.length};`
      },
    )
    let model = scriptedModel([])
    for (let n = 0; n < 12; n++) {
      model = scriptedModel([`Answer ${n}. ${'talk '.repeat(100)}`])
      const agent = createAgent({ model, log, history: { maxTokens: 800, summarize } })
      await agent.run({ conversation: 'c', messages: say(`Question ${n}? ${'talk '.repeat(100)}`) })
        .result
    }
    const last = prompts(model)[0] as string
    expect(last).toContain('Question 11?')
    expect(last).not.toContain('Question 0?')
    expect(last).toMatch(/\[Summary of \d+ earlier messages\]\\n\d+;/)
    expect(summarize.mock.calls.length).toBeGreaterThan(1)
    expect(summarize.mock.calls[1]?.[0].previous).toBe(summarize.mock.results[0]?.value)
    const counted = /Summary of (\d+) earlier messages\]\\n([\d;]+)/.exec(last)
    const sum = (counted?.[2] ?? '').split(';').reduce((all, one) => all + Number(one), 0)
    expect(Number(counted?.[1])).toBe(sum)
  })

  it('summarizes only messages that are no longer shown', async () => {
    const summarize = vi.fn(({ messages }: { messages: readonly Message[] }) => {
      return messages.map(({ content }) => String(content).slice(0, 10)).join()
    })
    const history = { maxTokens: 800, summarize }
    const talk = (words: string) => `${words} ${'talk '.repeat(200)}`
    const model = scriptedModel([talk('Answer 1.'), talk('Answer 2.'), talk('Answer 3.')])
    const agent = createAgent({ model, history })
    const start = async (content: string, ...rules: string[]) => {
      const system = rules.map((rule) => ({ role: 'system', content: rule }))
      await agent.run({ conversation: 'c', messages: [...system, ...say(content)] }).result
    }
    await start(talk('Question 1'), 'Rule 1')
    await start(talk('Question 2'), 'Rule 2')
    await start(talk('Question 3'))
    const left = summarize.mock.calls.flatMap(([{ messages }]) => messages)
    expect(left.filter(({ sender }) => sender.participant_role === 'system')).toEqual([])
    const last = prompts(model).at(-1) as string
    expect(last).toMatch(/Rule 1.*Rule 2/s)
    expect(last).toContain(`[Summary of ${left.length} earlier messages]`)
    expect(new Set(left).size).toBe(left.length)
  })

  it('keeps data, metas and the first system messages when it leaves messages out', async () => {
    const log = createMemoryLog()
    const assets = createAssets()
    const { ref } = await assets.saveAsset({
      asset_name: 'prices',
      content_type: 'data',
      content: { eur: 5 },
    })
    let model = scriptedModel([])
    for (let n = 0; n < 6; n++) {
      model = scriptedModel(['talk '.repeat(200)])
      const agent = createAgent({ model, log, assets, history: { maxTokens: 600 } })
      const first = [
        { role: 'system', content: 'Speak as a pirate.' },
        { type: 'state' as const, state: { city: 'Oslo' } },
        { role: 'user', content: 'See', metadata: { attachments: [{ assetRef: ref }] } },
      ]
      await agent.run({ conversation: 'c', messages: n === 0 ? first : say('And now?') }).result
    }
    const [last] = model.requests
    expect(last?.prompt[0]).toEqual({ role: 'system', content: 'Speak as a pirate.' })
    const text = prompts(model)[0] as string
    expect(text).toContain('earlier messages omitted]')
    expect(text).toContain('\\"city\\": \\"Oslo\\"')
    expect(text).toContain('\\"content/eur\\": 5')
  })

  it('sends only the newest media, up to the budget', async () => {
    const log = createMemoryLog()
    const assets = createAssets()
    let model = { ...scriptedModel([]), provider: 'openai.responses', modelId: 'gpt-5' }
    for (let n = 0; n < 7; n++) {
      model = { ...scriptedModel(['I see.']), provider: 'openai.responses', modelId: 'gpt-5' }
      const { ref } = await assets.save(new Uint8Array([...PNG, n]), null)
      const agent = createAgent({ model, log, assets, media: { maxParts: 4 } })
      const message = {
        role: 'user',
        content: `No. ${n}`,
        metadata: { attachments: [{ assetRef: ref }] },
      }
      await agent.run({ conversation: 'c', messages: [message] }).result
    }
    expect(await compactions(log)).toMatchObject([{ reason: 'media' }])
    const files = model.requests[0]?.prompt.flatMap((message) =>
      message.role === 'user' ? message.content.filter(({ type }) => type === 'file') : [],
    )
    expect(files?.length).toBeLessThanOrEqual(5)
    expect(prompts(model)[0]?.match(/\[Attached image/g)).toHaveLength(7)
  })

  it('fills the budget with the files of a question, says which are left out, and offers tools to read them', async () => {
    const see = { provider: 'openai.responses', modelId: 'gpt-5' }
    const picture = (n: number) => ({
      type: 'file' as const,
      data: new Uint8Array([...PNG, n]),
      mediaType: 'image/png',
    })
    const note = (n: number) => ({
      type: 'file' as const,
      data: new TextEncoder().encode(`Note ${n}.`),
      mediaType: 'text/plain',
    })
    const four = [0, 1, 2, 3]
    const ask = async (...files: (ReturnType<typeof note> | ReturnType<typeof picture>)[]) => {
      const model = Object.assign(scriptedModel(['I see.']), see)
      const agent = createAgent({ model, tools: [page], media: { maxParts: 3 } })
      const content = [{ type: 'text' as const, text: 'See' }, ...files]
      await agent.run({ messages: [{ role: 'user', content }] }).result
      const [prompt = ''] = prompts(model)
      const count = (pattern: RegExp) => prompt.match(pattern)?.length ?? 0
      return {
        images: count(/"mediaType":"image\/png"/g),
        notes: count(/Note \d\./g),
        left: count(/\[image not shown\]/g),
        reads: model.requests[0]?.tools?.some(({ name }) => name === 'fetch_asset'),
      }
    }
    const none = { left: 0, reads: false }
    expect(await ask(...four.map(picture))).toEqual({ images: 3, notes: 0, left: 1, reads: true })
    expect(await ask(...four.map(note))).toEqual({ images: 0, notes: 4, ...none })
    const mixed = [...[0, 1, 2].map(picture), ...four.map(note)]
    expect(await ask(...mixed)).toEqual({ images: 3, notes: 4, ...none })
    const sound = (n: number) => {
      return { ...note(n), data: new Uint8Array(silentWav(n + 1, 10)), mediaType: 'audio/wav' }
    }
    const beside = [...[0, 1, 2].map(picture), ...four.map(sound)]
    expect(await ask(...beside)).toEqual({ images: 3, notes: 0, ...none })
    const all = [...four.map(picture), ...four.map(note)]
    expect(await ask(...all)).toEqual({ images: 3, notes: 4, left: 1, reads: true })
  })

  it('sends a small file beside one that is larger than the budget', async () => {
    const assets = createAssets()
    const see = { provider: 'openai.responses', modelId: 'gpt-5' }
    const model = Object.assign(scriptedModel(['I see.']), see)
    const image = await assets.save(new Uint8Array(PNG), null)
    const large = await assets.save(new TextEncoder().encode('x'.repeat(10_000)), 'text/plain')
    const attachments = [image, large].map(({ ref }) => ({ assetRef: ref }))
    const agent = createAgent({ model, assets, media: { maxBytes: 5_000 } })
    await agent.run({ messages: [{ role: 'user', content: 'See', metadata: { attachments } }] })
      .result
    expect(prompts(model)[0]).toContain('"mediaType":"image/png"')
  })

  it('merges data if the provider has lost its cache anyway', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const log = createMemoryLog()
      let model = scriptedModel([])
      for (const minutes of [0, 1, 10]) {
        vi.setSystemTime(Date.UTC(2026, 0, 1) + minutes * 60_000)
        model = scriptedModel(['Noted.'])
        const state = { now: minutes, text: 'x'.repeat(1000) }
        const messages = [{ type: 'state' as const, state }, ...say('Remember')]
        await createAgent({ model, log }).run({ conversation: 'c', messages }).result
        const blocks = prompts(model)[0]?.match(/## Data: ¶state/g)
        expect(blocks).toHaveLength(minutes === 1 ? 2 : 1)
      }
      expect(await compactions(log)).toMatchObject([{ reason: 'cold' }])
    } finally {
      vi.useRealTimers()
    }
  })

  it('always or never merges, as the agent configures', async () => {
    for (const merge of ['engine', 'model'] as const) {
      const log = createMemoryLog()
      let model = scriptedModel([])
      for (const n of [1, 2, 3]) {
        model = scriptedModel(['Noted.'])
        const messages = [{ type: 'state' as const, state: { n } }, ...say('Remember')]
        await createAgent({ model, log, merge }).run({ conversation: 'c', messages }).result
      }
      expect(prompts(model)[0]?.match(/## Data: ¶state/g)).toHaveLength(merge === 'engine' ? 1 : 3)
    }
  })

  it('uses the budget of the model, which is known only when the run starts', async () => {
    const model = scriptedModel(['Much.'])
    const agent = createAgent({ model, capabilities: { contextWindow: 2000 } })
    const run = agent.run({ messages: say('word '.repeat(2400)) })
    expect((await run.result).text).toBe('Much.')
    const few = Object.assign(scriptedModel(['Nine.']), {
      provider: 'mistral.chat',
      modelId: 'pixtral-large-latest',
    })
    const assets = createAssets()
    const saved = Array.from({ length: 9 }, (_, n) =>
      assets.save(new Uint8Array([...PNG, n]), null),
    )
    const attachments = (await Promise.all(saved)).map(({ ref }) => ({ assetRef: ref }))
    const seeing = createAgent({ model: few, assets })
    const message = { role: 'user', content: 'See', metadata: { attachments } }
    expect((await seeing.run({ messages: [message] }).result).text).toBe('Nine.')
  })

  it('rarely happens, even if the provider counts more tokens than estimated', async () => {
    const log = createMemoryLog()
    const text = 'x1-'.repeat(300)
    const counted = (options: { prompt: unknown }, answer: object) => {
      return {
        ...answer,
        usage: {
          inputTokens: Math.ceil(JSON.stringify(options.prompt).length / 2),
          outputTokens: 5,
        },
      }
    }
    const steps = 40
    const turns = Array.from(
      { length: steps },
      (_, n) => (options: { prompt: unknown }) => counted(options, turn(n)),
    )
    const model = scriptedModel([...turns, 'Done.'])
    const tools = [{ ...page, execute: () => text }]
    const agent = createAgent({
      model,
      tools,
      log,
      history: { maxTokens: 3000 },
      limits: { steps: 100 },
    })
    await agent.run({ conversation: 'c', messages: say('Read them all') }).result
    const made = await compactions(log)
    expect(made.length).toBeGreaterThan(2)
    expect(made.length).toBeLessThan(steps / 2)
    for (const prompt of prompts(model)) expect(prompt.length / 2).toBeLessThan(4200)
  })

  it('makes room for media, and counts each body once', async () => {
    const see = { provider: 'openai.responses', modelId: 'gpt-5' }
    const camera = defineTool({
      id: 'camera',
      description: 'x',
      inputSchema: { type: 'object', properties: { n: {} } },
      execute: ({ n }) => ({ picture: new Uint8Array([...PNG, Number(n)]) }),
    })
    const take = (n: number) => ({ calls: [{ name: 'camera', arguments: { n } }] })
    const play = async (ns: number[]): Promise<number> => {
      const log = createMemoryLog()
      const model = Object.assign(scriptedModel([...ns.map(take), 'Done.']), see)
      const agent = createAgent({
        model,
        tools: [camera],
        log,
        media: { maxParts: 8 },
        limits: { steps: 100 },
      })
      await agent.run({ conversation: 'c', messages: say('Look') }).result
      return (await compactions(log)).length
    }
    const many = await play(Array.from({ length: 24 }, (_, n) => n))
    expect(many).toBeGreaterThan(1)
    expect(many).toBeLessThan(12)
    const log = createMemoryLog()
    const assets = createAssets()
    const { ref } = await assets.save(new Uint8Array(PNG), null)
    const model = Object.assign(scriptedModel(Array.from({ length: 12 }, () => 'Again.')), see)
    const agent = createAgent({ model, assets, log, media: { maxParts: 8 } })
    for (let n = 0; n < 12; n++) {
      const message = {
        role: 'user',
        content: 'See',
        metadata: { attachments: [{ assetRef: ref }] },
      }
      await agent.run({ conversation: 'c', messages: [message] }).result
    }
    expect(await compactions(log)).toEqual([])
  })

  it('keeps the messages that are being answered, and the requested output format', async () => {
    const calls = Array.from({ length: 8 }, (_, n) => turn(n))
    const model = scriptedModel([...calls, '{"n": 1}'])
    const agent = createAgent({ model, tools: [page], history: { maxTokens: 1500 } })
    const output = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const run = agent.run({ messages: [...say('PART-ONE'), ...say('PART-TWO')], output })
    expect((await run.result).output).toEqual({ n: 1 })
    const all = prompts(model)
    expect(all.some((prompt) => prompt.includes('messages omitted]'))).toBe(true)
    for (const prompt of all) {
      expect(prompt).toContain('PART-ONE')
      expect(prompt).toContain('PART-TWO')
      expect(prompt).toContain('fits this JSON Schema')
    }
  })

  it('runs when a body was deleted, and no longer sends it', async () => {
    const log = createMemoryLog()
    const assets = createAssets()
    const see = { provider: 'openai.responses', modelId: 'gpt-5' }
    const { ref } = await assets.save(new Uint8Array(PNG), null)
    const files: number[] = []
    const model = Object.assign(scriptedModel(['One.', 'Two.', 'Three.']), see)
    const agent = createAgent({ model, assets, log })
    for (const n of [0, 1, 2]) {
      if (n === 1) await agent.assets.delete(ref)
      const attachments = n === 0 ? [{ assetRef: ref }] : []
      const message = { role: 'user', content: `No. ${n}`, metadata: { attachments } }
      await agent.run({ conversation: 'c', messages: [message] }).result
      const shown = model.requests.at(-1)?.prompt ?? []
      files.push(
        shown
          .flatMap(({ role, content }) => (role === 'user' ? content : []))
          .filter(({ type }) => type === 'file').length,
      )
    }
    expect(files).toEqual([1, 0, 0])
    expect(await compactions(log)).toMatchObject([{ reason: 'gone', media: [] }])
    expect(prompts(model).at(-1)).toContain(`[No longer available: ${ref}]`)
  })

  it('works without a summary', async () => {
    let model = scriptedModel([])
    const log = createMemoryLog()
    const summarize = () => {
      throw new Error('no summary')
    }
    for (let n = 0; n < 6; n++) {
      model = scriptedModel(['talk '.repeat(200)])
      const first = [
        { type: 'state' as const, state: { n } },
        { role: 'system', content: 'SYS-RULE' },
        ...say('Go'),
      ]
      const agent = createAgent({ model, log, history: { maxTokens: 600, summarize } })
      await agent.run({ conversation: 'c', messages: n === 0 ? first : say('And now?') }).result
    }
    expect(prompts(model)[0]).toContain('earlier messages omitted]')
    expect(prompts(model)[0]).toContain('SYS-RULE')
  })

  it('rejects unknown options', () => {
    const model = scriptedModel([])
    expect(() => createAgent({ model, merge: 'sometimes' as never })).toThrow(
      /createAgent.merge must be "cache"/,
    )
    expect(() => createAgent({ model, history: { tokens: 5 } as never })).toThrow(
      /Unknown option "tokens" in createAgent.history/,
    )
    expect(() => createAgent({ model, media: { maxParts: 0 } })).toThrow(/media.maxParts/)
  })

  /** A model with this limit of characters, which byref does not know. */
  const shortModel = (chars: number, refuse: (options: { length: number }) => unknown) => {
    const model = scriptedModel(() => `Answer. ${'talk '.repeat(100)}`)
    const { doStream } = model
    const sent: { length: number; isTaken: boolean }[] = []
    return Object.assign(model, {
      sent,
      async doStream(options: Parameters<typeof doStream>[0]) {
        const { length } = JSON.stringify(options.prompt)
        sent.push({ length, isTaken: length <= chars })
        if (length <= chars) return doStream(options)
        return refuse({ length }) as ReturnType<typeof doStream>
      },
    })
  }
  const refusal = (statusCode: number, message: string) => () => {
    const request = { url: 'https://model.example', requestBodyValues: {} }
    throw new APICallError({ ...request, statusCode, isRetryable: false, message })
  }
  const streamed = () => ({
    stream: new ReadableStream({
      start(controller) {
        const error = { code: 'context_length_exceeded', message: 'It does not fit.' }
        controller.enqueue({ type: 'stream-start', warnings: [] })
        controller.enqueue({ type: 'error', error })
        controller.close()
      },
    }),
  })

  it.each([
    ['OpenAI', refusal(400, "This model's maximum context length is 8192 tokens. However, …")],
    ['OpenAI, streamed', streamed],
    ['Responses', refusal(400, 'Your input exceeds the context window of this model.')],
    ['Anthropic', refusal(400, 'prompt is too long: 210000 tokens > 200000 maximum')],
    ['Gemini', refusal(400, 'The input token count (9000) exceeds the maximum number of tokens')],
    ['Bedrock', refusal(400, 'Input is too long for requested model.')],
    ['xAI', refusal(400, "This model's maximum prompt length is 8192")],
    ['llama.cpp', refusal(400, 'the request exceeds the available context size')],
  ])(
    'makes a prompt shorter that the model rejects because of its length: %s',
    async (_who, refuse) => {
      const log = createMemoryLog()
      const model = shortModel(6000, refuse)
      const agent = createAgent({ model, log })
      for (let n = 0; n < 30; n++) {
        const content = say(`Question ${n}? ${'talk '.repeat(100)}`)
        const { reason } = await agent.run({ conversation: 'c', messages: content }).result
        expect(reason).toBe('done')
      }
      const refused = model.sent.filter(({ isTaken }) => !isTaken).length
      // The limit of the model is remembered, and not exceeded before each answer.
      expect(refused).toBeGreaterThan(0)
      expect(refused).toBeLessThan(5)
      const made = await compactions(log)
      expect(made.every((event) => 'reason' in event && event.reason === 'size')).toBe(true)
      expect(made.length).toBeGreaterThan(refused)
    },
  )

  it('fails as the provider says if the prompt cannot be shorter, and goes on with the next message', async () => {
    const message = 'prompt is too long: 9000 tokens > 8000 maximum'
    const model = shortModel(6000, refusal(400, message))
    const agent = createAgent({ model })
    const long = agent.run({ conversation: 'c', messages: say('x'.repeat(20_000)) })
    await expect(long.result).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringMatching(`${message}\\. .* Send a shorter message`),
    })
    const next = await agent.run({ conversation: 'c', messages: say('Hello?') }).result
    expect(next.reason).toBe('done')
  })
})
