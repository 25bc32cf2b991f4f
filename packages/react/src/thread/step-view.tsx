import {
  type ConversationState,
  type Message,
  openRun,
  readMetadata,
  type ToolCall,
} from 'byref/client'
import { Ban, Check, ChevronRight, Hand, X } from 'lucide-react'
import { Fragment, type ReactNode, useId, useState } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { useHash } from '../app/navigation.tsx'
import { useWaitingText } from '../app/role.ts'
import { cn } from '../ui/cn.ts'
import { formatCount, formatDuration } from '../ui/format.ts'
import { More } from '../ui/more.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { CallCard } from './call-card.tsx'
import { type CallStatus, callStatus, timeTaken } from './call-status.ts'
import { ledgerOf, roundOf } from './ledger.ts'
import { MessageActions } from './message-actions.tsx'
import { MessageBody, MessageFooter } from './message-body.tsx'
import { MessageHeader } from './message-header.tsx'
import { MessageView } from './message-view.tsx'
import { callBehind } from './open-answer.ts'
import { readHash } from './read-hash.ts'
import { StepMedia } from './step-media.tsx'
import { stepTitle } from './step-title.ts'
import type { StepItem } from './timeline-item.ts'

/** The status of a step, from its calls: the most important one for a person. */
export type StepStatus = 'running' | 'waiting' | 'failed' | 'unanswered' | 'denied' | 'done'

/** Properties of {@link StepFrame}. */
export interface StepFrameProps {
  title: string
  status: StepStatus
  /** The number of calls and their duration, in words. */
  facts: string
  /** Whether it is open by default. */
  open: boolean
  /** Whether its line ends with a menu on devices without hover. */
  hasMenu?: boolean
  children: () => ReactNode
}

/** Renders a step as a line that can be opened. It stays as a person opened or closed it. */
export function StepFrame(props: StepFrameProps) {
  const { title, status, facts, open, hasMenu, children } = props
  const [chosen, setChosen] = useState<boolean | null>(null)
  const [wasOpen, setWasOpen] = useState(open)
  const panel = useId()
  if (wasOpen !== open) {
    setWasOpen(open)
    // An address that leads into it, or a failure, overrides an earlier click.
    if (open) setChosen(null)
  }
  const isOpen = chosen ?? open
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? panel : undefined}
        onClick={() => setChosen(!isOpen)}
        title={title}
        className={cn(
          '-mx-1.5 flex min-h-7 w-[calc(100%+0.75rem)] items-center gap-2 rounded-md px-1.5 text-start text-sm text-ink-3 hover:bg-hover hover:text-ink-2 pointer-coarse:min-h-9',
          hasMenu && 'pointer-coarse:w-[calc(100%-1.75rem)]',
        )}
      >
        <StepIcon status={status} />
        <span
          dir="auto"
          className={cn('min-w-0 truncate', status === 'failed' ? 'text-bad' : 'text-ink-2')}
        >
          {title}
        </span>
        <span className="max-w-3/5 shrink-0 truncate text-xs tabular-nums">{facts}</span>
        <ChevronRight
          aria-hidden
          className={cn(
            '-ms-1 size-3.5 shrink-0 transition-transform',
            isOpen ? 'rotate-90' : 'rtl:rotate-180',
          )}
        />
      </button>
      {isOpen && (
        <div id={panel} className="mt-1 mb-2 ms-[7px] space-y-2 border-s border-line ps-3.5">
          {children()}
        </div>
      )}
    </>
  )
}

const ICONS: Record<StepStatus, { icon: ReactNode; label?: string }> = {
  running: { icon: <Spinner className="size-3.5" />, label: 'running' },
  waiting: { icon: <Hand className="size-3.5 text-warn" aria-hidden /> },
  failed: { icon: <X className="size-3.5 text-bad" aria-hidden />, label: 'failed' },
  unanswered: { icon: <Ban className="size-3.5 text-warn" aria-hidden />, label: 'not finished' },
  denied: { icon: <Ban className="size-3.5 text-ink-3" aria-hidden />, label: 'denied' },
  done: { icon: <Check className="size-3.5 text-good" aria-hidden />, label: 'done' },
}

function StepIcon({ status }: { status: StepStatus }) {
  const waiting = useWaitingText()
  const { icon, label = waiting } = ICONS[status]
  return (
    <span className="grid size-4 shrink-0 place-items-center">
      {icon}
      <span className="sr-only">{label}:</span>
    </span>
  )
}

/**
 * Renders a message that calls tools. It is folded into a line when the answer is complete; a failed step stays open.
 */
