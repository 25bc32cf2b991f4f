import type { AnswerSource, Message } from 'byref/client'
import { readMetadata, WITHHELD } from 'byref/client'
import { useConversation } from '../app/conversation-context.tsx'
import { PlaceLink } from '../app/navigation.tsx'
import { useSeesDebug } from '../app/role.ts'
import { isBranch } from '../json/tree-rows.ts'
import { isBlock } from '../references/data-block.ts'
import { messageRenderers } from '../renderers/message-renderers.tsx'
import { Rendered } from '../renderers/rendered.tsx'
import { useRenderers } from '../renderers/renderers-context.ts'
import { SchemaValue } from '../schema/schema-value.tsx'
import { formatCount } from '../ui/format.ts'
import { Attachments } from './attachments.tsx'
import { MessageLink } from './message-link.tsx'
import { readContent } from './read-content.ts'

/** Renders a message by its type, with its attachments. */
export function MessageBody({ message }: { message: Message }) {
  const { messages } = useRenderers()
  const { answerSources, attachments, href, isIncomplete, problems, reasoning } =
    readMetadata(message)
  const answer = useStructuredAnswer(message)
  const body = answer ? (
    <SchemaValue {...answer} />
  ) : (
    <Rendered
      type={message.message_type}
      custom={messages}
      builtIn={messageRenderers}
      props={{ message }}
    />
  )
  return (
    <>
      {reasoning.length > 0 && <Reasoning texts={reasoning.map(({ text }) => text)} />}
      {href !== null && message.message_type !== 'chat' ? (
        <MessageLink href={href}>{body}</MessageLink>
      ) : (
        body
      )}
      {attachments.length > 0 && <Attachments attachments={attachments} />}
      {answerSources.length > 0 && <Sources sources={answerSources} />}
      {isIncomplete && <p className="text-2xs text-ink-3">Stopped before it was complete.</p>}
      {message.content_type === 'data' && !isBlock(message) && (
        <p className="text-2xs text-warn">Malformed data message: it writes no value.</p>
      )}
      {problems.length > 0 && (
        <p className="text-2xs text-warn [overflow-wrap:anywhere]">
          Malformed: {problems.map(({ message }) => message).join('; ')}.
        </p>
      )}
    </>
  )
}

/** Returns the JSON of a structured answer and its schema. Null for any other message. */
function useStructuredAnswer(message: Message): { value: unknown; schema: unknown } | null {
  const schema = useConversation(({ runs }) => {
    const wrote = ({ messageId }: { messageId: string }) => messageId === message.id
    return runs.findLast(({ overrides, steps }) => overrides?.output && steps.some(wrote))
      ?.overrides?.output
  })
  if (!schema || message.content_type === WITHHELD) return null
  const value = readContent(message)
  return isBranch(value) ? { value, schema } : null
}

function Reasoning({ texts }: { texts: string[] }) {
  const text = texts.join('\n\n').trim()
  if (text === '') return null
  return (
    <details className="text-xs text-ink-3">
      <summary className="w-fit rounded hover:text-ink-2">Thoughts</summary>
      <p
        dir="auto"
        className="mt-1 max-h-72 overflow-auto border-s border-line ps-3 whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {text}
      </p>
    </details>
  )
}

function Sources({ sources }: { sources: readonly AnswerSource[] }) {
  return (
    <ol aria-label="Sources" className="flex flex-wrap gap-x-3 gap-y-0.5 text-2xs text-ink-3">
      {sources.map(({ url, title, fileName }, index) => {
        const name = title ?? fileName ?? url
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: sources never move
          <li key={index} dir="auto" className="max-w-full truncate">
            {index + 1}.{' '}
            {url === undefined ? (
              name
            ) : (
              <a
                href={url}
                target="_blank"
                rel="noopener noreferrer"
                title={url}
                className="rounded underline decoration-dotted underline-offset-2 hover:text-ink"
              >
                {name}
              </a>
            )}
          </li>
        )
      })}
    </ol>
  )
}

/**
 * Renders the footer of a message. Token counts link to their usage in the debug data. Those of a step say that they are
 * of the model call, because the calls of tools stand above them.
 */
export function MessageFooter({ message, isStep }: { message: Message; isStep?: boolean }) {
  const { footer, hasDebug } = readMetadata(message)
  const maySeeDebug = useSeesDebug() && hasDebug
  if (footer.length === 0) return null
  return (
    <footer className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-2xs text-ink-3 tabular-nums">
      {footer.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines may repeat and never move
        <span key={index} className="min-w-0 [overflow-wrap:anywhere]">
          {maySeeDebug && /\btokens?\b/i.test(line) ? (
            <UsageLink messageId={message.id}>
              {`${isStep ? 'Model call: ' : ''}${grouped(line)}`}
            </UsageLink>
          ) : (
            line
          )}
        </span>
      ))}
    </footer>
  )
}

/** Writes the numbers of tokens as everywhere in the app. */
function grouped(line: string): string {
  return line.replace(/(?<![.\d])\d{4,}/g, (digits) => formatCount(Number(digits)))
}

/** Renders a link to the provider's token usage. */
function UsageLink({ messageId, children }: { messageId: string; children: string }) {
  return (
    <PlaceLink
      to={{ type: 'view', view: { debug: '/response/usage' }, hash: `m-${messageId}` }}
      title="Show the usage in the debug data"
      className="rounded underline decoration-dotted underline-offset-2 hover:text-ink"
    >
      {children}
    </PlaceLink>
  )
}
