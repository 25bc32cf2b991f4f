import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { createAgent } from '../../../src/agent/agent.ts'
import type { Agent } from '../../../src/agent/agent-contract.ts'
import type { FullAssetStore } from '../../../src/assets/asset-store.ts'
import { ByrefError } from '../../../src/core/errors.ts'
import { emptyConversation } from '../../../src/core/events/conversation-state.ts'
import { foldAll } from '../../../src/core/events/fold.ts'
import type { Message } from '../../../src/core/messages/message.ts'
import type { RunResult } from '../../../src/engine/run-result.ts'
import type { ConversationLog } from '../../../src/log/conversation-log.ts'
import { allRecords } from './all-records.ts'
import { assertValidPrompt } from './assert-valid-prompt.ts'
import type { Effects } from './effects.ts'
import { createLife, type Life } from './life.ts'
import { mortalLog } from './mortal-log.ts'
import { mortalStore } from './mortal-store.ts'
import { plannedModel } from './planned-model.ts'
import { answerAbout, MESSAGES, SCENARIO, SUB_SCENARIO } from './scenario.ts'
import { effectTools, helperTool, inputSchema } from './tools.ts'

/** What outlives a process. */
export interface World {
  log: ConversationLog
  store: FullAssetStore
  effects: Effects
  /** Told of each message that is accepted. */
  accepted(conversation: string, id: string): void
  /** Told of a prompt that no provider would take. */
  invalid(error: unknown): void
}

/** How a life came to the end of the scenario. */
export interface Played {
  result: RunResult
  /** The conversation as the process had it at the end. */
  messages: readonly Message[]
}

/**
 * The agent of the scenario, in a life of its own, with trust tracked and a sub-agent. Its approvals are answered by a
 * handler of its events.
 */
export function scenarioAgent(world: World, life: Life = createLife()): Agent {
  function asked(prompt: LanguageModelV4Prompt): void {
    try {
      assertValidPrompt(prompt)
    } catch (error) {
      world.invalid(error)
    }
  }
  const tools = effectTools(world.effects, life)
  const log = mortalLog(world.log, life)
  const assets = { store: mortalStore(world.store, life) }
  const helper = createAgent({
    model: plannedModel({ plan: () => SUB_SCENARIO, pass: life.pass, asked }),
    tools,
    log,
    assets,
    trust: 'track',
  })
  const sub = helper.asTool({ id: 'helper', description: 'Helps', inputSchema })
  const agent = createAgent({
    model: plannedModel({ plan: () => SCENARIO, pass: life.pass, asked }),
    tools: [...tools, helperTool(sub, world.effects)],
    log,
    assets,
    trust: 'track',
    callbacks: {
      async onEvent(event, { conversation }) {
        if (event.type !== 'APPROVAL_REQUESTED' || conversation === null) return
        await answer(agent, conversation, event.toolCallId, event.arguments)
      },
    },
  })
  return agent
}

/** Begins the scenario or goes on with it, to its end. */
export async function play(agent: Agent, world: World, conversation: string): Promise<Played> {
  const isThere = (await world.log.find(conversation)) !== null
  if (isThere) await answerAsked(agent, world, conversation)
  const run = isThere
    ? agent.resume(conversation)
    : await agent.start({ conversation, messages: [MESSAGES.first] })
  if (!isThere) {
    world.accepted(conversation, MESSAGES.first.id)
    await agent.send(conversation, MESSAGES.steering, { mode: 'steer' })
    world.accepted(conversation, MESSAGES.steering.id)
  }
  const result = await run.result
  return { result, messages: run.messages }
}

/** Answers what was asked in an earlier life: no handler hears of that any more. */
async function answerAsked(agent: Agent, { log }: World, conversation: string): Promise<void> {
  const { calls } = foldAll(emptyConversation, await allRecords(log, conversation))
  for (const { id, status, approval } of Object.values(calls)) {
    if (status === 'waiting') await answer(agent, conversation, id, approval?.arguments)
  }
}

async function answer(
  agent: Agent,
  conversation: string,
  toolCallId: string,
  shown: unknown,
): Promise<void> {
  try {
    await agent.approve(conversation, toolCallId, answerAbout(shown))
  } catch (error) {
    // Another life's answer was stored after all.
    if (!(error instanceof ByrefError && error.code === 'approval_answered')) throw error
  }
}

/** Gives up on what takes too long, which is a failure of its own kind: a run that hangs. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const controller = new AbortController()
  const late = sleep(ms, undefined, { signal: controller.signal }).then(() => {
    throw new Error(`${what} did not end within ${ms} ms`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    controller.abort()
    late.catch(() => {})
  }
}
