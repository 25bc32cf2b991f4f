import { ChevronDown, ChevronsDownUp, ChevronsUpDown, ChevronUp, Search } from 'lucide-react'
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCount } from '../ui/format.ts'
import { findInJson, MOST_HITS } from './find-in-json.ts'
import { JsonTree } from './json-tree.tsx'
import { type JsonPath, pathOf } from './tree-rows.ts'

/** Properties of {@link JsonExplorer}. */
export interface JsonExplorerProps {
  value: unknown
  /** The name of the value, as in "Search debug data". */
  label: string
  /** JSON Pointer to the value that is shown first. */
  at?: string
}

const NO_HITS: readonly JsonPath[] = []

/** Number of levels that "open all" opens. Deeper levels are opened by hand. */
const ALL = 500

/** Renders a large JSON value, which can be opened, searched and copied. Hits are shown one by one. */
export function JsonExplorer({ value, label, at = '' }: JsonExplorerProps) {
  const [query, setQuery] = useState('')
  const [shape, setShape] = useState({ depth: 2, presses: 0 })
  const [place, setPlace] = useState({ text: '', index: 0 })
  const wanted = useDeferredValue(query.trim())
  const hits = useHits(value, wanted)
  const index = place.text === wanted && place.index < (hits?.length ?? 0) ? place.index : 0
  const first = useMemo(() => (at ? pathOf(at) : undefined), [at])
  const current = wanted ? hits?.[index] : first
  // Starts again with each click: what was opened or closed by hand is reset.
  const openDown = (depth: number) => setShape({ depth, presses: shape.presses + 1 })
  const step = (by: number) =>
    hits && setPlace({ text: wanted, index: (index + by + hits.length) % hits.length })

  return (
    <>
      <div className="flex shrink-0 flex-wrap items-center gap-1 border-b border-line px-3 py-1.5">
        <Search className="size-3.5 text-ink-3" aria-hidden />
        <input
          type="search"
          aria-label={`Search ${label}`}
          placeholder="Search keys and values"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && hits?.length) step(event.shiftKey ? -1 : 1)
          }}
          className="h-7 min-w-0 flex-1 basis-24 rounded bg-transparent px-1.5 text-base placeholder:text-ink-3 md:text-sm"
        />
        <span role="status" className="text-xs whitespace-nowrap text-ink-3 tabular-nums">
          {wanted && hits && countHits(hits.length, index)}
        </span>
        {wanted && hits && hits.length > 1 && (
          <>
            <Button icon aria-label="Previous hit" title="Previous hit" onClick={() => step(-1)}>
              <ChevronUp aria-hidden />
            </Button>
            <Button icon aria-label="Next hit" title="Next hit" onClick={() => step(1)}>
              <ChevronDown aria-hidden />
            </Button>
          </>
        )}
        <Button icon aria-label="Expand all" title="Expand all" onClick={() => openDown(ALL)}>
          <ChevronsUpDown aria-hidden />
        </Button>
        <Button icon aria-label="Collapse all" title="Collapse all" onClick={() => openDown(1)}>
          <ChevronsDownUp aria-hidden />
        </Button>
        <CopyButton label="Copy all" text={() => JSON.stringify(value, null, 2)} />
      </div>
      <div className="min-h-0 flex-1 overflow-auto p-3">
        <JsonTree
          key={shape.presses}
          value={value}
          label={label}
          depth={shape.depth}
          marked={wanted ? hits : undefined}
          current={current}
        />
      </div>
    </>
  )
}

/** Returns the hits of a search, or undefined while it runs. */
function useHits(value: unknown, text: string) {
  const [found, setFound] = useState<{ text: string; hits: readonly JsonPath[] }>()
  useEffect(() => {
    if (!text) return
    const controller = new AbortController()
    findInJson(value, text, { signal: controller.signal }).then(
      (hits) => {
        if (!controller.signal.aborted) setFound({ text, hits })
      },
      () => {},
    )
    return () => controller.abort()
  }, [value, text])
  if (!text) return NO_HITS
  return found?.text === text ? found.hits : undefined
}

function countHits(count: number, index: number): string {
  if (count === 0) return 'No hits'
  if (count === 1) return `${formatCount(1)} hit`
  return `${formatCount(index + 1)} of ${formatCount(count)}${count === MOST_HITS ? '+' : ''} hits`
}
