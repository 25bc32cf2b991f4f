import { generateText, isStepCount, type ModelMessage, type ToolSet, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { createAgent } from '../src/agent/agent.ts'
import { createMemoryAssetStore } from '../src/assets/stores/memory.ts'
import { createMemoryLog } from '../src/log/memory-log.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { choose, type TaskInstance } from './eval-task.ts'
import { idealModel } from './ideal-model.ts'
import { INSTRUCTIONS, messagesOf, type PlayOptions } from './play.ts'
import { playByValue } from './play-by-value.ts'
import { Random } from './random.ts'
import { EVAL_TASKS } from './tasks/eval-tasks.ts'

function instanceOf(name: string): TaskInstance {
  const task = EVAL_TASKS.find((one) => one.name === name)
  if (!task) throw new Error(`There is no task ${name}`)
  return task.create(new Random(name))
}

const options = (model: PlayOptions['model']): PlayOptions => ({
  model,
  capabilities: {},
  retry: {},
  maxSteps: 20,
  signal: new AbortController().signal,
  keep: null,
})

/** Returns a prompt without ids that differ in each run, and without undefined settings. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replace(/call_[\w-]+/g, 'call'))

/** Plays an instance as in the documentation of the AI SDK. */
async function playByAiSdk(instance: TaskInstance) {
  const model = idealModel(instance.ideal(choose('value')))
  const tools: ToolSet = Object.fromEntries(
    instance.tools('value', {}).map(({ id, description, inputSchema, execute }) => [
      id,
      tool({
        description,
        inputSchema: inputSchema as z.ZodType,
        execute: (input, { toolCallId }) => execute(input, { toolCallId } as never) as object,
      }),
    ]),
  )
  const messages: ModelMessage[] = []
  for (const content of messagesOf(instance, 'value')) {
    messages.push({ role: 'user', content })
    const stopWhen = isStepCount(20)
    const result = await generateText({ model, tools, system: INSTRUCTIONS, messages, stopWhen })
    messages.push(...result.responseMessages)
  }
  return model.requests
}

describe('playByValue', () => {
  it.each(['rows-to-tool', 'two-results', 'earlier-result', 'plain-chat', 'read-a-line'])(
    'sends the same requests as generateText of the AI SDK: %s',
    async (name) => {
      const instance = instanceOf(name)
      const model = idealModel(instance.ideal(choose('value')))
      await playByValue(instance, options(model))
      const theirs = await playByAiSdk(instance)
      expect(model.requests.length).toBeGreaterThan(0)
      expect(plain(model.requests.map(({ prompt }) => prompt))).toEqual(
        plain(theirs.map(({ prompt }) => prompt)),
      )
      const namesOf = ({ tools = [] }: (typeof theirs)[number]) =>
        tools.map((one) => [one.name, one.type === 'function' && one.description])
      expect(model.requests.map(namesOf)).toEqual(theirs.map(namesOf))
    },
  )

  it('tells the model what is wrong with a call', async () => {
    const model = scriptedModel([
      { calls: [{ name: 'make_report', arguments: { rows: '†result#1' } }] },
      { calls: [{ name: 'nothing', arguments: {} }] },
      'Sorry.',
    ])
    const { outcome } = await playByValue(instanceOf('rows-to-tool'), options(model))
    expect(outcome.received).toEqual([])
    expect(outcome.written.map(({ error }) => error)).toEqual([
      expect.stringMatching(/^The arguments of "make_report" do not match its schema: \/rows/),
      'There is no tool "nothing".',
    ])
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('There is no tool')
  })

  it('stores the conversation with the prompts that were sent', async () => {
    const log = createMemoryLog()
    const storage = { store: createMemoryAssetStore(), log: () => log }
    const model = idealModel(instanceOf('approval-refused').ideal(choose('value')))
    const keep = { storage, id: 'kept' }
    await playByValue(instanceOf('approval-refused'), { ...options(model), keep })
    const failing = scriptedModel([new Error('gone')])
    const broken = { ...options(failing), keep: { storage, id: 'broken' } }
    await expect(playByValue(instanceOf('plain-chat'), broken)).rejects.toThrow('gone')

    const agent = createAgent({ model: scriptedModel([]), log })
    const { conversations } = await agent.log.list()
    const statuses = Object.fromEntries(conversations.map(({ id, status }) => [id, status]))
    expect(statuses).toEqual({ kept: 'idle', broken: 'failed' })
    const ids: string[] = []
    for (const { event } of await agent.log.read('kept')) {
      if (event.type === 'STEP_FINISHED') ids.push(event.messageId)
    }
    const prompts = await Promise.all(ids.map((id) => agent.debug('kept', id)))
    expect(prompts.map((debug) => Object(debug).request.prompt)).toEqual(
      model.requests.map(({ prompt }) => prompt),
    )
    await agent.close()
  })
})
