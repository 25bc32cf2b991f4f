import { ByrefError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import { FollowedRun, type Run } from '../engine/follow-run.ts'
import { firstQueued } from '../engine/next.ts'
import type { OutputSchema } from '../engine/output/output-schema.ts'
import type { Sessions } from '../engine/sessions.ts'

/**
 * Follows the open run of a conversation, or the run that its waiting messages start. Starts or continues the
 * run if needed.
 *
 * @param options.here Whether the run continues in this process, also with workers. Default: false.
 * @param options.output The caller's schema of the answer.
 */
export function resumeRun(
  sessions: Sessions,
  conversation: string,
  { here = false, output }: { here?: boolean; output?: OutputSchema } = {},
): Run {
  return new FollowedRun(conversation, { output }, async (run) => {
    const session = await sessions.get(conversation)
    run.opened(sessions, session)
    await session.refresh()
    const { state } = session
    const open = openRun(state)
    const last = state.runs.at(-1)
    if (!open && state.inbox.length === 0) {
      if (!last) throw notFound(conversation)
      run.id = last.runId
      return run.endWith(session, last)
    }
    run.id = open?.runId ?? state.inbox[0]?.runId ?? ''
    if (!open) run.messageIds.push(...firstQueued(state.inbox).map(({ message }) => message.id))
    run.watch(session, run.messageIds)
    if (here) sessions.wakeHere(session)
    else await sessions.resume(session)
  })
}

function notFound(conversation: string): ByrefError {
  return new ByrefError(
    'run_not_found',
    `Conversation "${conversation}" has never had a run. Start one with run or send.`,
  )
}
