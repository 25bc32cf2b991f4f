import { JsonTree } from '../json/json-tree.tsx'
import { isBranch } from '../json/tree-rows.ts'
import { InlineValue } from '../references/inline-value.tsx'
import { isAsset, isVariable } from '../references/kinds.ts'
import { asSchema, labelOf } from './schema-fields.ts'

/** Renders a value by its schema: an object with the titles of its properties, in the schema's order. */
export function SchemaValue({ value, schema }: { value: unknown; schema: unknown }) {
  if (!isBranch(value) || Array.isArray(value)) return <Item value={value} schema={schema} />
  const fields = value as Record<string, unknown>
  const properties = asSchema(asSchema(schema).properties)
  const described = Object.keys(properties).filter((name) => Object.hasOwn(fields, name))
  const others = Object.keys(fields).filter((name) => !Object.hasOwn(properties, name))
  return (
    <dl className="grid grid-cols-[minmax(5rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5 rounded-lg border border-line px-3 py-2 text-sm">
      {[...described, ...others].map((name) => {
        const { title, description } = asSchema(properties[name])
        return (
          <div key={name} className="contents">
            <dt
              className="max-w-48 truncate text-ink-3"
              title={typeof description === 'string' ? description : name}
            >
              {typeof title === 'string' ? title : labelOf(name)}
            </dt>
            <dd className="min-w-0 [overflow-wrap:anywhere]">
              <Item value={fields[name]} schema={properties[name]} />
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

function Item({ value, schema }: { value: unknown; schema: unknown }) {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'string' && !isAsset(value) && !isVariable(value)) {
    return (
      <span dir="auto" className="block whitespace-pre-wrap">
        {value || '–'}
      </span>
    )
  }
  if (!isBranch(value)) return value === null ? '–' : <InlineValue value={value} />
  if (!Array.isArray(value)) return <SchemaValue value={value} schema={schema} />
  if (value.every((item) => !isBranch(item)) && value.length <= 50) {
    return value.map(String).join(', ') || '–'
  }
  return <JsonTree value={value} label="List" depth={1} />
}
