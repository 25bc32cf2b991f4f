import { type ConversationState, waitingCalls } from 'byref/client'
import { useEffect, useRef } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { useWaitingText } from '../app/role.ts'
import { Announcement } from '../ui/announcement.tsx'
import { runPhase } from './run-phase.ts'

/**
 * Tells screen readers when the agent works, needs an approval, and is done. A run that ended before the page was there
 * is not announced.
 */
export function RunStatus() {
  const phase = useConversation(runPhase)
  const wasOpen = useRef(false)
  useEffect(() => {
    if (phase !== 'over') wasOpen.current = true
  }, [phase])
  const waiting = useWaitingText()
  const now = useConversation((state) => statusText(state, waiting))
  return <Announcement text={phase === 'over' && !wasOpen.current ? '' : now} />
}

function statusText(state: Pick<ConversationState, 'runs' | 'calls'>, waiting: string): string {
  const phase = runPhase(state)
  const run = state.runs.at(-1)
  if (phase === 'running') return 'The agent is working.'
  if (phase === 'waiting') {
    const names = waitingCalls(state).map(({ name }) => name)
    return `The agent ${waiting} of ${names.join(' and ')}.`
  }
  if (run?.error) return `The run failed. ${run.error.message}`
  return run?.reason === 'cancelled'
    ? 'The run was stopped by a person.'
    : 'The answer is complete.'
}
