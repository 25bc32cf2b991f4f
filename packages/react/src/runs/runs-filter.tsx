import { FilterX, X } from 'lucide-react'
import { type ComponentProps, type ReactNode, useEffect, useId, useState } from 'react'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { useSettled } from '../app/use-settled.ts'
import { Button } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { countFilters, NO_FILTERS, RANGES, type RunsView, STATUSES } from './runs-view.ts'

const FIELD =
  'h-8 w-full min-w-0 rounded-md border border-line-strong bg-surface px-2 text-sm max-md:text-[1rem] pointer-coarse:h-10'

/** Properties of {@link RunsFilter}. */
export interface RunsFilterProps {
  view: RunsView
  /** Gets what changes. Two filters may change before the view does. */
  onChange: (change: RunsView) => void
}

/** Renders the filters of the page. They apply as they change. */
export function RunsFilter({ view, onChange }: RunsFilterProps) {
  const { infoQuery } = useServer()
  const { data: info } = useQuery(infoQuery)
  const count = countFilters(view)
  const agents = info?.agents ?? []
  // On a phone, only the first two are there at once.
  const [isOpen, setOpen] = useState(count > 0)
  const amount = (text: string) => (text === '' ? undefined : Math.max(0, Number(text)))
  return (
    <form
      aria-label="Filter runs"
      onSubmit={(event) => event.preventDefault()}
      className="space-y-2 rounded-lg border border-line bg-sunken p-2.5"
    >
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-5">
        <Choice
          label="Time"
          value={view.range ?? '30d'}
          names={Object.entries(RANGES).map(([key, { label }]) => [key, label])}
          onChoose={(range) => onChange({ range: range as RunsView['range'] })}
        />
        <Choice
          label="Status"
          value={view.status ?? ''}
          names={[['', 'Any'], ...Object.entries(STATUSES)]}
          onChoose={(status) => onChange({ status: (status || undefined) as RunsView['status'] })}
        />
        <Button
          look="outline"
          aria-expanded={isOpen}
          className="col-span-2 h-8 sm:hidden pointer-coarse:h-10"
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Fewer filters' : 'More filters'}
        </Button>
        <div className={cn('contents', !isOpen && 'max-sm:hidden')}>
          <Field
            label="Agent"
            value={view.agent}
            names={agents.map(({ name }) => name)}
            onSettle={(agent) => onChange({ agent })}
          />
          <Field
            label="Model"
            value={view.model}
            names={agents.map(({ model }) => model.id)}
            onSettle={(model) => onChange({ model })}
          />
          <Field
            label="Tool"
            value={view.tool}
            names={agents.flatMap(({ tools }) => tools.map(({ id }) => id))}
            onSettle={(tool) => onChange({ tool })}
          />
          <Field label="Error code" value={view.error} onSettle={(error) => onChange({ error })} />
          <Field
            label="Cost at least ($)"
            value={view.minCost}
            step="any"
            onSettle={(text) => onChange({ minCost: amount(text ?? '') })}
          />
          <Field
            label="Tokens at least"
            value={view.minTokens}
            step={1}
            onSettle={(text) => onChange({ minTokens: amount(text ?? '') })}
          />
          <Field
            label="Seconds at least"
            value={view.minDuration}
            step="any"
            onSettle={(text) => onChange({ minDuration: amount(text ?? '') })}
          />
          <div className="flex items-end">
            <Button
              look="outline"
              className="h-8 w-full pointer-coarse:h-10"
              disabled={count === 0}
              onClick={() => onChange(NO_FILTERS)}
            >
              <FilterX aria-hidden /> Clear filters
            </Button>
          </div>
        </div>
      </div>
      {view.conversation !== undefined && (
        <p className="flex min-w-0 items-center gap-1 text-xs">
          <span className="min-w-0 truncate">Only the conversation {view.conversation}</span>
          <Button
            icon
            aria-label="Show all conversations"
            onClick={() => onChange({ conversation: undefined })}
          >
            <X aria-hidden />
          </Button>
        </p>
      )}
    </form>
  )
}

function Labelled({ label, id, children }: { label: string; id: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-0.5 block truncate text-xs text-ink-3">
        {label}
      </label>
      {children}
    </div>
  )
}

function Choice({
  label,
  value,
  names,
  onChoose,
}: {
  label: string
  value: string
  names: readonly (readonly [key: string, label: string])[]
  onChoose: (key: string) => void
}) {
  const id = useId()
  return (
    <Labelled label={label} id={id}>
      <select
        id={id}
        className={FIELD}
        value={value}
        onChange={(event) => onChoose(event.target.value)}
      >
        {names.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

/** Renders a field that applies when a person has stopped typing. With `step` it takes a number. */
function Field({
  label,
  value,
  names = [],
  step,
  onSettle,
}: {
  label: string
  value: string | number | undefined
  /** Suggestions. */
  names?: readonly string[]
  step?: ComponentProps<'input'>['step']
  onSettle: (text: string | undefined) => void
}) {
  const id = useId()
  const given = value === undefined ? '' : String(value)
  const [text, setText] = useState(given)
  const settled = useSettled(text.trim(), 300)
  // The address may change elsewhere: by a link, by Back, or by "Clear filters".
  useEffect(() => setText(given), [given])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what a person has typed is applied
  useEffect(() => {
    if (settled === text.trim() && settled !== given) onSettle(settled || undefined)
  }, [settled])
  return (
    <Labelled label={label} id={id}>
      <input
        id={id}
        className={FIELD}
        list={names.length > 0 ? `${id}-names` : undefined}
        {...(step === undefined ? {} : { type: 'number', min: 0, step, inputMode: 'decimal' })}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {names.length > 0 && (
        <datalist id={`${id}-names`}>
          {[...new Set(names)].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </Labelled>
  )
}
