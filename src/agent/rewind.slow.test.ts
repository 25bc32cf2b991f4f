import { describe, expect, it } from 'vitest'
import { assertValidPrompt } from '../../scripts/torture/runs/assert-valid-prompt.ts'
import { writerOf } from '../core/messages/data-block.ts'
import type { Message } from '../core/messages/message.ts'
import { resultCall } from '../core/messages/results.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { count } from './fixtures/agent.ts'
import { CONVERSATION, contentOf, playRandomly } from './fixtures/random-conversation.ts'

/** Use more by hand: BYREF_REWINDS=200. */
const SEEDS = Array.from({ length: Number(process.env.BYREF_REWINDS ?? 12) }, (_, i) => i + 1)

const idsOf = (messages: readonly Message[] = []): string[] => messages.map(({ id }) => id)
const callsOf = (messages: readonly Message[]): Set<string | null> =>
  new Set(messages.map((message) => resultCall(message) ?? writerOf(message)))

describe('agent.fork, to rewind', () => {
  it.each(SEEDS)('reads everything as it was, at every message: seed %i', async (seed) => {
    const { agent, model, moments } = await playRandomly(seed)
    const messages = (await agent.conversation(CONVERSATION))?.messages ?? []
    const noted = new Map(moments.map((moment) => [moment.messageId, moment]))
    expect([...noted.keys()].toSorted()).toEqual(idsOf(messages).toSorted())
    for (const [i, { id: at }] of messages.entries()) {
      const fork = await agent.fork(CONVERSATION, { at, branch: i % 2 === 0 })
      const content = await agent.conversation(fork)
      expect(idsOf(content?.messages)).toEqual(idsOf(messages.slice(0, i + 1)))
      const { board, assets } = noted.get(at) ?? { board: '', assets: [] }
      expect(JSON.stringify(content?.board.snapshot()), `the data at message ${i}`).toBe(board)
      // An asset belongs to the messages of its call.
      const calls = callsOf(messages.slice(0, i + 1))
      const expected = assets.filter(({ call }) => call === undefined || calls.has(call))
      const found = []
      for (const { ref, toolCallId: call } of content?.assets ?? []) {
        found.push({ ref, call, content: await contentOf(agent.assets, ref) })
      }
      expect(found, `the assets at message ${i}`).toEqual(expected)
      await agent.run({ conversation: fork, messages: 'Go on' }).result
      assertValidPrompt(model.requests.at(-1)?.prompt ?? [])
    }
    for (const [i, { id: before }] of messages.entries()) {
      const content = await agent.conversation(await agent.fork(CONVERSATION, { before }))
      expect(idsOf(content?.messages)).toEqual(idsOf(messages.slice(0, i)))
    }
    await agent.close()
  })
})

describe('agent.fork', () => {
  it('keeps the times of what it copies, so that calls took as long as before', async () => {
    const log = createMemoryLog()
    const agent = createAgent({ log, model: scriptedModel(['Hello']) })
    await agent.run({ conversation: 'c', messages: 'Hi' }).result
    const lines: string[] = []
    for await (const line of log.export('c')) {
      const time = `2026-01-01T12:00:0${lines.length}.000Z`
      lines.push(line.replace(/"timestamp":"[^"]*","event"/, `"timestamp":"${time}","event"`))
    }
    await log.import(lines, { id: 'old' })
    const timesOf = async (id: string) => (await log.read(id)).map(({ timestamp }) => timestamp)
    const times = await timesOf('old')
    expect(new Set(times).size).toBe(times.length)
    expect(await timesOf(await agent.fork('old'))).toEqual(times)
    expect((await timesOf(await agent.fork('old', { branch: true }))).slice(0, -1)).toEqual(times)
  })

  it('gives the title of a conversation to its versions, and not to other forks', async () => {
    const log = createMemoryLog()
    const agent = createAgent({ log, model: scriptedModel(['Hello']) })
    await agent.run({ conversation: 'c', messages: 'Hi' }).result
    const titleOf = async (id: string) => (await log.find(id))?.title
    expect(await titleOf(await agent.fork('c', { branch: true }))).toBe('Hi')
    await log.rename('c', 'My plan')
    expect(await titleOf(await agent.fork('c', { branch: true }))).toBe('My plan')
    expect(await titleOf(await agent.fork('c'))).toBe('Hi')
  })
})

describe('agent.debug of a fork', () => {
  it('has the tools and instructions of the run, which another agent may not have', async () => {
    const log = createMemoryLog()
    const model = scriptedModel(['Hello'])
    const first = createAgent({ log, model, tools: [count], instructions: 'Be brief' })
    await first.run({ conversation: 'c', messages: 'Hi' }).result
    const fork = await first.fork('c')
    const answer = (await first.conversation(fork))?.messages.at(-1)?.id ?? ''
    const other = createAgent({ log, model, instructions: 'Be long' })
    const { request } = Object(await other.debug(fork, answer))
    expect(request.tools).toMatchObject([{ name: 'count' }])
    expect(JSON.stringify(request.prompt)).toContain('Be brief')
  })
})
