import { describe, expect, it } from 'vitest'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { AgentOptions } from './agent-contract.ts'
import { say } from './fixtures/agent.ts'

const helperCall = (args: Record<string, unknown>) => ({
  calls: [{ id: 'h', name: 'helper', arguments: args }],
})

/** An agent with a sub-agent, as one process has them. */
function processOn(
  log: ConversationLog,
  turns: ScriptedTurn[],
  child: LanguageModel,
  limits?: AgentOptions['limits'],
) {
  const helper = createAgent({ model: child, log })
  const tools = [helper.asTool({ id: 'helper', description: '' })]
  const agent = createAgent({ model: scriptedModel(turns), log, tools, limits })
  return {
    agent,
    async end() {
      await agent.close()
      await helper.close()
    },
  }
}

/** A process that dies while `count` runs of its sub-agent wait for their model. */
async function left(log: ConversationLog, call: ScriptedTurn, count = 1): Promise<void> {
  const asked = Promise.withResolvers<void>()
  let asks = 0
  const hanging: LanguageModel = {
    ...scriptedModel([]),
    doStream() {
      if (++asks === count) asked.resolve()
      return new Promise<never>(() => {})
    },
  }
  const before = processOn(log, [call], hanging)
  const run = before.agent.run({ conversation: 'c', messages: say('Go') })
  run.result.catch(() => {})
  await asked.promise
  await before.end()
}

const NONE = { inputTokens: null, outputTokens: null }

async function ends(log: ConversationLog, conversation: string): Promise<string[]> {
  return (await log.read(conversation)).flatMap(({ event }) => {
    return event.type === 'RUN_FINISHED' ? [event.result.reason] : []
  })
}

describe('a sub-agent’s run whose process is gone', () => {
  it('ends when its calling run is cancelled', async () => {
    const log = createMemoryLog()
    await left(log, helperCall({ task: 'Wait' }))
    expect((await log.find('c/h'))?.status).toBe('running')

    const after = processOn(log, [], scriptedModel([]))
    expect(await after.agent.cancel('c')).toBe(true)
    expect(await ends(log, 'c')).toEqual(['cancelled'])
    expect(await ends(log, 'c/h')).toEqual(['cancelled'])
  })

  it('ends when its calling run is cancelled, for each item of a mapped call', async () => {
    const log = createMemoryLog()
    await left(log, helperCall({ task: '†item', _each: ['One', 'Two'] }), 2)

    const after = processOn(log, [], scriptedModel([]))
    await after.agent.cancel('c')
    expect(await ends(log, 'c/h/0')).toEqual(['cancelled'])
    expect(await ends(log, 'c/h/1')).toEqual(['cancelled'])
  })

  it('ends when another agent resumes all, after its calling run was cancelled without it', async () => {
    const log = createMemoryLog()
    const asked = Promise.withResolvers<void>()
    const hanging: LanguageModel = {
      ...scriptedModel([]),
      doStream() {
        asked.resolve()
        return new Promise<never>(() => {})
      },
    }
    const helper = createAgent({ model: hanging, log, name: 'helper' })
    const tools = [helper.asTool({ id: 'helper', description: '' })]
    const call = helperCall({ task: 'Wait' })
    const agent = createAgent({ model: scriptedModel([call]), log, tools, name: 'main' })
    agent.run({ conversation: 'c', messages: say('Go') }).result.catch(() => {})
    await asked.promise
    await agent.close()
    await helper.close()
    const run = (await log.find('c'))?.openRun as string
    await log.append('c', [
      {
        type: 'RUN_FINISHED',
        threadId: 'c',
        runId: run,
        result: { reason: 'cancelled', usage: NONE },
      },
    ])

    const other = createAgent({ model: scriptedModel([]), log, name: 'main' })
    expect(await other.resumeAll()).toBe(0)
    await expect.poll(() => ends(log, 'c/h')).toEqual(['cancelled'])
  })

  it('ends if the time limit of the calling run passes before another process takes it over', async () => {
    const log = createMemoryLog()
    await left(log, helperCall({ task: 'Wait' }))
    const { agent } = processOn(log, [], scriptedModel([]), { runTimeoutMs: 1 })
    await agent.resume('c').result
    expect(await ends(log, 'c')).toEqual(['time_limit'])
    await expect.poll(() => ends(log, 'c/h')).toEqual(['cancelled'])
  })

  it.each(['resumeAll', 'advance'] as const)(
    'ends by %s where its calling run is over',
    async (way) => {
      const log = createMemoryLog()
      await left(log, helperCall({ task: 'Wait' }))
      // The process that cancelled the calling run died before it could cancel this one.
      const [started] = (await log.read('c')).flatMap(({ event }) =>
        event.type === 'RUN_STARTED' ? event : [],
      )
      const usage = { inputTokens: null, outputTokens: null }
      const runId = started?.runId ?? ''
      const end = { threadId: 'c', runId, result: { reason: 'cancelled', usage } } as const
      await log.append('c', [{ type: 'RUN_FINISHED', ...end }])

      const { agent } = processOn(log, [], scriptedModel([]))
      if (way === 'advance') await agent.advance('c/h')
      else await agent.resumeAll()
      await expect.poll(() => ends(log, 'c/h')).toEqual(['cancelled'])
    },
  )
})
