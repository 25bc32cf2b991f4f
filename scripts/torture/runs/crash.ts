// node scripts/torture/runs/crash.ts [every=1] [kills=200]: kills processes during runs, at each point of one and
// then at random moments, with a new folder for each hundred, and checks what is left.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listAll } from '../../../src/log/conversation-log.ts'
import { allRecords } from './all-records.ts'
import { assertSoundRun, assertSoundSubRuns } from './assert-sound-run.ts'
import { type DiskWorld, openDiskWorld } from './disk-world.ts'
import { play, scenarioAgent, within } from './play.ts'
import { CONVERSATION } from './scenario.ts'

/** Options of both functions. */
export interface CrashOptions {
  folder: string
  log?: (line: string) => void
}

/** Number of kills, all with a correct result. */
export interface CrashReport {
  kills: number
  conversations: number
}

/** Longer than any of these takes on a busy machine. */
const PATIENCE = 120_000
/** Number of concurrent children. */
const AT_ONCE = 2

/**
 * Kills a process at each point of the scenario, or at every n-th, in its own folder. This process continues what it
 * left. Stops at the first process that finishes the scenario before its point.
 */
export async function crashAtPoints(
  options: CrashOptions & { every: number },
): Promise<CrashReport> {
  const { folder, every, log = () => {} } = options
  let next = 1
  let kills = 0
  let ended = false

  async function work(): Promise<void> {
    while (!ended) {
      const point = next
      next += every
      const own = join(folder, `${point}`)
      await mkdir(own)
      const signal = await runChild(own, `${point}`)
      if (signal === 'SIGKILL') kills++
      else ended = true
      await goOn(own, [CONVERSATION]).catch((error: unknown) => {
        throw new Error(`Killed at point ${point}: ${error}`, { cause: error })
      })
      await rm(own, { recursive: true })
      if (kills % 20 === 0) log(`killed at point ${point}, went on`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { kills, conversations: kills }
}

/**
 * Kills processes at random moments after they are ready or after their first message is accepted. Each continues
 * what the previous one left, and at the end this process does.
 */
export async function crashAtRandom(
  options: CrashOptions & { kills: number },
): Promise<CrashReport> {
  const { folder, kills, log = () => {} } = options
  for (let i = 0; i < kills; i++) {
    await runChild(folder, 'on', `${i}`, i % 2 === 0 ? 'accepted' : 'ready')
    if (i % 20 === 19) log(`killed ${i + 1} times`)
  }
  const world = openDiskWorld(folder)
  const ids: string[] = []
  for await (const { id } of listAll(world.log)) if (!id.includes('/')) ids.push(id)
  await world.log.close()
  await goOn(folder, ids)
  return { kills, conversations: ids.length }
}

/** Runs a child to its end, or kills it at a random moment if it has no point. Returns the signal that ended it. */
async function runChild(folder: string, ...args: string[]): Promise<NodeJS.Signals | null> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, join(import.meta.dirname, 'crash-child.ts'), folder, ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  if (args[0] === 'on') {
    await Promise.race([once(child.stdout, 'data'), exit])
    await sleep(Math.random() * 400)
    child.kill('SIGKILL')
  }
  const [code, signal] = await exit
  assert.ok(code === 0 || signal === 'SIGKILL', `the child ended with ${code ?? signal}`)
  return signal
}

/** Plays all conversations to their ends, including those that never started, and checks everything. */
async function goOn(folder: string, conversations: readonly string[]): Promise<void> {
  const world = openDiskWorld(folder)
  const agent = scenarioAgent(world)
  await Promise.all(
    conversations.map((id) => within(PATIENCE, `the conversation ${id}`, play(agent, world, id))),
  )
  await agent.close()
  const unsound: string[] = []
  for (const id of conversations) {
    await assertSound(world, id).catch((error: unknown) => unsound.push(`${id}: ${error}`))
  }
  await world.log.close()
  assert.deepEqual(unsound, [], `${unsound.length} of ${conversations.length} conversations`)
}

async function assertSound(world: DiskWorld, conversation: string): Promise<void> {
  const records = await allRecords(world.log, conversation)
  const effects = world.effects.all().filter((effect) => effect.conversation === conversation)
  const accepted = world.acceptedIn(conversation)
  const { assets } = assertSoundRun({ records, effects, accepted })
  for (const { assetId } of assets) assert.ok(await world.store.get(assetId), 'the asset is whole')
  await assertSoundSubRuns(world, conversation)
}

if (import.meta.main) {
  const [every = 1, kills = 200] = process.argv.slice(2).map(Number)
  const folder = await mkdtemp(join(tmpdir(), 'byref-runs-'))
  const log = console.log
  await mkdir(join(folder, 'points'))
  console.log(await crashAtPoints({ every, folder: join(folder, 'points'), log }))
  // Each child reads the whole log of its folder.
  for (let done = 0; done < kills; done += 100) {
    const own = join(folder, `random-${done}`)
    await mkdir(own)
    const report = await crashAtRandom({ kills: Math.min(100, kills - done), folder: own, log })
    console.log({ ...report, killsInAll: done + report.kills })
  }
  await rm(folder, { recursive: true, force: true })
}
