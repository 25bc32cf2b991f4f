import { SpanStatusCode, trace } from '@opentelemetry/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { say } from '../../agent/fixtures/agent.ts'
import type { EventHandlers } from '../../agent/processors.ts'
import { createMemoryAssetStore } from '../../assets/stores/memory.ts'
import { defineTool } from '../../boundary/tool.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import type { LanguageModel, ModelCallOptions } from '../../models/language-model.ts'
import type { Policy } from '../../policies/policy.ts'
import { createServer } from '../../server/create-server.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { exported, traces } from './fixtures/traces.ts'
import { createTracedAgent } from './traced-agent.ts'

const object = { type: 'object' } as const

/** A tool whose own work is traced. */
function tool(id: string, execute: (input: never) => unknown = () => 'done', more = {}) {
  return defineTool({
    id,
    description: '',
    inputSchema: object,
    ...more,
    execute: (input) => execute(input as never),
  })
}

const calls = (...names: string[]) => ({
  calls: names.map((name, i) => ({ id: `${name}-${i}`, name, arguments: {} })),
})

/** A span of work that was stopped, which is no failure. */
const STOPPED = {
  attributes: { 'byref.interrupted': true },
  status: { code: SpanStatusCode.UNSET },
  events: [],
}

describe('createTracedAgent', () => {
  it('makes one tree for a run, below the active span of the caller', async () => {
    const { tracer, tree, named } = traces()
    const both = Promise.withResolvers<void>()
    let running = 0
    const http = tool('fetch', async () => {
      if (++running === 2) both.resolve()
      await both.promise
      tracer.startSpan('GET').end()
    })
    const model = scriptedModel([calls('fetch', 'fetch'), 'Two pages.'])
    const agent = createTracedAgent({ model, name: 'reader', tools: [http] }, { tracer })
    const result = await tracer.startActiveSpan('request', async (span) => {
      const { text } = await agent.run({ conversation: 'c', messages: say('Go') }).result
      span.end()
      return text
    })
    expect(result).toBe('Two pages.')
    expect(tree()).toEqual([
      'request',
      '  invoke_agent reader',
      '    chat scripted',
      '    execute_tool fetch',
      '      GET',
      '    execute_tool fetch',
      '      GET',
      '    chat scripted',
    ])
    expect(named('invoke_agent reader')[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'reader',
      'gen_ai.conversation.id': 'c',
      'byref.run.finish_reason': 'done',
    })
    expect(named('execute_tool fetch').map(({ attributes }) => attributes)).toMatchObject([
      { 'gen_ai.tool.call.id': 'fetch-0', 'gen_ai.tool.name': 'fetch', 'byref.tool.attempt': 1 },
      { 'gen_ai.tool.call.id': 'fetch-1' },
    ])
  })

  it('traces requests to a server, each run below its request', async () => {
    const { tracer, tree } = traces()
    const log = createMemoryLog()
    const model = scriptedModel([calls('fetch'), 'One page.'])
    const agent = createTracedAgent({ model, log, tools: [tool('fetch')] }, { tracer })
    const server = createServer({ agent, app: null })
    await log.create('c')
    await tracer.startActiveSpan('POST', async (span) => {
      const body = JSON.stringify({ content: 'Go' })
      const headers = { 'content-type': 'application/json' }
      const request = { method: 'POST', headers, body }
      const answer = await server.fetch(
        new Request('http://localhost/api/conversations/c/messages', request),
      )
      expect(answer.status).toBe(202)
      span.end()
    })
    await expect.poll(async () => (await log.read('c')).at(-1)?.event.type).toBe('RUN_FINISHED')
    await agent.close()
    expect(tree()).toEqual([
      ...['POST', '  invoke_agent', '    chat scripted'],
      ...['    execute_tool fetch', '    chat scripted'],
    ])
  })

  it('gives items of mapped calls, attempts, and native tools their own spans', async () => {
    const { tracer, tree, named } = traces()
    let tries = 0
    const flaky = tool('flaky', () => {
      if (++tries === 1) throw new Error('not yet')
    })
    const model = scriptedModel([
      { calls: [{ id: 'm', name: 'echo', arguments: { _each: [1, 2], value: '†item' } }] },
      calls('flaky'),
      { calls: [{ id: 's', name: 'save_asset', arguments: { dataUrl: 'data:text/plain,hi' } }] },
      'ok',
    ])
    const echo = defineTool({
      id: 'echo',
      description: '',
      mappable: true,
      inputSchema: { type: 'object', properties: { value: {} } },
      execute: ({ value }) => value,
    })
    const tools = [echo, { ...flaky, idempotent: true, retries: 1 }, 'save_asset' as const]
    await createTracedAgent({ model, tools }, { tracer }).run({ messages: say('x') }).result
    expect(tree()).toEqual([
      'invoke_agent',
      '  chat scripted',
      '  execute_tool echo',
      '  execute_tool echo',
      '  chat scripted',
      '  execute_tool flaky',
      '  execute_tool flaky',
      '  chat scripted',
      '  execute_tool save_asset',
      '  chat scripted',
    ])
    expect(named('execute_tool echo').map((one) => one.attributes['gen_ai.tool.call.id'])).toEqual([
      'm/0',
      'm/1',
    ])
    const [first, second] = named('execute_tool flaky')
    expect(first?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'not yet' })
    expect(first?.attributes['error.type']).toBe('tool_failed')
    expect(first?.events[0]?.attributes).toEqual({
      'exception.type': 'tool_failed',
      'exception.message': 'not yet',
    })
    expect(second?.status.code).toBe(SpanStatusCode.UNSET)
    expect(second?.attributes['byref.tool.attempt']).toBe(2)
  })

  it('puts sub-agents below the call that started them', async () => {
    const { tracer, tree, named } = traces()
    const log = createMemoryLog()
    const critic = createTracedAgent(
      {
        model: scriptedModel([calls('look'), 'Fine.']),
        tools: [tool('look')],
        log,
        name: 'critic',
      },
      { tracer },
    )
    const ask = { calls: [{ id: 'c1', name: 'critic', arguments: { task: 'Review' } }] }
    const writer = createTracedAgent(
      {
        model: scriptedModel([ask, 'Done.']),
        tools: [critic.asTool({ id: 'critic', description: '' })],
        log,
        name: 'writer',
      },
      { tracer },
    )
    const run = writer.run({ messages: say('x') })
    await run.result
    await critic.close()
    expect(tree()).toEqual([
      'invoke_agent writer',
      '  chat scripted',
      '  execute_tool critic',
      '    invoke_agent critic',
      '      chat scripted',
      '      execute_tool look',
      '      chat scripted',
      '  chat scripted',
    ])
    const [inner] = named('invoke_agent critic')
    expect(inner?.attributes['byref.run.parent_id']).toBe(run.id)
  })

  it('keeps a run that waits for a person in one tree', async () => {
    const { tracer, tree, named } = traces()
    const pay = tool('pay', () => 'paid', { needsApproval: true })
    const model = scriptedModel([calls('pay'), 'Paid.'])
    const agent = createTracedAgent({ model, tools: [pay] }, { tracer })
    const run = agent.run({ conversation: 'c', messages: say('Pay') })
    for await (const event of run) {
      if (event.type !== 'APPROVAL_REQUESTED') continue
      // The approval arrives in another request.
      await tracer.startActiveSpan('approve', async (span) => {
        await agent.approve('c', event.toolCallId, { approved: true })
        span.end()
      })
    }
    await run.result
    expect(tree()).toEqual([
      'invoke_agent',
      '  chat scripted',
      '  execute_tool pay',
      '  chat scripted',
      'approve',
    ])
    expect(
      named('invoke_agent')[0]?.events.map(({ name, attributes }) => [name, attributes]),
    ).toEqual([
      ['byref.approval.requested', { 'gen_ai.tool.call.id': 'pay-0' }],
      [
        'byref.approval.answered',
        { 'gen_ai.tool.call.id': 'pay-0', 'byref.approval.approved': true },
      ],
    ])
  })

  it('ends all spans of a run that is cancelled', async () => {
    const { tracer, tree, named, unended } = traces()
    const model = scriptedModel([calls('wait')])
    const wait = tool('wait', () => run.cancel() ?? new Promise(() => {}))
    const agent = createTracedAgent({ model, tools: [wait] }, { tracer })
    const run = agent.run({ messages: say('x') })
    expect((await run.result).reason).toBe('cancelled')
    await agent.close()
    expect(unended()).toBe(0)
    expect(tree()).toEqual(['invoke_agent', '  chat scripted', '  execute_tool wait'])
    expect(named('invoke_agent')[0]?.attributes['byref.run.finish_reason']).toBe('cancelled')
    expect(named('execute_tool wait')[0]).toMatchObject(STOPPED)
  })

  it('does not report a model call that a person stops as failed', async () => {
    const { tracer, named } = traces()
    const model = scriptedModel(['a long text'], { delayMs: 60_000 })
    const agent = createTracedAgent({ model }, { tracer })
    const run = agent.run({ messages: say('x') })
    await expect.poll(() => model.requests.length).toBe(1)
    run.cancel()
    expect((await run.result).reason).toBe('cancelled')
    await agent.close()
    expect(named('chat scripted')[0]).toMatchObject(STOPPED)
    expect(named('chat scripted')[0]?.attributes['error.type']).toBeUndefined()
  })

  it('continues in another process in the same trace, with a link to its beginning', async () => {
    const [one, two] = [traces(), traces()]
    const shared = { log: createMemoryLog().scoped('tenant'), name: 'worker' }
    const started = Promise.withResolvers<void>()
    const stuck = tool('work', () => started.resolve() ?? new Promise(() => {}), {
      idempotent: true,
    })
    const first = createTracedAgent(
      { ...shared, model: scriptedModel([calls('work')]), tools: [stuck] },
      { tracer: one.tracer },
    )
    const run = first.run({ conversation: 'job', messages: say('x') })
    await started.promise
    await first.close()
    await expect(run.result).rejects.toMatchObject({ code: 'interrupted' })
    const second = createTracedAgent(
      {
        ...shared,
        model: scriptedModel(['Done.']),
        tools: [tool('work', () => 1, { idempotent: true })],
      },
      { tracer: two.tracer },
    )
    expect((await second.resume('job').result).text).toBe('Done.')
    expect(one.tree()).toEqual(['invoke_agent worker', '  chat scripted', '  execute_tool work'])
    expect(two.tree()).toEqual(['invoke_agent worker', '  execute_tool work', '  chat scripted'])
    const [begun, resumed] = [one, two].map(({ named }) => named('invoke_agent worker')[0])
    // Nothing has failed: the run goes on.
    expect(begun?.attributes).toMatchObject({ 'byref.run.finish_reason': 'interrupted' })
    expect([begun?.attributes['error.type'], begun?.status.code]).toEqual([undefined, 0])
    expect(resumed?.parentSpanContext?.spanId).toBe(begun?.spanContext().spanId)
    expect(resumed?.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([
      [begun?.spanContext().traceId, begun?.spanContext().spanId],
    ])
    expect(resumed?.attributes).toMatchObject({
      'byref.run.finish_reason': 'done',
      'byref.run.id': run.id,
      'byref.namespace': 'tenant',
    })
  })

  it('puts queued runs below their own request, not below the previous run', async () => {
    const { tracer, tree } = traces()
    const go = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const wait = tool('wait', () => begun.resolve() ?? go.promise)
    const model = scriptedModel([calls('wait'), 'one', 'two', 'three'])
    const agent = createTracedAgent({ model, tools: [wait] }, { tracer })
    const within = <T>(name: string, act: () => T): T =>
      tracer.startActiveSpan(name, (span) => {
        span.end()
        return act()
      })
    const run = (): { result: Promise<unknown> } =>
      agent.run({ conversation: 'c', messages: say('x') })
    const first = within('a', run)
    await begun.promise
    await within('b', () => agent.send('c', 'z'))
    const second = within('c', run)
    go.resolve()
    await Promise.all([first.result, second.result])
    expect(tree()).toEqual([
      ...['a', '  invoke_agent', '    chat scripted', '    execute_tool wait', '    chat scripted'],
      ...['b', '  invoke_agent', '    chat scripted'],
      ...['c', '  invoke_agent', '    chat scripted'],
    ])
  })

  it('records the usage of a model call, and why it failed, without the rejected key', async () => {
    const { tracer, named } = traces()
    const agent = createTracedAgent({ model: counting(), settings: {} }, { tracer })
    await agent.run({ messages: say('x') }).result
    const failing = scriptedModel([new Error('Bad key sk-live-0123456789abcdef')])
    const refused = createTracedAgent({ model: failing }, { tracer }).run({ messages: say('x') })
    await expect(refused.result).rejects.toMatchObject({ code: 'model_failed' })
    const [step, failed] = named('chat scripted')
    const used = {
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_creation.input_tokens': 10,
    }
    expect(step?.attributes).toMatchObject({ ...used, 'gen_ai.response.finish_reasons': ['stop'] })
    expect(named('invoke_agent')[0]?.attributes).toMatchObject(used)
    for (const span of [failed, named('invoke_agent')[1]]) {
      expect(span?.attributes['error.type']).toBe('model_failed')
      expect(span?.status.message).toContain('[redacted]')
      expect(span?.status.message).not.toContain('sk-live')
    }
  })

  it('ends the spans of rejected requests, and rejects unknown options', async () => {
    const { tracer, named, unended } = traces()
    const agent = createTracedAgent({ model: scriptedModel([]) }, { tracer })
    await expect(agent.run({ messages: [] }).result).rejects.toMatchObject({
      code: 'invalid_message',
    })
    await expect(agent.start({ messages: [] })).rejects.toMatchObject({ code: 'invalid_message' })
    for (const none of [{}, undefined]) {
      const rejected = expect(agent.run(none as never).result).rejects
      await rejected.toMatchObject({ code: 'config_invalid' })
    }
    expect(unended()).toBe(0)
    expect(named('invoke_agent').map((one) => one.attributes['error.type'])).toEqual([
      'invalid_message',
      'invalid_message',
      'config_invalid',
      'config_invalid',
    ])
    expect(() =>
      createTracedAgent({ model: scriptedModel([]) }, { content: true } as never),
    ).toThrow(/Unknown option "content" in createTracedAgent/)
  })

  it('behaves like the agent without tracing, and does not change the log', async () => {
    const heard: string[] = []
    const callbacks: EventHandlers = {
      onEvent: ({ type }) => void heard.push(type),
    }
    const policy: Policy = {
      async aroundStep(step, perform) {
        heard.push(step.model.modelId)
        return perform()
      },
      async aroundCall({ tool }, perform) {
        heard.push(tool.id)
        return perform()
      },
    }
    const options = { tools: [tool('work')], callbacks, policies: [policy] }
    const script = () => scriptedModel([calls('work'), 'Done.'])
    const input = [{ role: 'user' as const, content: 'x', metadata: { footer_items: ['f'] } }]
    const plain = createAgent({ ...options, model: script() }).run({ messages: input })
    expect((await plain.result).text).toBe('Done.')
    const expected = heard.splice(0)
    expect(expected.filter((one) => /^[a-z]/.test(one))).toEqual(['scripted', 'work', 'scripted'])
    const agent = createTracedAgent(
      { ...options, model: script() },
      { tracer: trace.getTracer('none') },
    )
    const run = await agent.start({ messages: input })
    expect((await run.result).text).toBe('Done.')
    expect(heard).toEqual(expected)
    expect(run.messages[0]?.metadata).toEqual({ footer_items: ['f'] })
    expect(agent.scoped('a').scoped(null).log.namespace).toBe(null)
  })

  it('records no messages, arguments or secrets, with or without references', async () => {
    const bytes = fc.uint8Array({ minLength: 48, maxLength: 300 })
    const word = fc.stringMatching(/^[a-z]{24}$/)
    await fc.assert(
      fc.asyncProperty(bytes, word, fc.boolean(), async (body, secret, references) => {
        const { tracer, spans, named, unended } = traces()
        let used: string | undefined
        const base64 = Buffer.from(body).toString('base64')
        const photo = tool('photo', () => ({ note: secret, body }))
        const fail = tool('fail', () => {
          throw new Error(`api_key=sk-${secret} for data:image/png;base64,${base64} and ${base64}`)
        })
        const model = scriptedModel([
          { calls: [{ id: 'a', name: 'photo', arguments: { secret, inline: base64 } }] },
          ({ prompt }) => {
            const ref = JSON.stringify(prompt)
              .match(/asset:\/\/\w+/g)
              ?.at(-1)
            used = ref
            return { calls: [{ id: 'b', name: 'fail', arguments: { secret, ref } }] }
          },
          `Said ${secret}`,
        ])
        const agent = createTracedAgent(
          {
            model,
            instructions: secret,
            tools: [photo, fail],
            assets: { store: createMemoryAssetStore() },
          },
          { tracer, references },
        )
        const run = agent.run({
          messages: say(`${secret} data:text/plain;base64,${base64}`),
          context: { secret },
        })
        const { assets } = await run.result
        const text = exported(spans())
        expect([spans().length, unended()]).toEqual([6, 0])
        expect(text).not.toContain(secret)
        expect(text).not.toContain(base64.slice(0, 32))
        expect(text).not.toContain(Buffer.from(body).toString('hex').slice(0, 32))
        const made = assets.filter(({ by }) => by === 'tool').map(({ ref }) => ref)
        expect(named('execute_tool photo')[0]?.attributes['byref.assets.created']).toEqual(
          references ? made : undefined,
        )
        expect(named('execute_tool fail')[0]?.attributes['byref.assets.used']).toEqual(
          references ? [used] : undefined,
        )
      }),
      { numRuns: 25 },
    )
  })
})

/** A model whose provider has a cache. */
function counting(): LanguageModel {
  const model = scriptedModel(['Done.'])
  return {
    ...model,
    async doStream(options: ModelCallOptions) {
      const { stream } = await model.doStream(options)
      const usage = {
        inputTokens: { total: 100, noCache: 30, cacheRead: 60, cacheWrite: 10 },
        outputTokens: { total: 7, text: 7, reasoning: 0 },
      }
      const counted = async function* () {
        for await (const part of stream) yield part.type === 'finish' ? { ...part, usage } : part
      }
      return { stream: ReadableStream.from(counted()) }
    },
  }
}
