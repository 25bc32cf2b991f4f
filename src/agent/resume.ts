import { ByrefError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import { cancelRun } from '../engine/cancel.ts'
import { type Run, RunFollower } from '../engine/follow-run.ts'
import { firstQueued } from '../engine/next.ts'
import type { OutputSchema } from '../engine/output/output-schema.ts'
import type { Session } from '../engine/session.ts'
import type { Sessions } from '../engine/sessions.ts'
import { asRun } from './start-run.ts'

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
): Run<unknown> {
  let open: Session | null = null
  let runId = ''
  const messageIds: string[] = []
  const follower = new RunFollower({
    output,
    assets: () => sessions.assets,
    takeFailure: (id) => sessions.takeFailure(id),
    onEnd: () => open && sessions.unfollow(open, follower),
  })

  async function begin(): Promise<void> {
    const session = await sessions.get(conversation)
    open = session
    sessions.follow(session, follower)
    await session.refresh()
    const { state } = session
    const run = openRun(state)
    const last = state.runs.at(-1)
    if (!run && state.inbox.length === 0) {
      if (!last) throw notFound(conversation)
      runId = last.runId
      return follower.endWith(session, last)
    }
    runId = run?.runId ?? state.inbox[0]?.runId ?? ''
    if (!run) messageIds.push(...firstQueued(state.inbox).map(({ message }) => message.id))
    // Messages without a run id start a run whose id is known only when it starts.
    const unwatch = session.watch(({ event }) => {
      if (runId === '' && event.type === 'RUN_STARTED') runId = event.runId
    })
    follower.watch(session, { runId: () => runId, messageIds })
    follower.result.then(unwatch, unwatch)
    if (here) sessions.wakeHere(session)
    else await sessions.resume(session)
  }

  async function stop(): Promise<void> {
    if (open && runId === '') await deleteQueued(open, messageIds)
    // The run may have started meanwhile.
    if (open && runId !== '') await cancelRun(sessions, open, { runId })
  }

  const started = begin()
  started.catch((error) => follower.fail(error))
  return asRun(follower, {
    id: () => runId,
    conversation,
    messageIds,
    session: () => open,
    cancel() {
      started.then(stop).catch((error) => follower.fail(error))
    },
  })
}

/** Deletes messages that no run has taken yet. */
async function deleteQueued(session: Session, messageIds: readonly string[]): Promise<void> {
  await session.append(({ inbox }) => ({
    events: inbox
      .filter(({ message }) => messageIds.includes(message.id))
      .map(({ message }) => ({ type: 'MESSAGE_DELETED', messageId: message.id })),
  }))
}

function notFound(conversation: string): ByrefError {
  return new ByrefError(
    'run_not_found',
    `Conversation "${conversation}" has never had a run. Start one with run or send.`,
  )
}
