import { hostname } from 'node:os'
import { type ConversationLog, readAll } from '../log/conversation-log.ts'

/**
 * Ends the open runs of a log with `RUN_ERROR` `interrupted`, unless the process that runs them still lives on this
 * machine, or `isActive` says that this process does. Resolves to their number.
 */
export async function recoverRuns(
  log: ConversationLog,
  isActive: (conversation: string) => boolean,
): Promise<number> {
  let ended = 0
  for (const { id, openRun } of await log.list()) {
    if (openRun === null || isActive(id) || (await isRunElsewhere(log, id, openRun))) continue
    const message = 'The run was interrupted: its process ended before it did'
    await log.append(id, [
      { type: 'RUN_ERROR', threadId: id, runId: openRun, code: 'interrupted', message },
    ])
    ended++
  }
  return ended
}

async function isRunElsewhere(log: ConversationLog, id: string, runId: string): Promise<boolean> {
  for await (const { event } of readAll(log, id)) {
    if (event.type === 'RUN_STARTED' && event.runId === runId) return isAlive(event.owner)
  }
  return false
}

function isAlive(owner: { host: string; pid: number } | undefined): boolean {
  // A process of this number that is this one is not the one that started the run: this one would know of it.
  if (!owner || owner.host !== hostname() || owner.pid === process.pid) return false
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
