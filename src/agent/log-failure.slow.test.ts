import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { allRecords } from '../../scripts/torture/runs/all-records.ts'
import { memoryEffects } from '../../scripts/torture/runs/effects.ts'
import { executionsOf } from '../../scripts/torture/runs/executions.ts'
import { play, scenarioAgent, type World, within } from '../../scripts/torture/runs/play.ts'
import { isIdempotent } from '../../scripts/torture/runs/tools.ts'
import { createMemoryAssetStore } from '../assets/stores/memory.ts'
import { ByrefError } from '../core/errors.ts'
import { emptyConversation } from '../core/events/conversation-state.ts'
import type { LogRecord } from '../core/events/events.ts'
import { foldAll } from '../core/events/fold.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'

/** How appends fail: from this number on, how many, and before or after they are stored. */
interface Failure {
  first: number
  count: number
  stored: boolean
  error: Error
}

interface FailingLog extends ConversationLog {
  /** Number of appends so far. */
  readonly appends: number
  /** From now on, all appends succeed. */
  mend(): void
}

function failing(log: ConversationLog, { first, count, stored, error }: Failure): FailingLog {
  let appends = 0
  let last = first + count - 1
  return {
    ...log,
    get appends() {
      return appends
    },
    mend() {
      last = 0
    },
    async append(id, events, options) {
      const fails = ++appends >= first && appends <= last
      if (fails && !stored) throw error
      const records = await log.append(id, events, options)
      if (fails) throw error
      return records
    },
    async renew(id, lease) {
      if (appends >= first && appends < last) throw error
      return log.renew(id, lease)
    },
  }
}

/** Longer than any of these takes on a busy machine. */
const PATIENCE = 90_000

/** More appends than the run makes. */
const FOREVER = 100_000

const broken = new Error('The disk is on fire')
const full = new ByrefError('storage_full', 'The disk is full')

describe('a log that fails', () => {
  it.each([
    { how: 'throws once', count: 1, stored: false, error: broken },
    { how: 'is full once', count: 1, stored: false, error: full },
    { how: 'is full for three appends', count: 3, stored: false, error: full },
    { how: 'throws until it is mended', count: FOREVER, stored: false, error: broken },
    { how: 'stores once and then throws', count: 1, stored: true, error: broken },
    { how: 'stores three times and then throws', count: 3, stored: true, error: broken },
  ])('$how, at any append: one ending in the end', async (failure) => {
    const appends = await everyAppend((first) => oneEnding({ ...failure, first }))
    expect(appends).toBeGreaterThan(30)
  })

  it('lets a run be cancelled as soon as it works again', async () => {
    const failure = { count: FOREVER, stored: false, error: broken }
    await everyAppend((first) => cancelled({ ...failure, first }))
  })
})

/** Tries 1, 2, 3 … until a run ends before that append. */
async function everyAppend(fails: (first: number) => Promise<boolean>): Promise<number> {
  for (let first = 1; ; first++) {
    try {
      if (!(await fails(first))) return first - 1
    } catch (error) {
      throw new Error(`Failing at append ${first}: ${error}`, { cause: error })
    }
  }
}

function begin(failure: Failure) {
  const log = failing(createMemoryLog(), failure)
  const accepted: string[] = []
  const invalid: unknown[] = []
  const world: World = {
    log,
    store: createMemoryAssetStore(),
    effects: memoryEffects(),
    accepted: (_, id) => void accepted.push(id),
    invalid: (error) => void invalid.push(error),
  }
  const agent = scenarioAgent(world)
  /** Settles, whatever happens to the log. */
  const played = within(PATIENCE, 'the run', play(agent, world, 'c')).then(
    () => null,
    (error: unknown) => error,
  )
  return { log, world, agent, played, accepted, invalid }
}

async function oneEnding(failure: Failure): Promise<boolean> {
  const { log, world, agent, played, accepted, invalid } = begin(failure)
  const error = await played
  if (log.appends < failure.first) {
    assert.equal(error, null)
    await agent.close()
    return false
  }
  log.mend()
  if ((await log.find('c')) !== null) {
    await within(PATIENCE, 'the resumed run', play(agent, world, 'c')).catch(isOfLog)
  }
  assertEnded(await allRecords(log, 'c'))
  const messages = [{ role: 'user', content: 'Go on' }]
  const next = agent.run({ conversation: 'c', messages })
  assert.equal((await within(PATIENCE, 'the next run', next.result)).text, 'done')

  const records = await allRecords(log, 'c')
  assertEnded(records)
  const { messages: folded } = foldAll(emptyConversation, records)
  assert.deepEqual(next.messages, folded, 'a log that is folded anew says the same')
  const said = records.flatMap(({ event }) =>
    event.type === 'NEW_MESSAGE' ? event.payload.id : [],
  )
  for (const id of accepted) assert.equal(said.filter((one) => one === id).length, 1)
  for (const { id, tool, begun, effects } of executionsOf(
    records,
    world.effects.all().filter(({ conversation }) => conversation === 'c'),
  ).executions) {
    if (isIdempotent(tool)) continue
    assert.ok(begun.length <= 1 && effects.length <= 1, `${id} (${tool}) was begun again`)
  }
  assert.deepEqual(invalid, [])
  await agent.close()
  return true
}

async function cancelled(failure: Failure): Promise<boolean> {
  const { log, agent, played } = begin(failure)
  await played
  const reached = log.appends >= failure.first
  const during = await agent.cancel('c').catch((error: unknown) => error)
  if (reached && during !== false) assert.ok(during instanceof ByrefError, `${during}`)
  log.mend()
  const wasOpen = (await log.find('c'))?.openRun != null
  assert.equal(await agent.cancel('c'), wasOpen)
  const next = agent.run({ conversation: 'c', messages: [{ role: 'user', content: 'Go on' }] })
  assert.equal((await within(PATIENCE, 'the next run', next.result)).text, 'done')
  assertEnded(await allRecords(log, 'c'))
  await agent.close()
  return reached
}

/** Errors of a run that a failure of the log may cause. Any other error is a fault of the engine. */
function isOfLog(error: unknown): void {
  const code = error instanceof ByrefError ? error.code : ''
  if (code !== 'log_failed' && code !== 'storage_full') throw error
}

/** One run at a time, and each ended exactly once. */
function assertEnded(records: readonly LogRecord[]): void {
  let open: string | null = null
  for (const { event } of records) {
    if (event.type === 'RUN_STARTED') {
      assert.equal(open, null, 'a run began during another')
      open = event.runId
    } else if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') {
      assert.equal(event.runId, open, 'a run ended that was not open')
      open = null
    }
  }
  assert.equal(open, null, 'a run did not end')
}
