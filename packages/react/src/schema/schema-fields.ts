/** One field of a form, from the schema of an object. */
export interface SchemaField {
  name: string
  /** The visible name: the schema's title, or else the property name as words. */
  label: string
  description: string | null
  required: boolean
  /** The kind of input. */
  kind: 'text' | 'long-text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json'
  choices: readonly unknown[]
  initial: unknown
  limits: { min?: number; max?: number; minLength?: number; maxLength?: number; pattern?: string }
}

type Schema = Record<string, unknown>

/** Returns the fields of an object's schema, in its order. Null if it does not describe an object with properties. */
export function fieldsOf(schema: unknown): SchemaField[] | null {
  const { properties, required } = asSchema(schema)
  const entries = Object.entries(asSchema(properties))
  if (entries.length === 0) return null
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return entries.map(([name, value]) => fieldOf(name, asSchema(value), names.includes(name)))
}

function fieldOf(name: string, schema: Schema, required: boolean): SchemaField {
  const { title, description, enum: choices } = schema
  return {
    name,
    required,
    kind: kindOf(schema),
    initial: schema.default,
    label: typeof title === 'string' ? title : labelOf(name),
    description: typeof description === 'string' ? description : null,
    choices: Array.isArray(choices) ? choices : [],
    limits: {
      min: numberOf(schema.minimum),
      max: numberOf(schema.maximum),
      minLength: numberOf(schema.minLength),
      maxLength: numberOf(schema.maxLength),
      pattern: typeof schema.pattern === 'string' ? schema.pattern : undefined,
    },
  }
}

/** Returns a property name as words: `dueDate` is "Due date". */
export function labelOf(name: string): string {
  const words = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function kindOf({ type, enum: choices, format, maxLength }: Schema): SchemaField['kind'] {
  if (Array.isArray(choices)) return 'choice'
  if (type === 'number' || type === 'integer' || type === 'boolean') return type
  if (type !== 'string') return 'json'
  return format === 'textarea' || Number(maxLength) > 200 ? 'long-text' : 'text'
}

/** Converts the entered text to a value of the schema; undefined for an empty field. Throws for invalid JSON. */
export function readField({ kind, choices }: SchemaField, entered: string): unknown {
  if (kind === 'choice') return choices[Number(entered)]
  if (kind === 'boolean') return entered === 'true'
  if (entered.trim() === '') return undefined
  if (kind === 'number' || kind === 'integer') return Number(entered)
  return kind === 'json' ? JSON.parse(entered) : entered
}

/** Converts a value to the text in the form. */
export function writeField({ kind, choices }: SchemaField, value: unknown): string {
  if (kind === 'choice') return value === undefined ? '' : String(choices.indexOf(value))
  if (kind === 'boolean') return String(value === true)
  if (value === undefined || value === null) return ''
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value)
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Returns an object's own keys, or an empty object for anything else. */
export function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Schema)
    : {}
}
