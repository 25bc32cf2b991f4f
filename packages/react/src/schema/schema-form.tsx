import { useId, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { errorText } from '../ui/error-text.ts'
import { Notice } from '../ui/notice.tsx'
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
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<{ code?: string; message: string } | null>(null)

  async function submit(): Promise<void> {
    if (busy) return
    setProblem(null)
    const read: Record<string, unknown> = {}
    for (const field of fields) {
      try {
        const value = readField(field, entered[field.name] ?? '')
        if (value !== undefined) read[field.name] = value
      } catch {
        return setProblem({ message: `${field.label} is not valid JSON.` })
      }
    }
    setBusy(true)
    try {
      await onSubmit(read)
    } catch (error) {
      setProblem(errorText(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
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
      {problem && (
        <Notice tone="bad" code={problem.code} live>
          Nothing was sent. {problem.message}
        </Notice>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          look="solid"
          type="submit"
          disabled={busy}
          className="h-auto max-w-full min-h-7 py-1 text-start whitespace-normal"
        >
          {submitLabel}
        </Button>
        {onCancel && (
          <Button look="outline" disabled={busy} onClick={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  )
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
