import type { AskedCall, CallState, Message, ToolCall } from 'byref/client'
import { ArrowDown, Ban, Check, FileDiff, Hand, Hourglass, Wrench, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { PlaceLink } from '../app/navigation.tsx'
import { useWaitingText } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { cn } from '../ui/cn.ts'
import { formatCount, formatDuration } from '../ui/format.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { visibleText } from '../ui/visible-text.ts'
import { CallArguments } from './call-arguments.tsx'
import { type CallStatus, callStatus, timeTaken } from './call-status.ts'
import { JumpLink } from './jump-link.tsx'
import { ledgerOf, roundOf } from './ledger.ts'
import { CallResult } from './result-card.tsx'
import { SubAgentLink, subConversationId } from './sub-agent.tsx'

const Decision = lazyPart(async () => (await import('./decision.tsx')).Decision)
const ViaSearch = lazyPart(async () => (await import('./via-search.tsx')).ViaSearch)
const Approval = lazyPart(async () => (await import('./approval.tsx')).Approval)

/** Properties of {@link CallCard}. */
export interface CallCardProps {
  id: string
  /** The announced call. Null while it is still streaming. */
  call: ToolCall | null
  /** The message that announces it. */
  messageId?: string
  /** The message with its result, which the card shows. Absent if there is none yet, or if the thread shows it elsewhere. */
  result?: Message
}

/** Renders a call: its tool, its arguments, its status, and its result or a link to it. */
export function CallCard({ id, call, messageId, result: own }: CallCardProps) {
  const live = useConversation((state) => state.calls[id])
  const messages = useConversation((state) => state.messages)
  // An id that is used again belongs to the message that announced it. The newest one has the live state.
  const { result, isNewest: newest } = roundOf(ledgerOf(messages), id, messageId)
  const status = callStatus(newest ? live : undefined, result)
  const name = call?.name ?? live?.name ?? 'tool'
  return (
    <article
      // The focus goes here when the answer to an approval takes its buttons away.
      tabIndex={-1}
      id={newest ? `call-${id}` : undefined}
      aria-label={`Call of ${name}`}
      className={cn(
        'overflow-hidden rounded-lg border text-xs',
        status === 'failed' ? 'border-bad-line' : 'border-line',
      )}
    >
      <header className="flex min-h-8 flex-wrap items-center gap-x-2 bg-sunken px-2.5 py-0.5">
        <span className="flex min-w-0 items-center gap-2" title={id}>
          <Wrench className="size-3.5 shrink-0 text-ink-3" aria-hidden />
          <span className="truncate font-mono font-medium">{name}</span>
        </span>
        <span className="ms-auto flex max-w-full shrink-0 items-center gap-2 text-ink-3">
          <Status status={status} call={newest ? live : undefined} />
          {result && !own && (
            <JumpLink to={`m-${result.messageId}`} label="Go to result">
              <ArrowDown className="size-3.5" aria-hidden />
            </JumpLink>
          )}
        </span>
      </header>
      {status === 'waiting' && live?.status === 'waiting' && live.approval ? (
        <Approval callId={id} name={name} approval={live.approval} />
      ) : (
        <Arguments call={call} text={live?.argumentsText ?? ''} />
      )}
      {newest && live?.approval?.answer && <Decision approval={live.approval} />}
      {status === 'running' && live && <Items call={live} />}
      {status === 'running' && live?.progress && <Progress callId={id} {...live.progress} />}
      {call?.via !== undefined && messageId !== undefined && (
        <ViaSearch via={call.via} name={name} messageId={messageId} />
      )}
      {newest &&
        Object.values(live?.subCalls ?? {}).map((one) => <SubCall key={one.id} {...one} />)}
      {newest && <SubAgentLink callId={id} />}
      {own && <CallResult message={own} />}
      <Edits callId={id} />
    </article>
  )
}

/** Renders a call of a sub-agent that a person was asked about. */
function SubCall({ id, name, approval }: AskedCall) {
  return (
    <section aria-label={`Call of ${name}`} className="border-t border-line">
      <p className="flex items-center gap-1.5 px-2.5 pt-1.5 text-ink-2">
        <Hand className="size-3.5 shrink-0" aria-hidden />
        <span>
          The agent {approval.answer ? 'wanted' : 'wants'} to call{' '}
          <span className="font-mono font-medium">{name}</span>
        </span>
      </p>
      {approval.answer ? (
        <Decision approval={approval} />
      ) : (
        <Approval callId={id} name={name} approval={approval} />
      )}
    </section>
  )
}

/** Links to the comparison of what a call edited with the version before. */
function Edits({ callId }: { callId: string }) {
  const { isOffline } = useServer()
  const assets = useConversation((state) => state.assets)
  const edited = assets.filter((one) => one.toolCallId === callId && one.previous !== undefined)
  // A saved page has only the versions that the conversation names.
  if (edited.length === 0 || isOffline) return null
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-1 border-t border-line px-2.5 py-1.5">
      {edited.map(({ assetId, name }) => (
        <PlaceLink
          key={assetId}
          to={{ type: 'view', view: { compare: assetId, against: undefined } }}
          className="flex min-w-0 items-center gap-1.5 rounded text-ring hover:underline pointer-coarse:py-1.5"
        >
          <FileDiff className="size-3.5 shrink-0" aria-hidden />
          <span className="[overflow-wrap:anywhere]">
            Compare{' '}
            {name === undefined ? 'with the version before' : <bdi>{visibleText(name)}</bdi>}
          </span>
        </PlaceLink>
      ))}
    </p>
  )
}

