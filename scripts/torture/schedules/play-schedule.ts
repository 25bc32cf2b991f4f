import assert from 'node:assert/strict'
import { createAgent } from '../../../src/agent/agent.ts'
import type { Agent } from '../../../src/agent/agent-contract.ts'
import { createRandom, type Random } from '../../../src/agent/fixtures/random.ts'
import type { FullAssetStore } from '../../../src/assets/asset-store.ts'
import { ByrefError } from '../../../src/core/errors.ts'
import { emptyConversation } from '../../../src/core/events/conversation-state.ts'
import { foldAll } from '../../../src/core/events/fold.ts'
import type { ConversationLog } from '../../../src/log/conversation-log.ts'
import { allRecords } from '../runs/all-records.ts'
import { assertSoundConversation } from '../runs/assert-sound-conversation.ts'
import { assertValidPrompt } from '../runs/assert-valid-prompt.ts'
import { memoryEffects } from '../runs/effects.ts'
import { plannedModel } from '../runs/planned-model.ts'
import { delayedLog, delayedStore } from './delayed.ts'
import { plannedBy } from './plan.ts'
import type { Scheduler } from './scheduler.ts'
import { scheduledTools } from './tools.ts'

/** Where a schedule is played. */
export interface ScheduledWorld {
  /** A log for each host, on the same storage. */
  logs: readonly ConversationLog[]
  store: FullAssetStore
  conversation: string
}

const LEASE_MS = 3000

/**
 * Plays the schedule of one seed: one or two hosts, tasks that are queued or steer, approvals, cancellations, a host
 * that closes. At the end, every run has ended, and nothing was lost or done twice.
 *
 * @throws an error that says what is wrong, or that it did not end
 */
export async function playSchedule(
  seed: number,
  { logs, store, conversation }: ScheduledWorld,
  makeScheduler: (random: Random) => Scheduler,
): Promise<void> {
  const random = createRandom(seed)
  const scheduler = makeScheduler(createRandom(seed ^ 0x5eed))
  const effects = memoryEffects()
  const accepted: string[] = []
  const problems: unknown[] = []
  const agents = logs.slice(0, 1 + random.below(logs.length)).map((log) =>
    createAgent({
      model: plannedModel({
        plan: plannedBy(seed),
        pass: scheduler.hops,
        asked(prompt) {
          try {
            assertValidPrompt(prompt)
          } catch (error) {
            problems.push(error)
          }
        },
      }),
      tools: scheduledTools(effects, scheduler, random),
      log: delayedLog(log, scheduler),
      assets: { store: delayedStore(store, scheduler) },
      leaseMs: LEASE_MS,
      limits: { steps: 1000, parallelCalls: random.pick([1, 2, 16]) },
    }),
  )
  let open = [...agents]
  const agent = (): Agent => random.pick(open)

  /** Uses an open host. If that is closed meanwhile, repeats the request at another host, like a client. */
  async function atOpenHost<T>(use: (host: Agent) => Promise<T>): Promise<T> {
    for (;;) {
      const host = agent()
      try {
        return await use(host)
      } catch (error) {
        unless('interrupted')(error)
        if (open.includes(host)) throw error
      }
    }
  }

  async function task(i: number): Promise<void> {
    const id = `t${seed}-${i}`
    const message = { id, role: 'user', content: `do ${id}` }
    if (i > 0) await scheduler.sleep(random.below(200))
    for (let left = random.below(30); left > 0 && i > 0; left--) await scheduler.hop()
    const ifBusy = random.pick(['queue', 'steer'] as const)
    const run = await atOpenHost((host) =>
      host.start({ conversation, messages: [message], ifBusy }),
    )
    accepted.push(id)
    await run.result.catch(unless('interrupted'))
  }

  async function cancelOnce(): Promise<void> {
    for (let left = random.below(60); left > 0; left--) await scheduler.hop()
    await atOpenHost((host) => host.cancel(conversation))
  }

  async function closeOne(): Promise<void> {
    for (let left = random.below(60); left > 0; left--) await scheduler.hop()
    const [first, ...rest] = open
    open = rest
    await first?.close()
  }

  /** Answers questions about calls until no run is active. */
  async function answer(isDone: () => boolean): Promise<void> {
    for (;;) {
      await scheduler.sleep(20 + random.below(300))
      const state = foldAll(
        emptyConversation,
        await allRecords(logs[0] as ConversationLog, conversation),
      )
      for (const { id, status } of Object.values(state.calls)) {
        if (status !== 'waiting') continue
        const answer = { approved: random.chance(0.8), reason: 'no' }
        await atOpenHost((host) => host.approve(conversation, id, answer)).catch(
          unless('approval_answered'),
        )
      }
      const isIdle = state.runs.at(-1)?.status !== 'running' && state.inbox.length === 0
      if (isIdle && isDone()) return
      // Continues what the closed host left.
      if (closes) goOn(agent())
    }
  }

  function goOn(host: Agent): void {
    host
      .resume(conversation)
      .result.catch(unless('run_not_found', 'interrupted'))
      .catch((error) => problems.push(error))
  }

  const closes = agents.length > 1 && random.chance(0.3)
  const cancels = random.chance(0.2)
  await scheduler.run(async () => {
    let done = false
    const work = Promise.all([
      ...Array.from({ length: 1 + random.below(3) }, (_, i) => task(i)),
      cancels ? cancelOnce() : null,
      closes ? closeOne() : null,
    ]).then(() => {
      done = true
    })
    await Promise.all([work, answer(() => done)])
    await Promise.all(open.map((one) => one.close()))
  })
  const records = await allRecords(logs[0] as ConversationLog, conversation)
  assert.deepEqual(problems, [], 'every prompt is one that providers take, and runs that go on')
  assertSoundConversation({ records, effects: effects.all(), accepted })
}

function unless(...codes: string[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ByrefError && codes.includes(error.code))) throw error
  }
}
