import type { Message } from 'byref/client'
import { readMetadata } from 'byref/client'
import { ArrowUp, CornerDownRight } from 'lucide-react'
import { useConversation } from '../app/conversation-context.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { AssetChip } from '../references/asset-chip.tsx'
import { AssetImage } from '../references/asset-image.tsx'
import { cn } from '../ui/cn.ts'
import { Notice } from '../ui/notice.tsx'
import { Attachments } from './attachments.tsx'
import { findMedia, type Media } from './find-media.ts'
import { JumpLink } from './jump-link.tsx'
import { answeredCall, ledgerOf } from './ledger.ts'
import { Text } from './message-content.tsx'
import { senderName } from './message-header.tsx'

/** What a call gave back, whatever type its message has. */
export function ResultCard({ message }: { message: Message }) {
  const messages = useConversation((state) => state.messages)
  const ledger = ledgerOf(messages)
  const { result, attribution, attachments, footer } = readMetadata(message)
  // The answer that announces the call may still be being written.
  const called = useConversation((state) => result && state.calls[result.callId]?.call)
  if (!result) return null
  const entry = ledger.get(result.callId)
  const call = answeredCall(message, ledger) ?? called
  const live = entry?.announced.at(-1) ?? called
  const place = entry?.results.findIndex(({ messageId }) => messageId === message.id) ?? 0
  const repeated = place >= Math.max(1, entry?.announced.length ?? 1)
  const content = readContent(message)
  const media = findMedia(content)
  return (
    <article
      id={`m-${message.id}`}
      aria-label={`Result of ${call?.name ?? 'an unknown call'}`}
      className={cn(
        'mt-1.5 scroll-my-4 overflow-hidden rounded-lg border text-xs sm:ml-8',
        result.error ? 'border-bad-line' : 'border-line',
      )}
    >
      <header className="flex min-h-8 items-center gap-2 px-2.5 text-ink-3">
        <CornerDownRight className="size-3.5 shrink-0" aria-hidden />
        <p className="min-w-0 truncate">
          {call ? (
            <>
              Result of <span className="font-mono text-ink-2">{call.name}</span>
            </>
          ) : (
            <span className="text-warn">
              Result of an unknown call <code className="font-mono">{result.callId}</code>
            </span>
          )}
          {attribution && ` · ${senderName(message)} ${attribution}`}
          {repeated && <span className="text-warn"> · another result for the same call</span>}
        </p>
        {live && (
          <span className="ml-auto">
            <JumpLink to={`call-${result.callId}`} label="Go to call">
              <ArrowUp className="size-3.5" aria-hidden />
            </JumpLink>
          </span>
        )}
      </header>
      <div className="space-y-2 px-2.5 pb-2.5">
        {result.error && (
          <Notice tone="bad" code={result.error.code}>
            {result.error.message}
          </Notice>
        )}
        {media.length > 0 && <MediaRow media={media} />}
        {attachments.length > 0 && <Attachments attachments={attachments} />}
        {(!result.error || !sameText(content, result.error.message)) && (
          <ResultBody
            content={content}
            plain={message.content_type === 'text/plain'}
            media={media}
          />
        )}
        {footer.length > 0 && <p className="text-2xs text-ink-3">{footer.join(' · ')}</p>}
      </div>
    </article>
  )
}

function MediaRow({ media }: { media: Media[] }) {
  return (
    <div className="flex flex-wrap items-start gap-2">
      {media.map(({ ref, kind, name }) =>
        kind === 'image' ? (
          <AssetImage key={ref} reference={ref} alt={name ?? 'Picture in the result'} />
        ) : (
          <AssetChip key={ref} reference={ref} name={name} />
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
  if (content === null || content === undefined || content === '') {
    return media.length > 0 ? null : <p className="text-ink-3">Nothing came back.</p>
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

/** The content; JSON that came as text is read. */
function readContent({ content }: Message): unknown {
  if (typeof content !== 'string' || !/^\s*[{[]/.test(content)) return content
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}

function sameText(content: unknown, text: string): boolean {
  const inner = typeof content === 'string' ? content : JSON.stringify(content ?? '')
  return inner === '' || inner === '""' || inner.includes(JSON.stringify(text).slice(1, -1))
}
