import { JsonTree } from '../json/json-tree.tsx'
import { cn } from '../ui/cn.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatBytes } from '../ui/format.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'
import type { PromptMessage, PromptPart, ReadPrompt, Share } from './read-prompt.ts'
import { Section } from './section.tsx'

const SHARES: Record<Share, { name: string; color: string }> = {
  instructions: { name: 'Instructions', color: 'bg-violet-500' },
  history: { name: 'History', color: 'bg-ink-3' },
  data: { name: 'Data', color: 'bg-amber-500' },
  metas: { name: 'Asset metas', color: 'bg-blue-500' },
  media: { name: 'Media', color: 'bg-pink-500' },
  tools: { name: 'Tools', color: 'bg-emerald-500' },
}

/** A prompt, message by message, with the size of its parts. */
export function PromptView({ prompt }: { prompt: ReadPrompt }) {
  return (
    <div className="space-y-4">
      <Sizes prompt={prompt} />
      <Section
        title="Messages"
        aside={
          <CopyButton
            label="Copy prompt"
            text={() =>
              JSON.stringify(
                prompt.messages.map(({ role, parts }) => ({
                  role,
                  content: parts.map(({ value }) => value),
                })),
                null,
                2,
              )
            }
            className="size-6 [&_svg]:size-3.5"
          />
        }
      >
        <ol className="space-y-1.5">
          {prompt.messages.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a prompt never changes
            <li key={index}>
              <Message message={message} />
            </li>
          ))}
        </ol>
      </Section>
      {prompt.tools.length > 0 && (
        <Section title="Tools">
          <ul className="space-y-1.5">
            {prompt.tools.map(({ name, description, value, bytes }) => (
              <li key={name}>
                <details className="rounded-lg border border-line text-xs">
                  <summary className="flex items-baseline gap-2 px-2.5 py-1.5">
                    <span className="font-mono font-medium">{name}</span>
                    <span className="min-w-0 flex-1 truncate text-ink-3">{description}</span>
                    <span className="text-2xs text-ink-3 tabular-nums">{formatBytes(bytes)}</span>
                  </summary>
                  <JsonTree
                    value={value}
                    label={name}
                    className="border-t border-line px-2 py-1.5"
                  />
                </details>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </div>
  )
}

function Sizes({ prompt: { sizes, total } }: { prompt: ReadPrompt }) {
  const shares = (Object.keys(SHARES) as Share[]).filter((share) => sizes[share] > 0)
  return (
    <Section
      title="Size"
      aside={<span className="text-xs font-medium tabular-nums">{formatBytes(total)}</span>}
    >
      <div aria-hidden className="flex h-2 gap-px overflow-hidden rounded-full">
        {shares.map((share) => (
          <span
            key={share}
            className={cn('min-w-[3px]', SHARES[share].color)}
            style={{ flexGrow: sizes[share] / Math.max(1, total), flexBasis: 0 }}
          />
        ))}
      </div>
      <dl className="flex flex-wrap gap-x-4 gap-y-0.5 pt-0.5 text-xs">
        {shares.map((share) => (
          <div key={share} className="flex items-center gap-1.5">
            <dt className="flex items-center gap-1.5 text-ink-2">
              <span aria-hidden className={cn('size-2 rounded-full', SHARES[share].color)} />
              {SHARES[share].name}
            </dt>
            <dd className="text-ink-3 tabular-nums">
              {formatBytes(sizes[share])} · {Math.round((sizes[share] / Math.max(1, total)) * 100)}%
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

function Message({ message: { role, parts, bytes } }: { message: PromptMessage }) {
  return (
    <article aria-label={role} className="overflow-hidden rounded-lg border border-line text-xs">
      <header className="flex items-center justify-between bg-sunken px-2.5 py-1">
        <span className="font-semibold">{role}</span>
        <span className="text-2xs text-ink-3 tabular-nums">{formatBytes(bytes)}</span>
      </header>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a prompt never changes
        <Part key={index} part={part} />
      ))}
    </article>
  )
}

function Part({ part }: { part: PromptPart }) {
  return (
    <div className="flex border-t border-line">
      <span aria-hidden className={cn('w-0.5 shrink-0', SHARES[part.share].color)} />
      <span className="sr-only">{SHARES[part.share].name}</span>
      {part.type === 'text' ? (
        <ScrollArea className="max-h-80 min-w-0 flex-1">
          <pre className="px-2.5 py-1.5 font-mono leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
            {part.text}
          </pre>
        </ScrollArea>
      ) : (
        <JsonTree value={part.value} label={part.type} className="min-w-0 flex-1 px-1.5 py-1.5" />
      )}
    </div>
  )
}
