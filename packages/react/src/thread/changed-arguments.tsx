import type { ApprovalState } from 'byref/client'
import { useEffect, useRef } from 'react'
import type { SchemaField } from '../schema/schema-fields.ts'
import { SchemaForm } from '../schema/schema-form.tsx'
import { isRecord } from '../ui/is-record.ts'

type Values = Record<string, unknown>

/** Properties of {@link ArgumentsForm}. */
export interface ArgumentsFormProps {
  /** The tool, and which one of its calls it is. */
  title: string
  approval: ApprovalState
  /** Called with the entered arguments; with none if they are the proposed ones. */
  onApprove: (changed: ApprovalAnswerArguments | undefined) => Promise<void>
  onCancel: () => void
}

/** The arguments of a call, or of each item of a mapped call. */
export type ApprovalAnswerArguments = Values | (Values | null)[]

/** Renders a form in which a person changes the arguments of a call before approving it. */
export function ArgumentsForm({ title, approval, onApprove, onCancel }: ArgumentsFormProps) {
  const proposed: Values = approval.items
    ? { items: approval.items }
    : isRecord(approval.arguments)
      ? approval.arguments
      : {}
  const box = useRef<HTMLDivElement>(null)
  // The button that opened the form is gone. What is typed replaces the proposed value.
  useEffect(() => {
    const field = box.current?.querySelector<HTMLInputElement>('input, textarea')
    field?.focus()
    field?.select()
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the fields inside
    <div
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
        // Enter ends a field and must not approve by accident.
        event.preventDefault()
        if (event.ctrlKey || event.metaKey) event.target.form?.requestSubmit()
      }}
      className="scroll-my-4 p-2.5"
    >
      <SchemaForm
        label={`Arguments of ${title}`}
        fields={
          approval.items
            ? [fieldOf('items', approval.items, 'Arguments of each item')]
            : Object.entries(proposed).map(([key, value]) => fieldOf(key, value))
        }
        values={proposed}
        submitLabel="Approve these arguments"
        onCancel={onCancel}
        onSubmit={async (entered) => {
          const values = Object.fromEntries(
            Object.entries(proposed).flatMap(([key, before]) => {
              const value = key in entered ? entered[key] : emptyOf(before)
              return value === undefined ? [] : [[key, value]]
            }),
          )
          const isSame = JSON.stringify(values) === JSON.stringify(proposed)
          const changed = approval.items ? values.items : values
          await onApprove(isSame ? undefined : (changed as ApprovalAnswerArguments))
        }}
      />
    </div>
  )
}

/** Returns the field for an argument, by its value: the schema of the tool is not known here. */
function fieldOf(name: string, value: unknown, label = name): SchemaField {
  const kind = kindOf(value)
  return {
    name,
    label,
    description: null,
    required: value !== '' && value !== null,
    kind,
    choices: [],
    initial: undefined,
    limits: {},
  }
}

function kindOf(value: unknown): SchemaField['kind'] {
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as 'number'
  if (typeof value !== 'string') return 'json'
  return value.length > 60 || value.includes('\n') ? 'long-text' : 'text'
}

/** Returns the value of an emptied field. */
function emptyOf(before: unknown): unknown {
  if (typeof before === 'string') return ''
  return before === null ? null : undefined
}

/** Renders which arguments a person changed: the old and the new value of each. */
export function ArgumentChanges({ before, after }: { before: unknown; after: unknown }) {
  if (!isRecord(before) || !isRecord(after)) {
    return <p>The arguments were changed.</p>
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changed = names.filter((name) => textOf(before[name]) !== textOf(after[name]))
  return (
    <ul dir="ltr" className="space-y-0.5">
      {changed.map((name) => (
        <li key={name} className="[overflow-wrap:anywhere]">
          <span className="font-mono text-ink-3">{name}</span>{' '}
          <del className="font-mono">
            <bdi>{textOf(before[name])}</bdi>
          </del>
          <span aria-hidden> → </span>
          <ins className="font-mono no-underline">
            <bdi>{textOf(after[name])}</bdi>
          </ins>
        </li>
      ))}
    </ul>
  )
}

/** The longest value that is shown in a change, in characters. */
const SHOWN_CHARS = 200

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text
}
