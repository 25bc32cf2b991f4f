import { useId, useState } from 'react'
import { ActionError } from '../ui/action-error.tsx'
import { Button } from '../ui/button.tsx'
import { useAction } from '../ui/use-action.ts'
import { readField, type SchemaField, writeField } from './schema-fields.ts'

/** Properties of {@link SchemaForm}. */
export interface SchemaFormProps {
  label: string
  fields: readonly SchemaField[]
  /** The known values, by field. */
  values: Record<string, unknown>
  /** Called with the entered values. If it throws, the error is shown and the form stays unchanged. */
  onSubmit: (values: Record<string, unknown>) => Promise<void>
  /** Default: `Send`. */
  submitLabel?: string
  /** Called by the button `Cancel`. Without it, there is none. */
  onCancel?: () => void
}

/** Renders a form for the schema of an object. The browser checks what it can, the server everything. */
export function SchemaForm(props: SchemaFormProps) {
  const { label, fields, values, onSubmit, submitLabel = 'Send', onCancel } = props
  const [entered, setEntered] = useState(() =>
    Object.fromEntries(
      fields.map((field) => [field.name, writeField(field, values[field.name] ?? field.initial)]),
    ),
  )
  const { run, isBusy, error } = useAction(async () => onSubmit(readAll(fields, entered)))

  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
      className="space-y-3 rounded-lg border border-line p-3 text-sm"
    >
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={entered[field.name] ?? ''}
          onChange={(value) => setEntered((all) => ({ ...all, [field.name]: value }))}
        />
      ))}
      <ActionError what="Nothing was sent." error={error} />
      <div className="flex flex-wrap gap-2">
        <Button
          look="solid"
          type="submit"
          disabled={isBusy}
          className="h-auto max-w-full min-h-7 py-1 text-start whitespace-normal"
        >
          {submitLabel}
        </Button>
        {onCancel && (
          <Button look="outline" disabled={isBusy} onClick={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  )
}

/** Returns the values of the fields. Throws an `Error` for one that is not JSON. */
function readAll(
  fields: readonly SchemaField[],
  entered: Record<string, string>,
): Record<string, unknown> {
  const read: Record<string, unknown> = {}
  for (const field of fields) {
    try {
      const value = readField(field, entered[field.name] ?? '')
      if (value !== undefined) read[field.name] = value
    } catch {
      throw new Error(`${field.label} is not valid JSON.`)
    }
  }
  return read
}

const LOOK =
  'block w-full rounded-md border border-line-strong bg-surface px-2 text-sm max-md:text-[1rem]'

function Field({
  field,
  value,
  onChange,
}: {
  field: SchemaField
  value: string
  onChange: (value: string) => void
}) {
  const id = useId()
  const { label, description, required, kind } = field
  const hint = description ? `${id}-hint` : undefined
  if (kind === 'boolean') {
    return (
      <div>
        <label className="flex w-fit items-center gap-2 font-medium">
          <input
            type="checkbox"
            checked={value === 'true'}
            aria-describedby={hint}
            onChange={(event) => onChange(String(event.target.checked))}
          />
          {label}
        </label>
        {description && <Hint id={hint} text={description} />}
      </div>
    )
  }
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
        {!required && <span className="font-normal text-ink-3"> (optional)</span>}
      </label>
      <Control id={id} field={field} value={value} hint={hint} onChange={onChange} />
      {description && <Hint id={hint} text={description} />}
    </div>
  )
}

function Hint({ id, text }: { id?: string; text: string }) {
  return (
    <p id={id} dir="auto" className="mt-1 text-xs text-ink-3 [overflow-wrap:anywhere]">
      {text}
    </p>
  )
}

function Control({
  id,
  field,
  value,
  hint,
  onChange,
}: {
  id: string
  field: SchemaField
  value: string
  hint?: string
  onChange: (value: string) => void
}) {
  const { kind, required, choices, limits } = field
  const shared = { id, value, required, 'aria-describedby': hint }
  if (kind === 'choice') {
    return (
      <select
        {...shared}
        onChange={(event) => onChange(event.target.value)}
        className={`${LOOK} h-8 pointer-coarse:h-10`}
      >
        <option value="">Choose…</option>
        {choices.map((choice, index) => (
          <option key={String(choice)} value={index}>
            {typeof choice === 'string' ? choice : JSON.stringify(choice)}
          </option>
        ))}
      </select>
    )
  }
  if (kind === 'long-text' || kind === 'json') {
    return (
      <textarea
        {...shared}
        dir={kind === 'json' ? 'ltr' : 'auto'}
        rows={3}
        maxLength={limits.maxLength}
        minLength={limits.minLength}
        placeholder={kind === 'json' ? 'JSON' : undefined}
        onChange={(event) => onChange(event.target.value)}
        className={`${LOOK} resize-y py-1.5 ${kind === 'json' ? 'font-mono' : ''}`}
      />
    )
  }
  const isNumber = kind === 'number' || kind === 'integer'
  return (
    <input
      {...shared}
      {...limits}
      type={isNumber ? 'number' : 'text'}
      dir={isNumber ? undefined : 'auto'}
      step={kind === 'number' ? 'any' : undefined}
      onChange={(event) => onChange(event.target.value)}
      className={`${LOOK} h-8 pointer-coarse:h-10`}
    />
  )
}
