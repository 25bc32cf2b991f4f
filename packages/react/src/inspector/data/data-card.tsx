import { Pencil } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useConversation } from '../../app/conversation-context.tsx'
import { useMay } from '../../app/role.ts'
import { JsonTree } from '../../json/json-tree.tsx'
import { readVariable } from '../../references/board.ts'
import { LabelMark } from '../../trust/label-mark.tsx'
import { useLabels } from '../../trust/labels-context.tsx'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { DataEdit } from './data-edit.tsx'
import type { DataEntry } from './data-entries.ts'
import { DataHistory } from './data-history.tsx'

/** Properties of {@link DataCard}. */
export interface DataCardProps {
  entry: DataEntry
  /** The message after which the value is shown; null is now. */
  at: string | null
  /** Whether the address names it, so that it scrolls into view. */
  wanted: boolean
}

/** Renders one value of the board with its history. A person may edit its current value. */
export function DataCard({ entry, at, wanted }: DataCardProps) {
  const messages = useConversation((state) => state.messages)
  const labels = useLabels()
  const element = useRef<HTMLElement>(null)
  const reference = `†${entry.identity}`
  const [editing, setEditing] = useState(false)
  const mayEdit = useMay('member') && at === null
  const isDeclared = entry.writes.every(({ method }) => method === 'declared')
  const found = readVariable(messages, reference, at ?? undefined)
  const edit = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useEffect(() => {
    if (wasEditing.current && !editing) edit.current?.focus()
    wasEditing.current = editing
  }, [editing])
  useEffect(() => {
    if (wanted) element.current?.scrollIntoView({ block: 'nearest' })
  }, [wanted])
  return (
    <article
      ref={element}
      aria-label={reference}
      className={cn(
        'scroll-m-3 overflow-hidden rounded-lg border border-line',
        wanted && 'border-variable-line',
      )}
    >
      <header className="flex items-center gap-2 border-b border-line bg-sunken py-0.5 pe-1 ps-3">
        <h2
          dir="auto"
          className="min-w-0 flex-1 truncate font-mono text-sm font-medium text-variable"
        >
          {reference}
        </h2>
        <LabelMark label={labels.data[entry.identity]} origin={reference} className="shrink-0" />
        {mayEdit && !editing && (
          <Button
            ref={edit}
            icon
            aria-label={`Edit ${reference}`}
            title="Edit"
            onClick={() => setEditing(true)}
          >
            <Pencil aria-hidden />
          </Button>
        )}
        <CopyButton label="Copy reference" text={reference} />
      </header>
      <div className="space-y-3 p-3">
        {entry.description && (
          <p dir="auto" className="text-sm text-ink-2">
            {entry.description}
          </p>
        )}
        {editing && mayEdit ? (
          <DataEdit
            entry={entry}
            value={'problem' in found ? undefined : found.value}
            onClose={() => setEditing(false)}
          />
        ) : 'problem' in found ? (
          <Notice tone={isDeclared ? 'info' : 'warn'}>
            {isDeclared ? 'Declared, but nothing is written yet.' : found.problem}
          </Notice>
        ) : (
          <JsonTree
            value={found.value}
            label={`Value of ${reference}`}
            className="max-h-96 overflow-auto"
          />
        )}
        {entry.schema && (
          <details className="text-xs">
            <summary className="rounded text-ink-3 hover:text-ink">
              Schema: every write is checked against it
            </summary>
            <JsonTree
              value={entry.schema}
              label="Schema"
              className="mt-1 rounded-md bg-sunken p-1.5"
            />
          </details>
        )}
        <DataHistory writes={entry.writes} at={at} />
      </div>
    </article>
  )
}
