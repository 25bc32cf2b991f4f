// The cost of continuing after a crash, on SQLite: node bench/agent/resume.ts
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogRecord } from '../../src/core/events/events.ts'
import { createAgent, defineTool } from '../../src/index.ts'
import { createSqliteLog } from '../../src/log/sqlite-log.ts'
import { printMachine } from '../content/measure.ts'
import { instantModel } from './contestants/instant-model.ts'
import { inChild } from './in-child.ts'
import type { ResumeTiming } from './time-resume.ts'

const OPEN = 1000
const ROUNDS = 3
const folder = mkdtempSync(join(tmpdir(), 'byref-bench-'))

printMachine('After a crash')
try {
  await resumeMany()
  await takeOver()
} finally {
  rmSync(folder, { recursive: true })
}

async function resumeMany(): Promise<void> {
  const file = join(folder, 'open.db')
  await writeOpenRuns(file)
  const rounds: ResumeTiming[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const copy = join(folder, `open-${round}.db`)
    copyFileSync(file, copy)
    const timing = await inChild<ResumeTiming>(program('time-resume.ts'), [copy, `${OPEN}`], 120)
    if (!timing) throw new Error('The runs did not end within two minutes')
    rounds.push(timing)
  }
  const least = (of: (timing: ResumeTiming) => number) => Math.min(...rounds.map(of)).toFixed(0)
  console.log(
    `\n${OPEN} open runs in one file, least of ${ROUNDS} rounds (goal: under 1,000 ms of CPU)`,
  )
  console.log(
    `  until all are claimed    ${least((t) => t.claimed.cpu)} ms of CPU, ${least((t) => t.claimed.wall)} ms`,
  )
  console.log(
    `  until all have ended     ${least((t) => t.ended.cpu)} ms of CPU, ${least((t) => t.ended.wall)} ms`,
  )
}

/** Conversations of a process that died before its first step. */
async function writeOpenRuns(file: string): Promise<void> {
  const log = createSqliteLog(file)
  for (let at = 0; at < OPEN; at++) {
    const id = `conversation-${at}`
    await log.append(id, [
      {
        type: 'NEW_MESSAGE',
        payload: {
          id: `message-${at}`,
          sender: { participant_id: 'user', participant_role: 'user' },
          message_type: 'chat',
          content_type: 'text/plain',
          content: 'go',
          timestamp: '2026-01-01T00:00:00.000Z',
          metadata: {},
        },
      },
      {
        type: 'RUN_STARTED',
        threadId: id,
        runId: `run-${at}`,
        messageIds: [`message-${at}`],
        owner: 'one-that-died',
      },
    ])
  }
  await log.close()
}

/** One process dies during a call, and another one waits to continue. */
async function takeOver(): Promise<void> {
  const file = join(folder, 'take-over.db')
  const conversation = 'taken-over'
  const died = fork(program('die-in-call.ts'), [file, conversation], { stdio: 'inherit' })
  const [, signal] = await once(died, 'exit')
  const killed = performance.now()
  if (signal !== 'SIGKILL') throw new Error(`The process ended by itself (${signal})`)

  const log = createSqliteLog(file)
  const seen = new Map<LogRecord['event']['type'], number>()
  log.subscribe(({ records }) => {
    const now = performance.now() - killed
    for (const { event } of records) if (!seen.has(event.type)) seen.set(event.type, now)
  })
  const add = defineTool({
    id: 'add',
    description: 'Is not called again, because the first call may have had an effect',
    inputSchema: { type: 'object', properties: {} },
    execute: () => null,
  })
  const agent = createAgent({ model: instantModel(0), tools: [add], log })
  await agent.resume(conversation).result
  await agent.close()
  await log.close()
  console.log(
    '\nTaken over after kill -9 in a call (on the same machine, so its lease ends at once)',
  )
  for (const type of ['RUN_CLAIMED', 'TOOL_STARTED', 'STEP_STARTED', 'RUN_FINISHED'] as const) {
    const at = seen.get(type)
    if (at !== undefined) console.log(`  ${type.padEnd(14)} ${at.toFixed(0).padStart(7)} ms`)
  }
}

function program(file: string): string {
  return new URL(file, import.meta.url).pathname
}
