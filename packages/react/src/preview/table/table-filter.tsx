import type { RowCondition } from 'byref/client'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { isNumeric, type TableSample } from './read-table.ts'

const WORDS: Record<RowCondition['is'], string> = {
  equal: '=',
  not_equal: '≠',
  less: '<',
  at_most: '≤',
  more: '>',
  at_least: '≥',
  contains: 'contains',
  missing: 'is missing',
}

const field =
  'h-7 min-w-0 rounded-md border border-line-strong bg-surface px-1.5 text-xs max-md:text-[1rem] pointer-coarse:h-9'

/** Properties of {@link TableFilter}. */
export interface TableFilterProps {
  columns: TableSample['columns']
  where: readonly RowCondition[]
  onChange: (where: readonly RowCondition[]) => void
  onClose: () => void
}

/** Renders the conditions that rows must match, all of them, and a line to add one. */
export function TableFilter({ columns, where, onChange, onClose }: TableFilterProps) {
  const [column, setColumn] = useState(columns[0]?.name ?? '')
  const [is, setIs] = useState<RowCondition['is']>('equal')
  const [to, setTo] = useState('')
  const type = columns.find(({ name }) => name === column)?.type ?? null
  return (
    <div className="space-y-1.5 border-b border-line bg-sunken px-2 py-1.5 text-xs">
      {where.length > 0 && (
        <ul aria-label="Conditions" className="flex flex-wrap gap-1">
          {where.map((condition, index) => (
            <li
              key={JSON.stringify(condition)}
              className="flex max-w-full items-center gap-1 rounded-md border border-line bg-surface ps-1.5"
            >
              <span className="truncate">
                <bdi className="font-medium">{condition.column}</bdi> {WORDS[condition.is]}{' '}
                <bdi>{condition.to === undefined ? '' : String(condition.to)}</bdi>
              </span>
              <Button
                icon
                aria-label={`Remove the condition on ${condition.column}`}
                className="size-6 [&_svg]:size-3"
                onClick={() => onChange(where.filter((_, at) => at !== index))}
              >
                <X aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <form
        aria-label="Filter rows"
        className="flex flex-wrap items-center gap-1"
        onSubmit={(event) => {
          event.preventDefault()
          if (column === '') return
          const added = is === 'missing' ? { column, is } : { column, is, to: cellOf(to, type) }
          const isNew = !where.some((one) => JSON.stringify(one) === JSON.stringify(added))
          if (isNew) onChange([...where, added])
          setTo('')
        }}
      >
        <select
          aria-label="Column"
          className={`${field} max-w-40`}
          value={column}
          onChange={(event) => setColumn(event.target.value)}
        >
          {columns.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select
          aria-label="Comparison"
          className={field}
          value={is}
          onChange={(event) => setIs(event.target.value as RowCondition['is'])}
        >
          {Object.entries(WORDS).map(([key, word]) => (
            <option key={key} value={key}>
              {word}
            </option>
          ))}
        </select>
        {is !== 'missing' && (
          <input
            aria-label="Value"
            dir="auto"
            className={`${field} min-w-28 flex-1`}
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        )}
        <Button look="outline" type="submit" className="text-xs">
          <Plus aria-hidden /> Add
        </Button>
        <Button icon aria-label="Close the filter" onClick={onClose} className="ms-auto">
          <X aria-hidden />
        </Button>
      </form>
    </div>
  )
}

/** Converts the entered text to a value of the column: a number, true or false if the column has such values. */
function cellOf(text: string, type: string | null): string | number | boolean {
  const trimmed = text.trim()
  if (type === 'boolean' && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true'
  const number = Number(trimmed)
  const isExact = trimmed !== '' && Number.isFinite(number) && !/^-?\d{16,}$/.test(trimmed)
  return isNumeric(type) && isExact ? number : text
}
