import { ChevronRight } from 'lucide-react'
import { memo, useState } from 'react'
import { InlineValue } from '../references/inline-value.tsx'
import { isAsset } from '../references/kinds.ts'
import { cn } from '../ui/cn.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatBytes, formatCount } from '../ui/format.ts'
import { pointer, type TreeRow } from './tree-rows.ts'

/** Properties of {@link TreeLine}. */
export interface TreeLineProps {
  row: TreeRow
  /** Whether it is a search hit, or the current one. */
  mark: 'hit' | 'current' | null
  /** Whether Tab reaches this line. Exactly one line of a tree is focusable. */
  focusable: boolean
}

/** Renders one line of a tree. The tree handles clicks and keys. */
export const TreeLine = memo(function TreeLine({ row, mark, focusable }: TreeLineProps) {
  const [near, setNear] = useState(false)
  const key = row.type === 'more' ? undefined : row.path.at(-1)
  return (
    <div
      role="treeitem"
      aria-level={row.level}
      aria-expanded={row.type === 'branch' && row.size > 0 ? row.expanded : undefined}
      aria-current={mark === 'current' || undefined}
      tabIndex={focusable ? 0 : -1}
      onPointerEnter={() => setNear(true)}
      onPointerLeave={() => setNear(false)}
      onFocus={() => setNear(true)}
      onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || setNear(false)}
      style={{ paddingInlineStart: (row.level - 1) * 14 }}
      className={cn(
        'relative flex min-h-5 items-start gap-1 rounded-sm pe-1 hover:bg-hover',
        row.type === 'leaf' && 'cursor-default',
        mark && 'bg-variable-soft',
        mark === 'current' && 'outline outline-variable',
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
            <bdi>{key}</bdi>
            <span className="text-ink-3">: </span>
          </span>
        )}
        {row.type === 'leaf' && <InlineValue value={row.value} />}
        {row.type === 'branch' && <Summary row={row} />}
        {row.type === 'more' && (
          <span className="text-ring">
            … {formatCount(row.hidden)} {row.side === 'before' ? 'before' : 'more'}
          </span>
        )}
      </span>
      {near && row.type !== 'more' && row.level > 1 && <Tools row={row} />}
    </div>
  )
}, isSame)

/** Renders copy buttons at the pointer or the focus. A long tree has no other buttons. */
function Tools({ row }: { row: Exclude<TreeRow, { type: 'more' }> }) {
  const small = 'size-5 pointer-coarse:size-5 [&_svg]:size-3'
  return (
    <span data-tools className="absolute top-0 inset-e-0 flex rounded bg-raised shadow-float">
      <CopyButton
        label="Copy value"
        className={small}
        text={() =>
          typeof row.value === 'string' ? row.value : JSON.stringify(row.value, null, 2)
        }
      />
      <CopyButton label="Copy path" className={small} text={pointer(row.path)} />
    </span>
  )
}

/** Returns whether a line looks the same. Rows are recreated whenever one of them changes. */
function isSame(a: TreeLineProps, b: TreeLineProps): boolean {
  const { row, ...props } = a
  const { row: other, ...others } = b
  const keys = Object.keys(row) as (keyof TreeRow)[]
  return (
    props.mark === others.mark &&
    props.focusable === others.focusable &&
    row.type === other.type &&
    keys.every((key) => key === 'path' || row[key] === other[key])
  )
}

function Summary({ row }: { row: Extract<TreeRow, { type: 'branch' }> }) {
  const list = Array.isArray(row.value)
  if (row.size === 0) return <span className="text-ink-3">{list ? '[]' : '{}'}</span>
  if (list) return <span className="text-ink-3">[{formatCount(row.size)}]</span>
  const { offloaded, assetRef, size } = row.value as Record<string, unknown>
  if (offloaded === true && isAsset(assetRef)) {
    const bytes = typeof size === 'number' ? ` (${formatBytes(size)})` : ''
    return <span className="text-ink-3">value, stored as a file{bytes}</span>
  }
  const keys = Object.keys(row.value).slice(0, 4).join(', ')
  return (
    <span className="text-ink-3">
      {row.expanded ? `{${formatCount(row.size)}}` : `{ ${keys}${row.size > 4 ? ', …' : ''} }`}
    </span>
  )
}