/** Renders the arguments, or the part of them that has streamed. */
function Arguments({ call, text }: { call: ToolCall | null; text: string }) {
  if (call) return <CallArguments values={call.arguments} />
  if (text === '') return null
  return (
    <p className="line-clamp-4 px-2.5 py-1.5 font-mono text-ink-3 [overflow-wrap:anywhere]">
      {text}
    </p>
  )
}

function Status({ status, call }: { status: CallStatus; call: CallState | undefined }) {
  const waiting = useWaitingText()
  const taken = timeTaken([call])
  const tries = call && call.attempts > 1 ? `${formatCount(call.attempts)} tries` : ''
  const took = [tries, taken === null ? '' : formatDuration(taken)].filter(Boolean).join(' · ')
  const looks: Record<CallStatus, ReactNode> = {
    streaming: (
      <>
        <Spinner className="size-3.5" /> writing
      </>
    ),
    planned: (
      <>
        <Hourglass className="size-3.5" aria-hidden /> waiting for other calls
      </>
    ),
    waiting: (
      <span className="flex items-center gap-1 font-medium text-warn">
        <Hand className="size-3.5" aria-hidden /> {waiting}
      </span>
    ),
    running: call?.outcome ? (
      <>
        <Hourglass className="size-3.5" aria-hidden /> finishing
      </>
    ) : (
      <>
        <Spinner className="size-3.5" /> running
      </>
    ),
    done: (
      <>
        <Check className="size-3.5 text-good" aria-hidden />
        <span className="sr-only">done</span> {took}
      </>
    ),
    failed: (
      <span className="flex items-center gap-1 text-bad">
        <X className="size-3.5" aria-hidden /> failed {took}
      </span>
    ),
    denied: (
      <>
        <Ban className="size-3.5" aria-hidden /> denied
      </>
    ),
    unanswered: (
      <span className="flex items-center gap-1 text-warn">
        <Ban className="size-3.5" aria-hidden /> no result recorded
      </span>
    ),
  }
  return <span className="flex items-center gap-1 tabular-nums">{looks[status]}</span>
}

/** Shows how many items of a mapped call are done. */
function Items({ call: { items = {}, itemCount } }: { call: CallState }) {
  if (itemCount === undefined) return null
  const ended = Object.values(items).filter(({ done }) => done)
  const failed = ended.filter(({ error }) => error).length
  return (
    <p className="border-t border-line px-2.5 py-1.5 text-ink-2 tabular-nums">
      {formatCount(ended.length)} of {formatCount(itemCount)} items done
      {failed > 0 && <span className="text-bad">, {formatCount(failed)} failed</span>}
    </p>
  )
}

function Progress({
  callId,
  message,
  fraction,
}: {
  callId: string
  message: string
  fraction?: number
}) {
  // A sub-agent names its conversation, to which the card has a link.
  const text = message.replace(` in ${subConversationId(useConversationId(), callId)}`, '')
  return (
    <div className="border-t border-line px-2.5 py-1.5">
      <p className="truncate text-ink-2">{text}</p>
      {fraction !== undefined && (
        <div
          role="progressbar"
          aria-label={message}
          aria-valuenow={Math.round(fraction * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          className="mt-1 h-1 overflow-hidden rounded-full bg-hover"
        >
          <div
            data-bar
            className="h-full rounded-full bg-ring transition-[width] duration-300"
            style={{ width: `${Math.min(1, Math.max(0, fraction)) * 100}%` }}
          />
        </div>
      )}
    </div>
  )
}
