import { useId, useState } from 'react'
import { formatCount } from '../../ui/format.ts'

/** A step to choose, identified by the message that it wrote. */
export interface Step {
  messageId: string
  label: string
}

/**
 * Maximum number of steps in the list. A longer list shows the steps near the chosen one, or those that match the
 * search.
 */
const MOST = 100

/** Renders a list of steps to choose from. A long list can be searched. */
export function StepSelect({
  label,
  none,
  steps,
  value,
  onChange,
}: {
  label: string
  /** The name of the empty choice, if there is one. */
  none?: string
  steps: readonly Step[]
  value: string | null
  onChange: (messageId: string | null) => void
}) {
  const id = useId()
  const [search, setSearch] = useState('')
  const shown = some(steps, value, search)
  return (
    <>
      <label htmlFor={id} className="text-ink-3">
        {label}
      </label>
      {steps.length > MOST && (
        <input
          type="search"
          value={search}
          aria-label={`Search ${formatCount(steps.length)} steps`}
          placeholder={`Search ${formatCount(steps.length)}`}
          onChange={(event) => setSearch(event.target.value)}
          className="h-7 w-24 min-w-0 rounded-md border border-line bg-surface px-2 text-sm max-md:text-[1rem]"
        />
      )}
      <select
        id={id}
        value={value ?? ''}
        onChange={(event) => onChange(event.target.value || null)}
        className="h-7 min-w-0 flex-1 basis-28 rounded-md border border-line-strong bg-surface px-2 text-sm"
      >
        {none !== undefined && <option value="">{none}</option>}
        {shown.map(({ messageId, label }) => (
          <option key={messageId} value={messageId}>
            {label}
          </option>
        ))}
      </select>
    </>
  )
}

/** Returns the steps in the list, which always include the chosen one. */
function some(steps: readonly Step[], value: string | null, search: string): readonly Step[] {
  const words = search
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  const chosen = steps.findIndex(({ messageId }) => messageId === value)
  if (words.length === 0) {
    const middle = chosen < 0 ? steps.length : chosen
    const from = Math.max(0, Math.min(middle - MOST / 2, steps.length - MOST))
    return steps.slice(from, from + MOST)
  }
  const isHit = (label: string) => {
    const parts = label.toLowerCase().split(/[\s,]+/)
    return words.every((word) => parts.some((part) => part.startsWith(word)))
  }
  const hits = steps.filter(({ label }) => isHit(label)).slice(0, MOST)
  const current = steps[chosen]
  return current && !hits.includes(current) ? [current, ...hits] : hits
}
