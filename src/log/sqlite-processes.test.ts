import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { createSqliteLog } from './sqlite-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const file = (): string => join(folder, `${++files}.sqlite`)

const claimed: ConversationEvent = { type: 'RUN_CLAIMED', threadId: 'c', runId: 'r', owner: 'o' }

function start(script: string, ...options: string[]): ChildProcess {
  const path = fileURLToPath(new URL(`./fixtures/${script}`, import.meta.url))
  return spawn(process.execPath, [path, ...options], { stdio: ['pipe', 'pipe', 'inherit'] })
}

/** Another process that holds the write lock until it is released. */
async function holdLock(path: string): Promise<{ letGo(): Promise<unknown> }> {
  const child = start('hold-lock.ts', path)
  if (child.stdout) await once(child.stdout, 'data')
  return {
    letGo() {
      child.stdin?.end()
      return ended(child)
    },
  }
}

async function ended(child: ChildProcess): Promise<unknown> {
  return child.exitCode ?? (await once(child, 'exit'))[0]
}

/** Timers fire, which they would not do while a call blocks the process. */
async function timers(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((go) => setTimeout(go, 10))
}

describe('createSqliteLog, with other processes', () => {
  it('waits for a writing process without blocking its own event loop', async () => {
    const path = file()
    const log = createSqliteLog(path)
    const other = await holdLock(path)
    let done = false
    const appends = Promise.all(
      Array.from({ length: 20 }, (_, i) => log.append(`${i}`, [claimed], { after: 0 })),
    ).finally(() => {
      done = true
    })
    expect(await log.read('0')).toEqual([])
    await timers()
    expect(done).toBe(false)
    expect(await other.letGo()).toBe(0)
    await appends
    expect(await log.read('19')).toHaveLength(1)
    await log.close()
  })

  it('opens a file that is busy when it is first used', async () => {
    const path = file()
    const other = await holdLock(path)
    const log = createSqliteLog(path)
    const told: LogRecord[] = []
    log.subscribe(({ records }) => told.push(...records))
    const listing = log.list()
    await timers()
    expect(await other.letGo()).toBe(0)
    expect(await listing).toEqual({ conversations: [], next: null })
    expect(await log.append('c', [claimed])).toEqual(told)
    await log.close()
  })

  it('fails after its time limit, and works after that', async () => {
    const path = file()
    const log = createSqliteLog(path, { busyTimeoutMs: 50 })
    const other = await holdLock(path)
    const failed = { code: 'log_failed', message: expect.stringContaining('busyTimeoutMs') }
    await expect(log.append('c', [claimed])).rejects.toMatchObject(failed)
    await expect(log.append('c', [claimed])).rejects.toMatchObject(failed)
    expect(await other.letGo()).toBe(0)
    expect(await log.append('c', [claimed], { after: 0 })).toHaveLength(1)
    await log.close()
  })

  it('loses nothing if many processes decide on one conversation', async () => {
    const path = file()
    const log = createSqliteLog(path)
    const told: LogRecord[] = []
    log.subscribe(({ records }) => told.push(...records))
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const children = names.map((name) => start('append-many.ts', path, name, '25'))
    expect(await Promise.all(children.map(ended))).toEqual(names.map(() => 0))
    const records = await log.read('c')
    expect(records.map(({ position }) => position)).toEqual(
      Array.from({ length: 200 }, (_, i) => i + 1),
    )
    for (const name of names) expect(runsOf(records, name)).toEqual(runs(25))
    await expect.poll(() => told.length).toBe(200)
    expect(told).toEqual(records)
    await log.close()
  })
})

function runsOf(records: readonly LogRecord[], name: string): string[] {
  return records.flatMap(({ event }) =>
    event.type === 'RUN_CLAIMED' && event.owner === name ? [event.runId] : [],
  )
}

function runs(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${i}`)
}
