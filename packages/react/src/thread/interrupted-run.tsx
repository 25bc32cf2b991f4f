import { type ConversationState, openRun } from 'byref/client'
import { useEffect, useState } from 'react'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { useAction } from '../ui/use-action.ts'
import { runPhase } from './run-phase.ts'

/** A run without events for this long may be interrupted, in milliseconds. */
const QUIET_MS = 5_000

/** Pause between two questions to the server, in milliseconds. */
const CHECK_MS = 10_000

/** Returns whether a run is open, or messages wait for one, and no server works on it. */
export function useIsInterrupted(): boolean {
  const { client, isOffline } = useServer()
  const id = useConversationId()
  const isDue = useConversation(isRunDue) && !isOffline
  const queryKey = useConversation(eventsSoFar)
  const position = useConversation((state) => state.position)
  const waitMs = useConversation((state) => openRun(state)?.steps.at(-1)?.retry?.waitMs ?? 0)
  const [quietSince, setQuietSince] = useState('')
  useEffect(() => {
    if (!isDue) return
    const timer = setTimeout(() => setQuietSince(queryKey), QUIET_MS + waitMs)
    return () => clearTimeout(timer)
  }, [isDue, queryKey, waitMs])
  const isQuiet = id !== null && isDue && quietSince === queryKey
  const { data } = useQuery({
    queryKey: ['interrupted', id, queryKey],
    queryFn: async () => {
      const summary = await client.conversationSummary(id ?? '')
      // Otherwise there are newer events, which this page will get when it notices that its connection is dead.
      return summary?.hasRunner === false && summary.position <= position
    },
    enabled: isQuiet,
    refetchInterval: CHECK_MS,
  })
  return isQuiet && data === true
}

/** Says that no server works on the open run. */
export function InterruptedRun() {
  return (
    <Notice tone="warn" live className="mt-3" actions={<ResumeButton />}>
      This run was interrupted, probably because the server stopped. Messages and results are saved.
    </Notice>
  )
}

/** Resumes the interrupted run, for people who may write. */
export function ResumeButton({ className }: { className?: string }) {
  const { client, queries, tellError } = useServer()
  const id = useConversationId()
  const mayResume = useMay('member')
  const { run: resume, isBusy } = useAction(async (conversation: string) => {
    try {
      await client.resume(conversation)
      // It is asked again after a pause, because the run may stop again.
      queries.setQueriesData({ queryKey: ['interrupted', conversation] }, false)
    } catch (error) {
      tellError('The run was not resumed.', error)
    }
  })
  if (!mayResume || id === null) return null
  return (
    <Button look="outline" disabled={isBusy} className={className} onClick={() => resume(id)}>
      Resume
    </Button>
  )
}

/** Whether a server should work on the conversation. The run of a sub-agent continues with the run that called it. */
function isRunDue(state: ConversationState): boolean {
  const phase = runPhase(state)
  if (phase === 'over') return state.inbox.length > 0
  return phase === 'running' && openRun(state)?.toolCallId === undefined
}

/** Identifies the events of the conversation up to now. */
function eventsSoFar(state: ConversationState): string {
  return `${state.position} ${openRun(state)?.steps.at(-1)?.retry?.attempt ?? 0}`
}
