import { jsonSchemaOf, type Tool } from '../../boundary/tool.ts'
import { schemaWalk } from '../../core/board/schema-walk.ts'
import type { FlowViolation } from '../../core/events/events.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { fromPointer } from '../../core/refs/field-key.ts'
import { ownField } from '../../core/refs/field-path.ts'
import { ACCEPTS } from './check-flow.ts'

const askAboutTools = new WeakSet<Tool>()

/** Whether the tool is `ask_about`, whose closed answers may be shown. */
export function isAskAbout(tool: Tool): boolean {
  return askAboutTools.has(tool)
}

/** Marks a tool as `ask_about`. */
export function markAskAbout(tool: Tool): void {
  askAboutTools.add(tool)
}

/** Returns how many bits a value of a schema can reveal, including its absence; null if the schema is not closed. */
export function closedBits(schema: unknown): number | null {
  const count = countValues(schema)
  return count === null ? null : bitsFor(count)
}

/** Returns how many bits one of `count` values can reveal, or its absence. */
function bitsFor(count: number): number {
  return Math.ceil(Math.log2(count + 1))
}

/** Whether a closed schema allows the value. */
export function isClosedValue(schema: unknown, value: unknown): boolean {
  if (!isPlainObject(schema) || countValues(schema) === null) return false
  const { enum: list, type, format } = schema
  if (schema.const !== undefined) return value === schema.const
  if (Array.isArray(list)) return list.includes(value)
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'string')
    return typeof value === 'string' && FORMATS[format as Format].pattern.test(value)
  if (typeof value !== 'number' || (type === 'integer' && !Number.isSafeInteger(value)))
    return false
  const { minimum = value, maximum = value } = schema as Bounds
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema as Bounds
  return (
    value >= minimum && value <= maximum && value > exclusiveMinimum && value < exclusiveMaximum
  )
}

/**
 * Returns how many bits a tool that acts would receive through untrusted values at closed parameters. Null if any
 * violation is not an untrusted value that a closed parameter allows, or if the tool or the parameter declares what it
 * accepts.
 */
export function closedBitsOf(
  tool: Tool,
  args: unknown,
  violations: readonly FlowViolation[],
): number | null {
  if (tool.accepts?.integrity !== undefined) return null
  let bits = 0
  for (const path of new Set(violations.map((one) => one.path))) {
    const isValue = violations.every(
      (one) => one.path !== path || (one.rule === 'integrity' && one.ref !== undefined),
    )
    const count = isValue ? bitsAt(tool, args, path) : null
    if (count === null) return null
    bits += count
  }
  return bits
}

function bitsAt(tool: Tool, args: unknown, path: string): number | null {
  const walk = schemaWalk(jsonSchemaOf(tool))
  let alternatives = walk.root
  // Also those that do not fit this value. The author of the value could have chosen one of them.
  let possible = walk.root
  let value = args
  for (const key of fromPointer(path)) {
    if (typeof value !== 'object' || value === null) return null
    const name = Array.isArray(value) ? Number(key) : key
    alternatives = walk.entries(alternatives, value)(name)
    const holder = value
    possible = [...new Set(possible.flatMap((one) => walk.entries([one], holder)(name)))]
    value = ownField(value, name)
    if (alternatives.some((schema) => schema[ACCEPTS] !== undefined)) return null
  }
  // The content behind an asset reference was not checked against the schema.
  if (typeof value === 'string' && /asset:/i.test(value)) return null
  if (!alternatives.some((schema) => isClosedValue(schema, value))) return null
  return bitsFor(possible.reduce((sum, schema) => sum + (countValues(schema) ?? 0), 0))
}

interface Bounds {
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
}

const DATE = String.raw`\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`
const TIME = String.raw`([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.000)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?`
const DATES = 10_000 * 12 * 31
const TIMES = 24 * 60 * (1 + 2 * 60) * (2 + 2 * 24 * 60)

/** Text formats that count as closed: digits in a fixed order, which cannot contain words. */
const FORMATS = {
  date: { pattern: new RegExp(`^${DATE}$`), count: DATES },
  time: { pattern: new RegExp(`^${TIME}$`), count: TIMES },
  'date-time': { pattern: new RegExp(`^${DATE}T${TIME}$`), count: DATES * TIMES },
} as const
type Format = keyof typeof FORMATS

/** The number of values of a double. */
const DOUBLES = 2 ** 64

/** Returns the number of values that a schema allows; null if it is unlimited. */
function countValues(schema: unknown): number | null {
  if (!isPlainObject(schema)) return null
  const { type, enum: list, format } = schema
  if (schema.const !== undefined) return isScalar(schema.const) ? 1 : null
  if (Array.isArray(list)) return list.every(isScalar) ? list.length : null
  if (type === 'boolean') return 2
  if (type === 'string' && typeof format === 'string' && Object.hasOwn(FORMATS, format))
    return FORMATS[format as Format].count
  const { exclusiveMinimum, exclusiveMaximum } = schema as Bounds
  const { minimum = exclusiveMinimum, maximum = exclusiveMaximum } = schema as Bounds
  if (type === 'number' && Number.isFinite(minimum) && Number.isFinite(maximum)) return DOUBLES
  const isBounded = Number.isSafeInteger(minimum) && Number.isSafeInteger(maximum)
  if (type !== 'integer' || !isBounded) return null
  return Math.max(0, (maximum as number) - (minimum as number) + 1)
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
