import { APICallError } from '@ai-sdk/provider'
import { expect, it, vi } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { ConversationLog, DueConversation } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { say } from './fixtures/agent.ts'

/** A log that notifies its workers through `told`. */
function withWorkers(log: ConversationLog = createMemoryLog()) {
  const told: DueConversation[] = []
  const enqueue = async (_: unknown, due: DueConversation): Promise<void> => void told.push(due)
  const queued: ConversationLog = {
    ...log,
    queue: { enqueue },
    async enqueue(conversation) {
      told.push({ conversation, namespace: null, agent: null })
    },
  }
  return { log: queued, told }
}

function agentOn(log: ConversationLog, ...turns: ScriptedTurn[]) {
  return createAgent({ log, model: scriptedModel(turns) })
}

it('leaves a run to the workers, and follows it', async () => {
  const { log } = withWorkers()
  const server = agentOn(log)
  const run = await server.start({ conversation: 'c', messages: say('Hello') })
  expect(await log.find('c')).toMatchObject({ openRun: null, queued: 1, lease: null })

  const taken = vi.fn()
  const release = await agentOn(log, 'Good day').advance('c', { onTaken: taken })

  expect(release).toEqual({ type: 'idle' })
  expect(taken).toHaveBeenCalledOnce()
  expect(await run.result).toMatchObject({ text: 'Good day', reason: 'done' })
  expect(await log.find('c')).toMatchObject({ openRun: null, queued: 0, lease: null })
})

it('advances from the log, even if it was not notified', async () => {
  const { log } = withWorkers()
  // It is notified of changes by others too late.
  const deaf: ConversationLog = { ...log, subscribe: () => () => {} }
  const worker = agentOn(deaf, 'One', 'Two')
  const server = agentOn(log)
  for (const text of ['One', 'Two']) {
    const run = await server.start({ conversation: 'c', messages: say('Hello') })
    await worker.advance('c')
    expect(await run.result).toMatchObject({ text })
  }
})

it('delivers a message at the end of a run, even if it was not notified', async () => {
  const { log } = withWorkers()
  const deaf: ConversationLog = { ...log, subscribe: () => () => {} }
  const server = agentOn(deaf)
  const start = () => server.start({ conversation: 'c', messages: say('Hello'), ifBusy: 'reject' })
  await start()
  await agentOn(log, 'Done').advance('c')
  await start()
  expect(await log.find('c')).toMatchObject({ queued: 1 })
  await server.close()
})

it('rejects a message while another one waits, if configured so', async () => {
  const { log } = withWorkers()
  const server = agentOn(log)
  const start = () => server.start({ conversation: 'c', messages: say('Hello'), ifBusy: 'reject' })
  await start()
  await expect(start()).rejects.toMatchObject({ code: 'conversation_busy' })
  await server.close()
})

it('resumes through the workers if configured so', async () => {
  const { log, told } = withWorkers()
  const server = agentOn(log)
  await server.start({ conversation: 'c', messages: say('Hello') })
  told.length = 0
  server.resume('c').result.catch(() => {})
  await expect.poll(() => told).toMatchObject([{ conversation: 'c' }])
  expect(await server.resumeAll()).toBe(0)
  await server.close()
})

it('releases a conversation when its step has ended', async () => {
  const { log } = withWorkers()
  const leave = new AbortController()
  const tool = defineTool({
    id: 'work',
    description: 'Works',
    inputSchema: { type: 'object' },
    async execute() {
      leave.abort()
      return 'worked'
    },
  })
  const first = createAgent({
    log,
    tools: [tool],
    model: scriptedModel([{ calls: [{ name: 'work', arguments: {} }] }, 'Never asked']),
  })
  const run = await agentOn(log).start({ conversation: 'c', messages: say('Work') })

  expect(await first.advance('c', { leave: leave.signal })).toEqual({ type: 'stopped' })
  expect(await log.find('c')).toMatchObject({ status: 'running', lease: null })

  expect(await agentOn(log, 'Done').advance('c')).toEqual({ type: 'idle' })
  const { text, messages } = { text: (await run.result).text, messages: run.messages }
  expect(text).toBe('Done')
  expect(messages.filter(({ metadata }) => metadata.tool_result)).toHaveLength(1)
})

