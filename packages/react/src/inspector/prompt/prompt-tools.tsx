import { useConversation } from '../../app/conversation-context.tsx'
import { ViewLink } from '../../app/navigation.tsx'
import { JsonTree } from '../../json/json-tree.tsx'
import { BYTES_PER_TOKEN } from '../../thread/saved.ts'
import { searchesBefore, type ToolSearch } from '../../thread/tool-searches.ts'
import { cn } from '../../ui/cn.ts'
import { formatCount } from '../../ui/format.ts'
import { JumpText } from '../jump-text.tsx'
import { Section } from '../section.tsx'
import type { ReadPrompt } from './read-prompt.ts'
import { type ToolCosts, toolCosts } from './tool-costs.ts'

/** Renders the tools of a prompt with the tokens of each, and what searches had found before it. */
export function PromptTools({
  prompt,
  messageId,
  deferred,
}: {
  prompt: ReadPrompt
  messageId: string
  /** The tools that were not in the prompt. */
  deferred: { tools: number; bytes: number } | null
}) {
  const messages = useConversation((state) => state.messages)
  const searches = searchesBefore(messages, messageId)
  const costs = toolCosts(prompt, deferred)
  const { tools } = prompt
  if (tools.length === 0 && !deferred && searches.length === 0) return null
  return (
    <>
      <Section
        title="Tools"
        aside={
          <span className="text-xs text-ink-3 tabular-nums">
            {formatCount(tools.length)} in the prompt
            {deferred && `, ${formatCount(deferred.tools)} found by search`}
          </span>
        }
      >
        {costs && <Costs costs={costs} />}
        <ul aria-label="Tools in the prompt" className="space-y-1.5">
          {tools.map(({ name, description, value, bytes }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a prompt never changes, and tools may lack a name
            <li key={index}>
              <details className="rounded-lg border border-line text-xs">
                <summary className="flex items-baseline gap-2 px-2.5 py-1.5">
                  <span className="font-mono font-medium">{name}</span>
                  <span className="min-w-0 flex-1 truncate text-ink-3">{description}</span>
                  <Tokens bytes={bytes} />
                </summary>
                <JsonTree value={value} label={name} className="border-t border-line px-2 py-1.5" />
              </details>
            </li>
          ))}
        </ul>
      </Section>
      {searches.length > 0 && <Searches searches={searches} shown={prompt.searches} />}
    </>
  )
}

const tokensOf = (bytes: number) => formatCount(Math.round(bytes / BYTES_PER_TOKEN))

function Tokens({ bytes }: { bytes: number }) {
  return <span className="shrink-0 text-2xs text-ink-3 tabular-nums">{tokensOf(bytes)} tokens</span>
}

/** Compares what tools cost in the prompt with the schemas of all tools. */
function Costs({ costs: { schemas, results, searches, all } }: { costs: ToolCosts }) {
  const isLess = schemas + results < all
  return (
    <p
      className={cn(
        'rounded-md px-2.5 py-1.5 text-xs',
        isLess ? 'bg-good-soft text-good' : 'bg-sunken text-ink-2',
      )}
    >
      <strong className="font-semibold">
        Tools take about {tokensOf(schemas + results)} tokens of this prompt.
      </strong>{' '}
      That is {tokensOf(schemas)} for its tools
      {searches > 0 &&
        ` and ${tokensOf(results)} for the ${searches === 1 ? 'result of a search' : `results of ${formatCount(searches)} searches`}`}
      . With the schemas of all tools, it would be about {tokensOf(all)} in every prompt.
    </p>
  )
}

function Searches({
  searches,
  shown,
}: {
  searches: readonly ToolSearch[]
  shown: ReadPrompt['searches']
}) {
  return (
    <Section
      title="Searches before this step"
      aside={
        <span className="text-xs text-ink-3 tabular-nums">{formatCount(searches.length)}</span>
      }
    >
      <ul aria-label="Searches before this step" className="space-y-1.5 text-xs">
        {searches.map(({ callId, query, group, found, bytes }) => (
          <li key={callId} className="space-y-1 rounded-lg border border-line px-2.5 py-1.5">
            <p className="flex items-baseline gap-2">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <JumpText to={`call-${callId}`}>
                  <q>{query}</q>
                </JumpText>
                {group !== null && <span className="text-ink-3"> in the group {group}</span>}
              </span>
              <Tokens bytes={shown.find((one) => one.callId === callId)?.bytes ?? bytes} />
            </p>
            <p className="flex flex-wrap gap-x-2.5 gap-y-0.5">
              {found.map((name) => (
                <ViewLink
                  key={name}
                  view={{ tab: 'tools', tool: name, query: undefined }}
                  className="font-mono text-ink-2 hover:underline [overflow-wrap:anywhere]"
                >
                  {name}
                </ViewLink>
              ))}
              {found.length === 0 && <span className="text-ink-3">No tool fitted.</span>}
            </p>
            {!shown.some((one) => one.callId === callId) && (
              <p className="text-ink-3">This prompt no longer contains the result.</p>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}
