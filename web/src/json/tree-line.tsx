import { ChevronRight } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { InlineValue } from '../references/inline-value.tsx'
import { cn } from '../ui/cn.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCount } from '../ui/format.ts'
import { pointer, type TreeRow } from './tree-rows.ts'

/** Properties of {@link TreeLine}. */
export interface TreeLineProps {
  row: TreeRow
  marked: boolean
  /** Whether Tab reaches this line; one in a tree does. */
  focusable: boolean
  onToggle: () => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** One line of a tree. */
export function TreeLine({ row, marked, focusable, onToggle, onKeyDown }: TreeLineProps) {
  const key = row.type === 'more' ? undefined : row.path.at(-1)
  return (
    <div
      role="treeitem"
      aria-level={row.level}
      aria-expanded={row.type === 'branch' && row.size > 0 ? row.expanded : undefined}
      tabIndex={focusable ? 0 : -1}
      onKeyDown={onKeyDown}
      onClick={row.type === 'leaf' ? undefined : onToggle}
      style={{ paddingInlineStart: (row.level - 1) * 14 }}
      className={cn(
        'group/line relative flex min-h-5 items-start gap-1 rounded-sm pr-1 hover:bg-hover',
        row.type === 'leaf' && 'cursor-default',
        marked && 'bg-variable-soft',
      )}
    >
      <ChevronRight
        aria-hidden
        className={cn(
          'mt-1 size-3 shrink-0 text-ink-3 transition-transform',
          (row.type !== 'branch' || row.size === 0) && 'invisible',
          row.type === 'branch' && row.expanded && 'rotate-90',
        )}
      />
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {key !== undefined && (
          <span className="text-ink-2">
            {key}
            <span className="text-ink-3">: </span>
          </span>
        )}
        {row.type === 'leaf' && <InlineValue value={row.value} />}
        {row.type === 'branch' && <Summary row={row} />}
        {row.type === 'more' && <span className="text-ring">… {formatCount(row.hidden)} more</span>}
      </span>
      {row.type !== 'more' && row.level > 1 && (
        // biome-ignore lint/a11y/noStaticElementInteractions: keeps a click on the buttons from toggling the line
        // biome-ignore lint/a11y/useKeyWithClickEvents: as above
        <span
          className="absolute top-0 right-0 hidden rounded bg-raised shadow-float group-hover/line:flex"
          onClick={(event) => event.stopPropagation()}
        >
          <CopyButton
            label="Copy value"
            className="size-5 pointer-coarse:size-5 [&_svg]:size-3"
            text={() =>
              typeof row.value === 'string' ? row.value : JSON.stringify(row.value, null, 2)
            }
          />
          <CopyButton
            label="Copy path"
            className="size-5 pointer-coarse:size-5 [&_svg]:size-3"
            text={pointer(row.path)}
          />
        </span>
      )}
    </div>
  )
}

function Summary({ row }: { row: Extract<TreeRow, { type: 'branch' }> }) {
  const list = Array.isArray(row.value)
  if (row.size === 0) return <span className="text-ink-3">{list ? '[]' : '{}'}</span>
  if (list) return <span className="text-ink-3">[{formatCount(row.size)}]</span>
  const keys = Object.keys(row.value).slice(0, 4).join(', ')
  return (
    <span className="text-ink-3">
      {row.expanded ? `{${row.size}}` : `{ ${keys}${row.size > 4 ? ', …' : ''} }`}
    </span>
  )
}