export function StepView({ item }: { item: StepItem }) {
  const { message, header, asides, media } = item
  const { calls } = readMetadata(message)
  const title = stepTitle(message.content, calls)
  const standing = useConversation((state) => JSON.stringify(stepStanding(state, message)))
  const { status, taken, isOnItsWay, isOdd, isChanged } = JSON.parse(standing) as Standing
  const isLinked = useIsLinked(item)
  const isOver = !isOnItsWay && !isOdd && status === 'done'
  return (
    <article
      id={`m-${message.id}`}
      aria-label={`Step: ${title}`}
      className={cn('group/message relative scroll-my-4', header ? 'mt-5 first:mt-0' : 'mt-0.5')}
    >
      {header && <MessageHeader message={message} />}
      <div className="sm:ps-8">
        <StepFrame
          title={title}
          status={status}
          facts={factsOf(calls.length, status, taken, isChanged)}
          open={!isOver || isLinked}
          hasMenu={!header}
        >
          {() => (
            <>
              <MessageBody message={message} />
              <StepCalls
                calls={calls.map((call) => ({ id: call.id, call }))}
                messageId={message.id}
                asides={asides}
              />
              <MessageFooter message={message} isStep />
            </>
          )}
        </StepFrame>
        <StepMedia media={media} title={title} />
      </div>
      <MessageActions message={message} last={asides.at(-1)} header={header} />
    </article>
  )
}

/** Properties of {@link StepCalls}. */
export interface StepCallsProps {
  /** A call is null while it is still streaming. */
  calls: readonly { id: string; call: ToolCall | null }[]
  /** The message that announces them. */
  messageId?: string
  /** Their results and writes, in the order of the log. */
  asides: readonly Message[]
}

/** The number of calls that are drawn at first, and more at a time: hundreds of cards take long. */
const DRAWN = 12

/**
 * Renders each call with its result in one card, and what it wrote below. Of many calls, those up to the place that a
 * person has scrolled or linked to are drawn.
 */
export function StepCalls({ calls, messageId, asides }: StepCallsProps) {
  const behind = Map.groupBy(asides, (aside) => callBehind(aside) ?? '')
  const [reached, setReached] = useState(DRAWN)
  const hash = readHash(useHash())
  const linked = calls.findIndex(
    ({ id }) => hash === `call-${id}` || behind.get(id)?.some((aside) => hash === `m-${aside.id}`),
  )
  const drawn = Math.max(reached, linked + 1)
  return (
    <>
      {calls.slice(0, drawn).map(({ id, call }) => {
        const own = behind.get(id) ?? []
        const result = own.find((aside) => readMetadata(aside).result !== null)
        return (
          <Fragment key={id}>
            <CallCard id={id} call={call} messageId={messageId} result={result} />
            {own.map(
              (aside) =>
                aside !== result && (
                  <MessageView key={aside.id} message={aside} header={false} inStep />
                ),
            )}
          </Fragment>
        )
      })}
      <More
        count={Math.max(0, calls.length - drawn)}
        what="calls"
        onReach={() => setReached(drawn + DRAWN)}
      />
    </>
  )
}

interface Standing {
  status: StepStatus
  taken: number | null
  /** Whether its run continues. */
  isOnItsWay: boolean
  /** Whether a call has more than one result. */
  isOdd: boolean
  /** Whether a person changed arguments. */
  isChanged: boolean
}

function stepStanding(
  state: Pick<ConversationState, 'messages' | 'runs' | 'calls'>,
  message: Message,
): Standing {
  const { calls } = readMetadata(message)
  const ledger = ledgerOf(state.messages)
  const all = calls.map(({ id }) => {
    const { result, isNewest } = roundOf(ledger, id, message.id)
    const live = isNewest ? state.calls[id] : undefined
    const isOdd = ledger.get(id)?.results.some(({ isRepeated }) => isRepeated)
    return { live, isOdd, status: callStatus(live, result) }
  })
  const steps = openRun(state)?.steps ?? []
  return {
    status: stepStatus(all.map(({ status }) => status)),
    taken: timeTaken(all.map(({ live }) => live)),
    isOdd: all.some(({ isOdd }) => isOdd),
    isChanged: all.some(({ live }) => live?.approval?.answer?.arguments !== undefined),
    isOnItsWay: steps.some(({ messageId }) => messageId === message.id),
  }
}

/** Returns the status of a step from its calls. */
export function stepStatus(calls: readonly CallStatus[]): StepStatus {
  if (calls.includes('waiting')) return 'waiting'
  if (calls.some((status) => status === 'running' || status === 'planned')) return 'running'
  if (calls.includes('streaming')) return 'running'
  if (calls.includes('failed')) return 'failed'
  if (calls.includes('unanswered')) return 'unanswered'
  return calls.includes('denied') ? 'denied' : 'done'
}

/** Returns `2 calls · 74 ms`, and anything unusual. */
export function factsOf(
  calls: number,
  status: StepStatus,
  taken: number | null,
  isChanged = false,
): string {
  const count = `${formatCount(calls)} ${calls === 1 ? 'call' : 'calls'}`
  const isOrdinary = status === 'done' || status === 'running'
  const parts = [
    isOrdinary ? '' : ICONS[status].label,
    isChanged ? 'changed by a person' : '',
    count,
    taken === null ? '' : formatDuration(taken),
  ]
  return parts.filter(Boolean).join(' · ')
}

/** Returns whether the address names something in the step. */
function useIsLinked({ message, asides }: StepItem): boolean {
  const hash = readHash(useHash())
  const { calls } = readMetadata(message)
  return (
    calls.some(({ id }) => hash === `call-${id}`) || asides.some(({ id }) => hash === `m-${id}`)
  )
}
