import assert from 'node:assert/strict'
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { allRecords } from '../../scripts/torture/runs/all-records.ts'
import { assertSoundRun, assertSoundSubRuns } from '../../scripts/torture/runs/assert-sound-run.ts'
import { assertValidPrompt } from '../../scripts/torture/runs/assert-valid-prompt.ts'
import { memoryEffects } from '../../scripts/torture/runs/effects.ts'
import { createLife } from '../../scripts/torture/runs/life.ts'
import { mortalLog } from '../../scripts/torture/runs/mortal-log.ts'
import { play, scenarioAgent, type World, within } from '../../scripts/torture/runs/play.ts'
import { MESSAGES } from '../../scripts/torture/runs/scenario.ts'
import { createMemoryAssetStore } from '../assets/stores/memory.ts'
import { defineTool, type Tool } from '../boundary/tool.ts'
import type { LogRecord } from '../core/events/events.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { answerStream } from '../models/answer-stream.ts'
import type { ModelStreamPart } from '../models/language-model.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

/** Longer than any of these takes on a busy machine. */
const PATIENCE = 90_000

describe('a process that dies', () => {
  it('loses no work, at whichever point of a run it dies', async () => {
    const deaths = await everyPoint(async (diesAt) => {
      return (await lives([diesAt]))[0] === 'died'
    })
    expect(deaths).toBeGreaterThan(100)
  })

  it('loses no work if the process that continues also dies', async () => {
    const pairs = Array.from({ length: 60 }, (_, i): [number, number] => [
      1 + ((i * 37) % 300),
      1 + ((i * i * 7) % 120),
    ])
    const ends = await inGroups(pairs, (pair) => lives(pair))
    expect(ends.filter(([, second]) => second === 'died').length).toBeGreaterThan(20)
  })
})

describe('processes that die one after the other', () => {
  it('do not use up steps for answers that are not in the log', async () => {
    // In the middle of the first answer, as many times as there may be steps.
    const deaths = [6, ...Array.from({ length: 30 }, () => 5)]
    expect(await lives(deaths)).toEqual(deaths.map(() => 'died'))
  })
})

describe('a process that dies while the model is still answering', () => {
  it('does not request the answer again after one of its calls started', async () => {
    const prompts: LanguageModelV4Prompt[] = []
    const model: LanguageModelV4 = {
      ...scriptedModel([]),
      async doStream({ prompt }) {
        prompts.push(prompt)
        return { stream: prompts.length === 1 ? unfinished() : answerStream({ text: 'done' }) }
      },
    }
    const done: string[] = []
    const tool = (id: string, result: unknown): Tool =>
      defineTool({
        id,
        description: id,
        inputSchema: { type: 'object' },
        execute() {
          done.push(id)
          return result
        },
      })
    const tools = [tool('quick', 'here'), tool('slow', new Promise(() => {}))]
    const log = createMemoryLog()
    const life = createLife()
    await createAgent({ model, tools, log: mortalLog(log, life) }).start({
      conversation: 'c',
      messages: [MESSAGES.first],
    })
    await expect.poll(async () => resultsIn(await log.read('c'))).toEqual(['quick: "here"'])
    await expect.poll(() => done).toEqual(['quick', 'slow'])
    life.end()

    const agent = createAgent({ model, tools, log })
    expect(await agent.resume('c').result).toMatchObject({ text: 'done', reason: 'done' })
    expect(prompts).toHaveLength(2)
    expect(done).toEqual(['quick', 'slow'])
    expect(resultsIn(await log.read('c'))).toEqual(['quick: "here"', 'slow: interrupted'])
    const said = prompts[1]?.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
    expect(said).toMatchObject([{ toolCallId: 'quick' }, { toolCallId: 'slow' }])
    assertValidPrompt(prompts[1] ?? [])
    await agent.close()
  })
})

/** An answer that stops in its third call. */
async function* broken(): AsyncGenerator<ModelStreamPart> {
  const calls = ['quick', 'slow', 'never'].map((id) => ({ id, name: id, arguments: {} }))
  for await (const part of answerStream({ text: 'I shall see.', calls })) {
    yield part
    if (part.type === 'tool-input-start' && part.id === 'never') await new Promise(() => {})
  }
}

function unfinished(): ReadableStream<ModelStreamPart> {
  return ReadableStream.from(broken())
}

/** The results of calls, in the order of the log. */
function resultsIn(records: readonly LogRecord[]): string[] {
  return records.flatMap(({ event }) => {
    const result = event.type === 'NEW_MESSAGE' && event.payload.metadata.tool_result
    if (!result || event.type !== 'NEW_MESSAGE') return []
    return `${result.tool_call_id}: ${result.error?.code ?? JSON.stringify(event.payload.content)}`
  })
}

/** Lives that each die at their point, if they reach it, and one more that reaches the end. Then checks the result. */
async function lives(deaths: readonly number[]): Promise<('died' | 'ended')[]> {
  const accepted: string[] = []
  const invalid: unknown[] = []
  const world: World = {
    log: createMemoryLog(),
    store: createMemoryAssetStore(),
    effects: memoryEffects(),
    accepted: (_, id) => void accepted.push(id),
    invalid: (error) => void invalid.push(error),
  }
  const ends: ('died' | 'ended')[] = []
  for (const diesAt of deaths) {
    const life = createLife(diesAt)
    const played = play(scenarioAgent(world, life), world, 'c').then(() => 'ended' as const)
    const died = life.ended.then(() => 'died' as const)
    ends.push(await within(PATIENCE, `life ${deaths}`, Promise.race([played, died])))
  }
  try {
    const agent = scenarioAgent(world)
    const { result, messages } = await within(PATIENCE, 'the last life', play(agent, world, 'c'))
    assert.deepEqual([result.reason, result.text], ['done', 'done'])
    const records = await allRecords(world.log, 'c')
    const effects = world.effects.all().filter(({ conversation }) => conversation === 'c')
    const state = assertSoundRun({ records, effects, accepted })
    await assertSoundSubRuns(world, 'c')
    assert.deepEqual(messages, state.messages, 'a log that is folded anew says the same')
    await agent.run({ conversation: 'c', messages: [{ role: 'user', content: 'Thank you' }] })
      .result
    await agent.close()
    assert.deepEqual(invalid, [], 'every prompt is one that providers take')
  } catch (error) {
    throw new Error(`After deaths at ${deaths}: ${error}`, { cause: error })
  }
  return ends
}

/** Tries 1, 2, 3 … until a life ends before it dies. Returns the number of deaths. */
async function everyPoint(dies: (point: number) => Promise<boolean>): Promise<number> {
  for (let first = 1; ; first += GROUP) {
    const points = Array.from({ length: GROUP }, (_, i) => first + i)
    const died = await Promise.all(points.map(dies))
    const last = died.indexOf(false)
    if (last !== -1) return first + last - 1
  }
}

/** Number of concurrent tries. They spend most of their time waiting for the leases of dead processes. */
const GROUP = 20

async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let start = 0; start < items.length; start += GROUP) {
    results.push(...(await Promise.all(items.slice(start, start + GROUP).map(work))))
  }
  return results
}
