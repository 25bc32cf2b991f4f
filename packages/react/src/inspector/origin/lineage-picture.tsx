import type { LineageInfo } from 'byref/client'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useChangeView, ViewLink } from '../../app/navigation.tsx'
import { InsideLink } from '../../references/inside-link.ts'
import { LabelMark } from '../../trust/label-mark.tsx'
import { listed } from '../../trust/label-words.ts'
import { cn } from '../../ui/cn.ts'
import { formatCount } from '../../ui/format.ts'
import { More } from '../../ui/more.tsx'
import { LineageLanes } from './lineage-lanes.tsx'
import { type LineageNodeInfo, type LineageRow, lineageRows } from './lineage-rows.ts'

/** Number of lines that are drawn before the selected one, and after it at a time. */
const BEFORE = 8
const PAGE = 50

/** Renders a lineage as lines that lead down from the first node. Each line is a link that selects its node. */
export function LineagePicture({ lineage, name }: { lineage: LineageInfo; name: string }) {
  const { rows, lanes } = useMemo(() => lineageRows(lineage), [lineage])
  const names = useMemo(() => new Map(rows.map(({ node }) => [node.id, nodeName(node)])), [rows])
  const its = Math.max(
    0,
    rows.findIndex(({ node }) => lineage.of.includes(node.id)),
  )
  const of = rows[its]?.node.id
  const [drawn, setDrawn] = useState({ of, earlier: 0, later: 0 })
  const { earlier, later } = drawn.of === of ? drawn : { earlier: 0, later: 0 }
  const from = Math.max(0, its - BEFORE - earlier)
  const to = Math.min(rows.length, its + PAGE + later)
  const change = useChangeView()
  const list = useRef<HTMLOListElement>(null)
  const isWalking = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: who walked to what was not drawn goes on from there
  useEffect(() => {
    if (isWalking.current) list.current?.querySelector<HTMLElement>('[aria-current]')?.focus()
    isWalking.current = false
  }, [of])

  function walk(event: KeyboardEvent<HTMLOListElement>): void {
    const id = (event.target as HTMLElement).dataset.node
    const index = rows.findIndex(({ node }) => node.id === id)
    const row = rows[index]
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return
    const next: Record<string, string | undefined> = {
      ArrowUp: rows[index - 1]?.node.id,
      ArrowDown: rows[index + 1]?.node.id,
      ArrowLeft: row.from[0],
      ArrowRight: row.to[0],
      Home: rows[0]?.node.id,
      End: rows.at(-1)?.node.id,
    }
    const wanted = next[event.key]
    if (wanted === undefined) return
    event.preventDefault()
    const links = event.currentTarget.querySelectorAll<HTMLElement>('[data-node]')
    const link = [...links].find(({ dataset }) => dataset.node === wanted)
    if (link) link.focus()
    else {
      isWalking.current = true
      change({ tab: 'origin', origin: wanted })
    }
  }

  return (
    <>
      {from > 0 && (
        <button
          type="button"
          onClick={() => setDrawn({ of, later, earlier: earlier + PAGE })}
          className="block rounded px-4 text-xs text-ring hover:underline"
        >
          … {formatCount(from)} earlier steps
        </button>
      )}
      <ol
        ref={list}
        aria-label={`What ${name} was made from, and what was made from it`}
        onKeyDown={walk}
        className="overflow-hidden rounded-lg border border-line"
      >
        {rows.slice(from, to).map((row) => (
          <li key={row.node.id}>
            <Line row={row} lanes={lanes} names={names} isIt={lineage.of.includes(row.node.id)} />
          </li>
        ))}
      </ol>
      <More
        what="steps"
        count={rows.length - to}
        onReach={() => setDrawn({ of, earlier, later: later + PAGE })}
      />
    </>
  )
}

function Line({
  row,
  lanes,
  names,
  isIt,
}: {
  row: LineageRow
  lanes: number
  names: ReadonlyMap<string, string>
  isIt: boolean
}) {
  const { node, from, given } = row
  const made = from.map((id) => names.get(id) ?? id)
  return (
    <ViewLink
      view={{ tab: 'origin', origin: node.id }}
      data-node={node.id}
      aria-current={isIt || undefined}
      className={cn(
        'flex h-13 items-center gap-1 pe-2 -outline-offset-2 hover:bg-hover',
        isIt && 'bg-selected',
      )}
    >
      <LineageLanes row={row} lanes={lanes} isIt={isIt} />
      <span className="min-w-0 flex-1">
        <span className="flex min-w-0 items-baseline gap-x-2">
          <span className={cn('truncate text-sm', isIt ? 'font-semibold' : 'font-medium')}>
            {nodeName(node)}
          </span>
          <InsideLink value={true}>
            <LabelMark label={node.label} className="flex-nowrap overflow-hidden" />
          </InsideLink>
        </span>
        <span className="block truncate text-xs text-ink-3">
          {KINDS[node.type]}
          {given.length > 0 && (
            <>
              {', given '}
              <span className="font-mono">{listed(given)}</span>
            </>
          )}
          {made.length > 0 && <span className="sr-only">, made of {listed(made)}</span>}
        </span>
      </span>
    </ViewLink>
  )
}

const KINDS: Record<LineageNodeInfo['type'], string> = {
  message: 'message',
  call: 'call and its result',
  asset: 'file',
  data: 'written data',
}

/** Returns the name of a node. */
export function nodeName({ type, id, ref, name }: LineageNodeInfo): string {
  if (type === 'message')
    return name === 'user' ? 'A person’s message' : `Message of ${name ?? 'somebody'}`
  if (type === 'call') return ref ? `${name ?? 'tool'} → ${ref}` : (name ?? 'tool')
  if (type === 'data') return ref ?? 'data'
  return name ? `${name}’s ${id.slice('asset:'.length, 'asset:'.length + 8)}…` : (ref ?? id)
}
