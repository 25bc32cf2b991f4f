import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { createAgent } from '../../../src/agent/agent.ts'
import type { Agent } from '../../../src/agent/agent-contract.ts'
import type { FullAssetStore } from '../../../src/assets/asset-store.ts'
import { ByrefError } from '../../../src/core/errors.ts'
import { emptyConversation } from '../../../src/core/events/conversation-state.ts'
import { foldAll } from '../../../src/core/events/fold.ts'
import type { Message } from '../../../src/core/messages/message.ts'
import type { RunResult } from '../../../src/engine/output/run-output.ts'
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

/** What survives a process. */
export interface World {
  log: ConversationLog
  store: FullAssetStore
  effects: Effects
  /** Called with each accepted message. */
  accepted(conversation: string, id: string): void
  /** Called with a prompt that providers would reject. */
  invalid(error: unknown): void
}

/** A life that reached the end of the scenario. */
export interface Played {
  result: RunResult
  /** The conversation at the end, as the process knows it. */
  messages: readonly Message[]
}

/**
 * The agent of the scenario, in a life of its own, with tracked trust and a sub-agent. An event handler answers its
 * approvals.
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

/** Starts or continues the scenario, to its end. */
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

/** Answers questions of an earlier life, whose events no handler receives any more. */
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
    // The answer of another life was stored after all.
    if (!(error instanceof ByrefError && error.code === 'approval_answered')) throw error
  }
}

/** Gives up on work that takes too long. A run that hangs is a failure of its own kind. */
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
