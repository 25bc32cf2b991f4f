import { openRun } from '../core/events/conversation-state.ts'
import { runEnd } from './follow-up.ts'
import type { Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import { unfinishedMessage } from './steps/assistant-message.ts'
import { commandReplies } from './steps/command-step.ts'

/**
 * Ends the run that is under way, by an append: whoever runs it stops at its next one. What was said so far, as far as
 * this process heard it, stays. False where no run is open, or not the one of this id.
 */
export async function cancelRun(
  sessions: Sessions,
  session: Session,
  runId?: string,
): Promise<boolean> {
  // The run may be another process's, of a moment ago.
  if (!openRun(session.state)) await session.refresh()
  const records = await session.append((state) => {
    const run = openRun(state)
    if (!run || (runId !== undefined && run.runId !== runId)) return null
    const said = [...unfinishedMessage(state, run), ...commandReplies(state, run)]
    return { events: [...said, runEnd(session.id, run, 'cancelled')] }
  })
  // What waited for the end of the run goes on.
  if (records.length > 0) sessions.wake(session)
  return records.length > 0
}
