import { expect, it } from 'vitest'
import type { Tool } from '../boundary/tool.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { say } from './fixtures/agent.ts'

const asking = (name: string, id: string) => ({
  calls: [{ id, name, arguments: { task: 'Go' } }],
})
const idsIn = async (log: ReturnType<typeof createMemoryLog>) =>
  (await log.list()).conversations.map(({ id }) => id).sort()

it('deletes a conversation with those of its sub-agents, at any depth', async () => {
  const log = createMemoryLog()
  const named = (name: string, turns: ScriptedTurn[], tools: Tool[] = []) =>
    createAgent({ model: scriptedModel(turns), log, tools, name }).asTool({
      id: name,
      description: '',
    })
  const inner = named('inner', ['Inner.'])
  const helper = named('helper', [asking('inner', 'i'), 'Helper.'], [inner])
  const agent = createAgent({
    model: scriptedModel([asking('helper', 'h'), 'Done.', 'Other.', 'Other.']),
    log,
    tools: [helper],
  })
  await agent.run({ conversation: 'c', messages: say('Go') }).result
  // These only look like conversations of sub-agents.
  for (const id of ['c/x', 'cc']) await agent.run({ conversation: id, messages: say('Go') }).result
  expect(await idsIn(log)).toEqual(['c', 'c/h', 'c/h/i', 'c/x', 'cc'])
  expect(await agent.deleteConversation('c')).toBe(true)
  expect(await idsIn(log)).toEqual(['c/x', 'cc'])
  expect(await agent.deleteConversation('c')).toBe(false)
})

it('deletes those of calls that were deleted with their message, also of mapped ones', async () => {
  const log = createMemoryLog()
  const helper = createAgent({ model: scriptedModel(() => 'Secret.'), log })
  const calls = [
    ...asking('helper', 'h').calls,
    { id: 'm', name: 'helper', arguments: { task: '†item', _each: ['a', 'b'] } },
  ]
  const agent = createAgent({
    model: scriptedModel([{ calls }, 'Done.', asking('helper', 'n'), 'Again.']),
    log,
    tools: [helper.asTool({ id: 'helper', description: '' })],
  })
  const run = agent.run({ conversation: 'c', messages: say('Go') })
  await run.result
  const [asked, answer] = run.messages
  await agent.deleteMessage('c', answer?.id ?? '')
  await agent.run({ conversation: 'c', messages: say('Go on'), replaces: asked?.id }).result
  // A deleted answer keeps its sub-agents' conversations until the conversation is deleted.
  expect(await idsIn(log)).toEqual(['c', 'c/h', 'c/m/0', 'c/m/1', 'c/n'])
  await agent.deleteConversation('c')
  expect(await idsIn(log)).toEqual([])
})

it('cancels the open run, also that of a sub-agent', async () => {
  const log = createMemoryLog()
  const helper = createAgent({ model: scriptedModel(['Late.'], { delayMs: 60_000 }), log })
  const tools = [helper.asTool({ id: 'helper', description: '' })]
  const agent = createAgent({ model: scriptedModel([asking('helper', 'h')]), log, tools })
  const run = agent.run({ conversation: 'c', messages: say('Go') })
  await expect.poll(() => idsIn(log)).toEqual(['c', 'c/h'])
  expect(await agent.deleteConversation('c')).toBe(true)
  await expect(run.result).resolves.toMatchObject({ reason: 'cancelled' })
  await expect.poll(() => idsIn(log)).toEqual([])
})
