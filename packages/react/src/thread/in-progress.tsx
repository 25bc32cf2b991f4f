import type { CallState } from 'byref/client'
import { memo, useDeferredValue } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { Text } from '../renderers/text.tsx'
import { Avatar, senderName } from './message-header.tsx'
import { type OpenAnswer, openAnswer } from './open-answer.ts'
import { callsOf, runPhase } from './run-phase.ts'
import { stepTitle } from './step-title.ts'
import { factsOf, StepCalls, StepFrame, stepStatus } from './step-view.tsx'
import { Thinking } from './thinking.tsx'
import { isAside } from './timeline.ts'

/** Renders text and calls that are streaming and not yet messages, or that the agent is thinking. */
export function InProgress({ isInterrupted = false }: { isInterrupted?: boolean }) {
  const messages = useConversation((state) => state.messages)
  const streaming = useConversation((state) => state.streaming)
  const calls = useConversation((state) => state.calls)
  const runs = useConversation((state) => state.runs)
  if (runPhase({ runs, calls }) !== 'running') return null
  const answer = openAnswer({ messages, runs, calls, streaming })
  const empty = !answer || (answer.text === '' && answer.calls.length === 0)
  const step = runs.at(-1)?.steps.at(-1)
  if (empty && (isInterrupted || (step && callsOf({ calls }, step).some(isOpen)))) return null
  const speaker = messages.findLast((message) => !isAside(message))
  const header = speaker?.sender?.participant_role !== 'assistant'
  const agent = messages.findLast(({ sender }) => sender?.participant_role === 'assistant')
  return (
    <div className={header ? 'mt-5' : 'mt-2'}>
      {header && (
        <p className="mb-1 flex items-center gap-2">
          <Avatar of="assistant" />
          <span className="font-semibold">{agent ? senderName(agent) : 'Assistant'}</span>
        </p>
      )}
      {empty ? (
        <Thinking step={step} />
      ) : (
        <div className="sm:ps-8">
          {answer.calls.length > 0 ? (
            <OpenStep answer={answer} />
          ) : (
            <StreamingText text={answer.text} />
          )}
        </div>
      )}
    </div>
  )
}

/** Renders an answer that already calls tools, as an open step that looks as it will in the thread. */
function OpenStep({ answer: { text, calls, results } }: { answer: OpenAnswer }) {
  const status = stepStatus(calls.map(({ status }) => status))
  return (
    <StepFrame
      title={stepTitle(text, calls)}
      status={status === 'done' ? 'running' : status}
      facts={factsOf(calls.length, status, null)}
      open
    >
      {() => (
        <>
          {text && <StreamingText text={text} />}
          <StepCalls calls={calls.map(({ id, call = null }) => ({ id, call }))} asides={results} />
        </>
      )}
    </StepFrame>
  )
}

function isOpen({ status }: CallState): boolean {
  return status === 'planned' || status === 'waiting' || status === 'running'
}

/** Rendered as often as the machine can, so that new text never blocks typing or scrolling. */
const StreamingText = memo(function StreamingText({ text }: { text: string }) {
  return <Text text={useDeferredValue(text)} />
})
