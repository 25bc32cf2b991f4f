import type { Message } from 'byref/client'
import { isWithheld, readMetadata } from 'byref/client'
import { ArrowUp, CornerDownRight } from 'lucide-react'
import { useConversation } from '../app/conversation-context.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { AssetChip } from '../references/asset-chip.tsx'
import { AssetImage } from '../references/asset-image.tsx'
import { Text } from '../renderers/text.tsx'
import { LabelMark } from '../trust/label-mark.tsx'
import { useLabels } from '../trust/labels-context.tsx'
import { WithheldValue } from '../trust/withheld-value.tsx'
import { cn } from '../ui/cn.ts'
import { Notice } from '../ui/notice.tsx'
import { Attachments } from './attachments.tsx'
import { findMedia, type Media } from './find-media.ts'
import { JumpLink } from './jump-link.tsx'
import { answeredCall, ledgerOf } from './ledger.ts'
import { senderName } from './message-header.tsx'
import { readContent } from './read-content.ts'

/** Renders the result of a call that stands alone: its call is elsewhere, or unknown. */
export function ResultCard({ message }: { message: Message }) {
  const messages = useConversation((state) => state.messages)
  const label = useLabels().messages[message.id]
  const ledger = ledgerOf(messages)
  const { result, attribution } = readMetadata(message)
  // The answer that announces the call may still be streaming.
  const called = useConversation((state) => result && state.calls[result.callId]?.call)
  if (!result) return null
  const entry = ledger.get(result.callId)
  const call = answeredCall(message, ledger) ?? called
  const live = entry?.announced.at(-1) ?? called
  const own = entry?.results.find(({ messageId }) => messageId === message.id)
  return (
    <article
      id={`m-${message.id}`}
      aria-label={call ? `Result of ${call.name}` : 'Result without a call'}
      className={cn(
        'mt-1.5 scroll-my-4 overflow-hidden rounded-lg border text-xs sm:ms-8',
        isFailure(message) ? 'border-bad-line' : 'border-line',
      )}
    >
      <header className="flex min-h-8 items-center gap-2 px-2.5 text-ink-3">
        <CornerDownRight className="size-3.5 shrink-0 rtl:-scale-x-100" aria-hidden />
        <p className="min-w-28 truncate">
          {call ? (
            <>
              Result of <span className="font-mono text-ink-2">{call.name}</span>
            </>
          ) : (
            <span className="text-warn">
              Result without a call: <code className="font-mono">{result.callId}</code>
            </span>
          )}
          {attribution && ` · ${senderName(message)} ${attribution}`}
          {own?.isRepeated && (
            <span className="text-warn"> · another result for the same call</span>
          )}
        </p>
        <LabelMark
          label={label}
          origin={`call:${result.callId}`}
          className="ms-auto justify-end py-1"
        />
        {live && (
          <span className={label ? undefined : 'ms-auto'}>
            <JumpLink to={`call-${result.callId}`} label="Go to call">
              <ArrowUp className="size-3.5" aria-hidden />
            </JumpLink>
          </span>
        )}
      </header>
      <ResultContent message={message} />
    </article>
  )
}

/** Renders the result of a call inside the call's card. The step shows its images and files. */
export function CallResult({ message }: { message: Message }) {
  const label = useLabels().messages[message.id]
  const { result, attribution } = readMetadata(message)
  if (!result) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div
      id={`m-${message.id}`}
      role="group"
      aria-label="Result"
      className="scroll-my-4 border-t border-line pt-1.5"
    >
      <p className="flex min-h-5 flex-wrap items-center gap-x-2 px-2.5 pb-1 text-ink-3">
        <span className="flex min-w-0 items-center gap-2">
          <CornerDownRight className="size-3.5 shrink-0 rtl:-scale-x-100" aria-hidden />
          <span className="truncate">
            Result{attribution && ` · ${senderName(message)} ${attribution}`}
          </span>
        </span>
        <LabelMark label={label} origin={`call:${result.callId}`} className="ms-auto justify-end" />
      </p>
      <ResultContent message={message} inStep />
    </div>
  )
}

/** Whether the result is an error, and not the answer of a person who denied the call. */
function isFailure(message: Message): boolean {
  const error = readMetadata(message).result?.error
  return error != null && error.code !== 'approval_denied'
}

function ResultContent({ message, inStep = false }: { message: Message; inStep?: boolean }) {
  const { result, attachments, footer } = readMetadata(message)
  const error = result?.error
  const content = readContent(message)
  const media = findMedia(content)
  return (
    <div className="space-y-2 px-2.5 pb-2.5">
      {error && (
        <Notice
          tone={isFailure(message) ? 'bad' : 'info'}
          code={isFailure(message) ? error.code : undefined}
        >
          {error.message}
        </Notice>
      )}
      {media.length > 0 && !inStep && <MediaRow media={media} />}
      {attachments.length > 0 && !inStep && <Attachments attachments={attachments} />}
      {(!error || !sameText(content, error.message)) && (
        <ResultBody content={content} plain={message.content_type === 'text/plain'} media={media} />
      )}
      {footer.length > 0 && (
        <p className="text-2xs text-ink-3 [overflow-wrap:anywhere]">{footer.join(' · ')}</p>
      )}
    </div>
  )
}

function MediaRow({ media }: { media: Media[] }) {
  return (
    <div className="flex flex-wrap items-start gap-2">
      {media.map(({ ref, kind, title }) =>
        kind === 'image' ? (
          <AssetImage key={ref} reference={ref} alt={title ?? 'Picture in the result'} />
        ) : (
          <AssetChip key={ref} reference={ref} name={title} />
        ),
      )}
    </div>
  )
}

function ResultBody({
  content,
  plain,
  media,
}: {
  content: unknown
  plain: boolean
  media: Media[]
}) {
  if (isWithheld(content)) return <WithheldValue value={content} />
  if (content === null || content === undefined || content === '') {
    return media.length > 0 ? null : <p className="text-ink-3">The result is empty.</p>
  }
  if (typeof content === 'string') {
    return (
      <div className="max-h-80 overflow-auto rounded-md bg-sunken px-2.5 py-1.5">
        <Text text={content} plain={plain} />
      </div>
    )
  }
  if (typeof content !== 'object') {
    return <p className="font-mono text-sm">{JSON.stringify(content)}</p>
  }
  return (
    <JsonTree
      value={content}
      label="Result"
      depth={media.length > 0 ? 0 : undefined}
      className="max-h-80 overflow-auto rounded-md bg-sunken px-1.5 py-1"
    />
  )
}

function sameText(content: unknown, text: string): boolean {
  const inner = typeof content === 'string' ? content : JSON.stringify(content ?? '')
  return inner === '' || inner === '""' || inner.includes(JSON.stringify(text).slice(1, -1))
}