it('runs a sub-agent itself', async () => {
  const { log } = withWorkers()
  const helper = agentOn(log, 'The answer is 42')
  const tool = helper.asTool({ id: 'ask_helper', description: 'Asks' })
  const worker = createAgent({
    log,
    tools: [tool],
    model: scriptedModel([
      { calls: [{ name: 'ask_helper', arguments: { task: 'Think' } }] },
      'It is 42',
    ]),
  })
  const run = await agentOn(log).start({ conversation: 'c', messages: say('Ask') })
  await worker.advance('c')
  expect(await run.result).toMatchObject({ text: 'It is 42' })
})

it('waits in the log for a busy provider, and leaves the provider alone', async () => {
  const { log } = withWorkers()
  const ask = vi.fn(async () => {
    throw new APICallError({
      message: 'Too many requests',
      url: 'http://model',
      requestBodyValues: {},
      statusCode: 429,
      responseHeaders: { 'retry-after': '30' },
      isRetryable: true,
    })
  })
  const model = { ...scriptedModel([]), doStream: ask }
  const worker = createAgent({ log, model })
  const server = agentOn(log)
  const start = (conversation: string) => server.start({ conversation, messages: say('Hello') })
  const run = await start('a')
  await start('b')

  const release = await worker.advance('a')
  expect(release).toEqual({ type: 'later', ms: 30_000 })
  const summary = await log.find('a')
  expect(summary).toMatchObject({ status: 'running' })
  expect(summary?.lease?.expiresIn).toBeGreaterThan(25_000)

  // The other agent gets no request.
  expect(await worker.advance('b')).toMatchObject({ type: 'later' })
  expect(ask).toHaveBeenCalledOnce()

  await server.cancel('a')
  expect(await run.result).toMatchObject({ reason: 'cancelled' })
  await server.close()
})

it('tells listeners why and how long it waits before it asks the model again', async () => {
  const answers = scriptedModel(['Hello'])
  let failures = 1
  const model = {
    ...answers,
    async doStream(options: Parameters<typeof answers.doStream>[0]) {
      if (failures-- === 0) return answers.doStream(options)
      throw new APICallError({
        message: 'Overloaded',
        url: 'http://model',
        requestBodyValues: {},
        statusCode: 503,
        isRetryable: true,
      })
    },
  }
  const agent = createAgent({ model, retry: { retryDelayMs: 5 } })
  const run = await agent.start({ conversation: 'c', messages: say('Hello') })
  const retries: ConversationEvent[] = []
  for await (const event of run) if (event.type === 'MODEL_RETRY') retries.push(event)
  expect(retries).toEqual([
    {
      type: 'MODEL_RETRY',
      messageId: expect.any(String),
      attempt: 1,
      waitMs: 5,
      reason: '503: Overloaded',
    },
  ])
  await agent.close()
})

it('resumes messages that wait for workers: cancelling deletes them, and so may another caller', async () => {
  const { log } = withWorkers()
  const agent = agentOn(log)
  await agent.send('c', say('Hello'))
  const run = agent.resume('c')
  run.cancel()
  expect(await run.result).toMatchObject({ reason: 'cancelled', text: '' })
  expect(await log.find('c')).toMatchObject({ queued: 0 })

  const { messageIds } = await agent.send('c', say('Hello again'))
  const other = agent.resume('c')
  const isFollowed = new Promise<void>((resolve) => {
    const check = (): void => void (other.messageIds.length > 0 ? resolve() : setImmediate(check))
    check()
  })
  await isFollowed
  expect(other.messageIds).toEqual(messageIds)
  await agent.deleteMessage('c', messageIds[0] ?? '')
  expect(await other.result).toMatchObject({ reason: 'cancelled' })
})
