import { useNavigate } from '@tanstack/react-router'
import type { FinishReason, RunState } from 'byref/client'
import { useState } from 'react'
import { client, forgetConversations } from '../app/client.ts'
import { useConversationId } from '../app/conversation-context.tsx'
import { useMay } from '../app/role.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { tellError } from '../ui/toasts.tsx'

const REASONS: Record<Exclude<FinishReason, 'done'>, string> = {
  cancelled: 'Stopped.',
  step_limit:
    'Stopped: it took as many steps as one run may have. Say “go on” to let it work further.',
  token_limit: 'Stopped: it used as many tokens as one run may use.',
  cost_limit: 'Stopped: it cost as much as one run may cost.',
  time_limit: 'Stopped: it took as long as one run may take.',
  length: 'The answer was cut at the limit of its length.',
  content_filter: 'The provider withheld the rest of the answer.',
}

/** What a failure means for who waits for the answer, where its message alone does not say so. */
const FAILURES: Record<string, string> = {
  model_unauthorized: 'The model’s provider did not take the key.',
  model_failed: 'The model did not answer.',
  interrupted: 'The server stopped while it worked on this.',
  output_invalid: 'The answer was not in the form that was asked for.',
  log_failed: 'The conversation could not be written down.',
  storage_full: 'There is no room left for what it made.',
}

/** Why a run ended before the agent was done, and what to do about it. */
export function RunEnd({ run }: { run: RunState }) {
  const { error, reason = 'done' } = run
  if (error) {
    const known = FAILURES[error.code] ?? 'Something went wrong on the way to the answer.'
    return (
      <Notice
        tone="bad"
        code={error.code}
        className="mt-3 sm:ml-8"
        actions={<TryAgain run={run} />}
      >
        {known} What was said and made before is kept.
        <span className="mt-0.5 line-clamp-6 text-xs text-ink-2">{error.message}</span>
      </Notice>
    )
  }
  if (reason === 'cancelled') {
    return (
      <p className="mt-3 flex items-center gap-3 text-xs text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {REASONS.cancelled}
      </p>
    )
  }
  return (
    <Notice tone="warn" className="mt-3 sm:ml-8" actions={<TryAgain run={run} />}>
      {reason === 'done' ? 'Done.' : REASONS[reason]}
    </Notice>
  )
}

/** Says again what the run was about, in a conversation of its own. */
function TryAgain({ run }: { run: RunState }) {
  const conversation = useConversationId()
  const navigate = useNavigate()
  const mayWrite = useMay('member')
  const [busy, setBusy] = useState(false)
  const said = run.messageIds.at(-1)
  if (!mayWrite || conversation === null || said === undefined) return null

  async function again(id: string, message: string): Promise<void> {
    setBusy(true)
    try {
      const { conversation: conversationId } = await client.retry(id, message)
      forgetConversations()
      await navigate({ to: '/c/$conversationId', params: { conversationId } })
    } catch (error) {
      tellError('It was not said again.', error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Button
      look="outline"
      disabled={busy}
      title="Says it again in a new conversation"
      onClick={() => void again(conversation, said)}
    >
      Try again
    </Button>
  )
}
