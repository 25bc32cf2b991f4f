import { ByrefError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import { FollowedRun, type Run } from '../engine/follow-run.ts'
import { firstQueued } from '../engine/next.ts'
import type { OutputSchema } from '../engine/output/output-schema.ts'
import type { Sessions } from '../engine/sessions.ts'
import { relayAnswers } from './relay-approvals.ts'

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
  const { run } = new FollowedRun(conversation, { output }, async (followed) => {
    const session = await sessions.get(conversation)
    followed.opened(sessions, session)
    await session.refresh()
    await relayAnswers(session, sessions.log)
    const { state } = session
    const open = openRun(state)
    const last = state.runs.at(-1)
    if (!open && state.inbox.length === 0) {
      if (!last) throw notFound(conversation)
      followed.id = last.runId
      return followed.endWith(session, last)
    }
    followed.id = open?.runId ?? state.inbox[0]?.runId ?? ''
    if (!open)
      followed.messageIds.push(...firstQueued(state.inbox).map(({ message }) => message.id))
    followed.watch(session, followed.messageIds)
    if (here) sessions.wakeHere(session)
    else await sessions.resume(session)
  })
  return run
}

function notFound(conversation: string): ByrefError {
  return new ByrefError(
    'run_not_found',
    `Conversation "${conversation}" has never had a run. Start one with run or send.`,
  )
}
