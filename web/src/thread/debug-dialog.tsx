import { useQuery } from '@tanstack/react-query'
import { ChevronsDownUp, ChevronsUpDown, Search, X } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { debugQuery } from '../app/client.ts'
import { findInJson } from '../json/find-in-json.ts'
import { JsonTree } from '../json/json-tree.tsx'
import { isBranch } from '../json/tree-rows.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Modal } from '../ui/modal.tsx'
import { Notice } from '../ui/notice.tsx'
import { Spinner } from '../ui/spinner.tsx'

/** Properties of {@link DebugDialog}. */
export interface DebugDialogProps {
  conversation: string
  message: string
  /** JSON Pointer of what to show first. */
  at: string
  onClose: () => void
}

/** A message's debug data as a tree to open, search and copy from. It is loaded when this opens, and only then. */
export function DebugDialog({ conversation, message, at, onClose }: DebugDialogProps) {
  const { data, error, isPending, isFetching, refetch } = useQuery(
    debugQuery(conversation, message),
  )
  return (
    <Modal
      title="Debug"
      onClose={onClose}
      returnTo={() => document.getElementById(`m-${message}`)?.querySelector('button')}
      className="inset-2 m-auto h-fit max-h-[min(46rem,calc(100%-1rem))] max-w-4xl animate-appear overflow-hidden rounded-xl sm:inset-8"
    >
      <div className="flex h-11 shrink-0 items-center border-b border-line pr-2 pl-4">
        <p aria-hidden className="flex-1 text-sm font-semibold">
          Debug
        </p>
        <Button icon aria-label="Close" onClick={onClose}>
          <X aria-hidden />
        </Button>
      </div>
      {isPending && (
        <div className="grid h-40 place-items-center">
          <Spinner label="Loading debug data" />
        </div>
      )}
      {error && (
        <div className="p-4">
          <LoadError what="The debug data" error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {data === null && (
        <div className="p-4">
          <Notice
            tone="warn"
            actions={
              <Button look="outline" disabled={isFetching} onClick={() => void refetch()}>
                Retry
              </Button>
            }
          >
            There is no debug data for this message (any more).
          </Notice>
        </div>
      )}
      {data !== undefined && data !== null && <Data data={data} at={at} />}
    </Modal>
  )
}

function Data({ data, at }: { data: unknown; at: string }) {
  const [query, setQuery] = useState('')
  const [depth, setDepth] = useState(2)
  const value = useMemo(() => (isBranch(data) ? data : { debug: data }), [data])
  const wanted = useDeferredValue(query.trim())
  const hits = useMemo(
    () => (wanted ? findInJson(value, wanted) : at ? [pathOf(at)] : undefined),
    [value, wanted, at],
  )
  return (
    <>
      <div className="flex shrink-0 items-center gap-1 border-b border-line px-3 py-1.5">
        <Search className="size-3.5 text-ink-3" aria-hidden />
        <input
          type="search"
          aria-label="Search debug data"
          placeholder="Search keys and values"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          className="h-7 min-w-0 flex-1 rounded bg-transparent px-1.5 text-base outline-none placeholder:text-ink-3 focus-visible:outline-2 md:text-sm"
        />
        <span role="status" className="text-xs text-ink-3 tabular-nums">
          {wanted && hits && countHits(hits.length)}
        </span>
        <Button icon aria-label="Expand all" title="Expand all" onClick={() => setDepth(12)}>
          <ChevronsUpDown aria-hidden />
        </Button>
        <Button icon aria-label="Collapse all" title="Collapse all" onClick={() => setDepth(1)}>
          <ChevronsDownUp aria-hidden />
        </Button>
        <CopyButton label="Copy all" text={() => JSON.stringify(data, null, 2)} />
      </div>
      <div className="min-h-0 flex-1 overflow-auto p-3">
        <JsonTree key={depth} value={value} label="Debug data" depth={depth} marked={hits} />
      </div>
    </>
  )
}

function countHits(count: number): string {
  if (count === 500) return '500+ hits'
  return count === 1 ? '1 hit' : `${count} hits`
}

function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}
