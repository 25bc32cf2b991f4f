import { type FinishReason, type RunState, readMetadata } from 'byref/client'
import { useRetry } from '../app/conversation-actions.ts'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useNavigation } from '../app/navigation.tsx'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { useMissingAgent } from '../app/use-serves-agent.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { useAction } from '../ui/use-action.ts'

const REASONS: Record<Exclude<FinishReason, 'done'>, string> = {
  cancelled: 'Stopped.',
  step_limit:
    'Stopped: the run reached its maximum number of steps. Send “go on” to let it continue.',
  token_limit: 'Stopped: the run reached its token limit.',
  cost_limit: 'Stopped: the run reached its cost limit.',
  time_limit: 'Stopped: the run reached its time limit.',
  length: 'The answer was cut off at its maximum length.',
  content_filter: 'The provider withheld the rest of the answer.',
}

/** What a failure means for the user, if its message alone does not say so. */
const FAILURES: Record<string, string> = {
  model_unauthorized: 'The model provider rejected the API key.',
  model_failed: 'The model did not answer.',
  interrupted: 'The server stopped during this run.',
  output_invalid: 'The answer did not have the requested format.',
  log_failed: 'The conversation could not be saved.',
  storage_full: 'There is no storage space left for the results.',
}

const OTHER = 'Something went wrong before the answer was complete.'

/** What a failure means if a part of the answer is there. */
const BROKEN_OFF: Record<string, string> = {
  model_failed: 'The answer broke off: the model’s provider failed.',
}

/** Renders why a run ended early, and what to do about it. */
export function RunEnd({ run }: { run: RunState }) {
  const { error, reason = 'done' } = run
  const last = useConversation(({ messages }) =>
    messages.findLast(({ id }) => id === run.steps.at(-1)?.messageId),
  )
  const isHalf = last !== undefined && last.content !== ''
  // The message itself says that it is not complete.
  const saysSo = last !== undefined && readMetadata(last).isIncomplete
  if (error) {
    const known = (isHalf && BROKEN_OFF[error.code]) || (FAILURES[error.code] ?? OTHER)
    return (
      <Notice
        tone="bad"
        code={error.code}
        className="mt-3 sm:ms-8"
        actions={<TryAgain run={run} />}
      >
        {known} What is shown here is saved.
        <span className="mt-0.5 line-clamp-6 text-xs text-ink-2">{error.message}</span>
      </Notice>
    )
  }
  if (reason === 'cancelled' && saysSo) return null
  if (reason === 'cancelled') {
    return (
      <p className="mt-3 flex items-center gap-3 text-xs text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {REASONS.cancelled}
      </p>
    )
  }
  return (
    <Notice tone="warn" className="mt-3 sm:ms-8" actions={<TryAgain run={run} />}>
      {reason === 'done' ? 'Done.' : REASONS[reason]}
    </Notice>
  )
}

/** Sends the run's message again in another version of the conversation. */
function TryAgain({ run }: { run: RunState }) {
  const { tellError } = useServer()
  const conversation = useConversationId()
  const { opensOthers } = useNavigation()
  const retry = useRetry()
  const mayWrite = useMay('member')
  const isServed = useMissingAgent() === null
  const said = run.messageIds.at(-1)
  const { run: again, isBusy } = useAction(async (id: string, message: string) => {
    try {
      await retry(id, message)
    } catch (error) {
      tellError('The message was not sent again.', error)
    }
  })
  if (!mayWrite || !isServed || !opensOthers || conversation === null || said === undefined)
    return null
  return (
    <Button
      look="outline"
      disabled={isBusy}
      title="Sends the message again. This version of the conversation stays."
      onClick={() => again(conversation, said)}
    >
      Try again
    </Button>
  )
}
