import type { Tool } from '../../boundary/tool.ts'
import { isPlainObject } from '../../core/json/json.ts'

const asking = new WeakSet<Tool>()

/** Whether a tool is `ask_about`, whose closed answers may be shown. */
export function isAskAbout(tool: Tool): boolean {
  return asking.has(tool)
}

/** Makes a tool one whose closed answers may be shown. */
export function markAskAbout(tool: Tool): void {
  asking.add(tool)
}

/** How many bits an answer by a schema tells, its failing counted; null for one that is not closed. */
export function closedBits(schema: unknown): number | null {
  const count = answersOf(schema)
  return count === null ? null : Math.ceil(Math.log2(count + 1))
}

/** Whether an answer is one of those that a closed schema allows. */
export function isClosedAnswer(schema: unknown, answer: unknown): boolean {
  if (!isPlainObject(schema) || answersOf(schema) === null) return false
  if (Array.isArray(schema.enum)) return schema.enum.includes(answer)
  if (schema.type === 'boolean') return typeof answer === 'boolean'
  const { minimum, maximum } = schema as { minimum: number; maximum: number }
  const isWhole = typeof answer === 'number' && Number.isSafeInteger(answer)
  return isWhole && answer >= minimum && answer <= maximum
}

/** How many answers there are; null where there is no end of them. */
function answersOf(schema: unknown): number | null {
  if (!isPlainObject(schema)) return null
  const { type, enum: list, minimum, maximum } = schema
  if (Array.isArray(list)) return list.every(isScalar) ? list.length : null
  if (type === 'boolean') return 2
  const isBounded = Number.isSafeInteger(minimum) && Number.isSafeInteger(maximum)
  if (type !== 'integer' || !isBounded) return null
  return Math.max(0, (maximum as number) - (minimum as number) + 1)
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
