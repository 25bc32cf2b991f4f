import type { ToolLine as Line } from 'byref/client'
import { ChevronRight } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { BYTES_PER_TOKEN } from '../../thread/saved.ts'
import { cn } from '../../ui/cn.ts'
import { formatCount } from '../../ui/format.ts'
import { ToolDetails } from './tool-details.tsx'

/** Properties of {@link ToolLine}. */
export interface ToolLineProps {
  tool: Line
  agent: string
  /** The ids of its calls in the conversation. */
  calls: readonly string[]
  /** Whether the agent's tools are found by search, so that it matters which prompts have it. */
  isSearched: boolean
  isOpen: boolean
  onToggle: () => void
}

/** Renders a tool as a line that opens to its details. */
export function ToolLine({ tool, agent, calls, isSearched, isOpen, onToggle }: ToolLineProps) {
  const { name, description, bytes, words } = tool
  const id = useId()
  const element = useRef<HTMLLIElement>(null)
  // A link opened it.
  const [isLinked] = useState(isOpen)
  useEffect(() => {
    const line = element.current
    const panel = line?.closest('[role=tabpanel]')
    // Only the tab scrolls: the page around it must not move.
    if (!isLinked || !line || !panel) return
    panel.scrollTop += line.getBoundingClientRect().top - panel.getBoundingClientRect().top
  }, [isLinked])
  return (
    <li ref={element} className="border-b border-line text-xs last:border-0">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={onToggle}
        className="flex w-full items-start gap-1.5 rounded-md px-1 py-1.5 text-start hover:bg-hover -outline-offset-2"
      >
        <ChevronRight
          aria-hidden
          className={cn(
            'mt-0.5 size-3.5 shrink-0 text-ink-3 rtl:-scale-x-100',
            isOpen && 'rotate-90',
          )}
        />
        <span className="min-w-0 flex-1 space-y-0.5">
          <span className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 font-mono font-medium [overflow-wrap:anywhere]">
              {name}
            </span>
            <span className="shrink-0 text-2xs text-ink-3 tabular-nums">
              {formatCount(Math.round(bytes / BYTES_PER_TOKEN))} tokens
            </span>
          </span>
          {!isOpen && (
            <span dir="auto" className="block truncate text-ink-3">
              {description}
            </span>
          )}
          <span className="flex flex-wrap gap-x-2.5 gap-y-0.5 text-2xs text-ink-3 empty:hidden">
            {flagsOf(tool, isSearched).map((flag) => (
              <span key={flag} className={cn(/^Needs|^May need/.test(flag) && 'text-warn')}>
                {flag}
              </span>
            ))}
            {words && words.length > 0 && (
              <span>Fits {words.map((word) => `“${word}”`).join(', ')}</span>
            )}
            {calls.length > 0 && (
              <span className="font-medium text-ink-2 tabular-nums">
                {formatCount(calls.length)} {calls.length === 1 ? 'call' : 'calls'}
              </span>
            )}
          </span>
        </span>
      </button>
      {isOpen && (
        <div id={id} className="px-6 pb-3 max-sm:pe-2">
          <ToolDetails name={name} agent={agent} calls={calls} />
        </div>
      )}
    </li>
  )
}

function flagsOf({ readOnly, needsApproval, shown, words }: Line, isSearched: boolean): string[] {
  const flags = readOnly ? ['Read-only'] : []
  if (needsApproval === 'always') flags.push('Needs approval')
  if (needsApproval === 'sometimes') flags.push('May need approval')
  if (shown === 'later') flags.push('In prompts once there is a file to read')
  if (!isSearched) return flags
  // The headings of a search say it.
  if (shown === 'search' && words === null) flags.push('Found by search')
  if (shown === 'pinned') flags.push('Pinned: in every prompt')
  if (shown === 'always') flags.push('In every prompt')
  return flags
}
