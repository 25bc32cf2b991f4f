// node process-child.ts <folder> <conversations> <milliseconds> <seed>: advances, messages, approves and cancels
// conversations at random, as one of several processes. Then waits for all of them to end, and prints what it knows.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAgent } from '../../../src/agent/agent.ts'
import { ByrefError } from '../../../src/core/errors.ts'
import type { Run } from '../../../src/engine/follow-run.ts'
import { assertValidPrompt } from './assert-valid-prompt.ts'
import { openDiskWorld } from './disk-world.ts'
import { createLife } from './life.ts'
import { plannedModel } from './planned-model.ts'
import { within } from './play.ts'
import { digestOf, type ProcessReport } from './process-report.ts'
import { planOf } from './task-plan.ts'
import { effectTools } from './tools.ts'

const [folder = '', conversations = '50', ms = '1000', seed = '1'] = process.argv.slice(2)
const world = openDiskWorld(folder)
/** Long enough for a process that gets little CPU time on a busy machine. A live process must not lose its lease. */
const LEASE_MS = 3000
const agent = createAgent({
  model: plannedModel({ plan: planOf, asked: assertValidPrompt }),
  tools: effectTools(world.effects, createLife(), () => random(12)),
  log: world.log,
  assets: { store: world.store },
  leaseMs: LEASE_MS,
  limits: { steps: 1000 },
})
/** Maximum delay until this process learns that all have ended, in milliseconds. */
const PATIENCE = 60_000
const counts = { runs: 0, messages: 0, approvals: 0, cancels: 0, resumes: 0 }
let state = Number(seed)
let tasks = 0

function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

const conversation = (i = random(Number(conversations))): string => `c${i}`

function task(): { id: string; role: string; content: string } {
  const id = `task-${seed}-${tasks++}`
  return { id, role: 'user', content: `do ${id}` }
}

/** Runs that were started or followed here. Each settles. */
const following: { run: Run; how: string; result: Promise<unknown> }[] = []

async function begin(id: string): Promise<void> {
  const message = task()
  const ifBusy = random(2) === 0 ? 'queue' : 'steer'
  const begun = await agent.start({ conversation: id, messages: [message], ifBusy })
  world.accepted(id, message.id)
  following.push({ run: begun, how: ifBusy, result: begun.result })
  counts.runs++
}

async function say(id: string): Promise<void> {
  const message = task()
  await agent.send(id, message, { mode: random(2) === 0 ? 'queue' : 'steer' })
  world.accepted(id, message.id)
  counts.messages++
}

async function resume(id: string): Promise<void> {
  const resumed = agent.resume(id)
  const result = resumed.result.catch(unless('run_not_found'))
  following.push({ run: resumed, how: 'resume', result })
  counts.resumes++
}

/** Answers about a waiting call, often at the same time as another process. */
async function approve(id: string): Promise<void> {
  for (const toolCallId of await waitingIn(id)) {
    const answer = { approved: random(5) > 0, reason: 'no' }
    await agent
      .approve(id, toolCallId, answer)
      .then(() => void counts.approvals++, unless('approval_answered'))
  }
}

async function waitingIn(id: string): Promise<string[]> {
  const summary = await world.log.find(id)
  if (summary?.status !== 'waiting') return []
  const asked = new Set<string>()
  const from = Math.max(0, summary.position - 100)
  for (const { event } of await world.log.read(id, { after: from })) {
    if (event.type === 'APPROVAL_REQUESTED') asked.add(event.toolCallId)
    if (event.type === 'APPROVAL_ANSWERED') asked.delete(event.toolCallId)
  }
  return [...asked]
}

async function cancel(id: string): Promise<void> {
  if (await agent.cancel(id)) counts.cancels++
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ByrefError && error.code === code)) throw error
  }
}

/**
 * Extra time for a process that has not yet done one of everything, in milliseconds, because it may get little CPU
 * time.
 */
const LONGER = 60_000

async function work(until: number): Promise<void> {
  const lacks = () => Math.min(counts.messages, counts.approvals, counts.cancels) === 0
  while (Date.now() < until || (lacks() && Date.now() < until + LONGER)) {
    const dice = random(100)
    const id = conversation()
    if (dice < 15) await begin(id)
    else if (dice < 40) await say(id)
    else if (dice < 55) await resume(id)
    else if (dice < 92) await approve(id)
    else await cancel(id)
    await sleep(random(20))
  }
}

/** Waits for the end of a conversation: no run is active, and no message waits. */
async function finish(id: string): Promise<void> {
  for (;;) {
    const summary = await world.log.find(id)
    if (!summary || (summary.openRun === null && summary.queued === 0)) return
    await approve(id)
    await resume(id)
    await sleep(150 + random(100))
  }
}

/** The parent tells when all other processes are ready, and when all have finished. */
async function told(): Promise<void> {
  await once(process, 'message')
}

process.send?.('ready')
await told()
const until = Date.now() + Number(ms)
await Promise.all([work(until), work(until)])
const all = Array.from({ length: Number(conversations) }, (_, i) => conversation(i))
await Promise.all(all.map(finish))
for (const { run, how, result } of following) {
  await within(PATIENCE, `the run ${run.id} of ${run.conversation} (${how})`, result)
}
process.send?.('finished')
await told()
const digests: Record<string, string> = {}
for (const id of all) {
  const last = agent.resume(id)
  await last.result.catch(unless('run_not_found'))
  assert.ok(last.messages)
  digests[id] = digestOf(last.messages)
}
const report: ProcessReport = { counts, digests }
process.send?.(report, () => process.exit())
