import type { Assets } from '../../assets/assets-contract.ts'
import { jsonInteger } from '../../assets/tables/long-number.ts'
import { boundaryOf } from '../../boundary/boundary.ts'
import { resolveCall } from '../../boundary/resolve.ts'
import { declaresReferences } from '../../boundary/resolve-assets.ts'
import type { Tool } from '../../boundary/tool.ts'
import type { ValueSource } from '../../boundary/value-source.ts'
import { errorMessage } from '../../core/errors.ts'
import { Branch, copyTree } from '../../core/json/copy-json.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../../core/json/json.ts'
import { answerSchema, answerValue, wrappedAnswer } from '../../models/json-answer.ts'
import { mismatch, type ReadOutput } from './output-schema.ts'

/** Where the values of an answer's references are read. */
export interface OutputSource {
  values: ValueSource
  assets: Assets
}

/**
 * Replaces the references in an answer with values, as in the arguments of a call. Only fields that take references are
 * read. Returns a problem if a reference cannot be read, or if its value does not match the schema.
 */
export async function resolveOutput(
  value: JsonValue,
  schema: JsonObject,
  source: () => OutputSource,
): Promise<ReadOutput<unknown>> {
  if (!declaresReferences(schema)) return { value }
  const { values, assets } = source()
  const inputSchema = answerSchema(schema)
  const tool: Tool = { id: 'output', description: '', inputSchema, execute() {} }
  const reading = { values, assets: () => assets, isDeclaredOnly: true }
  const boundary = boundaryOf(reading.assets, { validate: false })
  try {
    const { arguments: args } = await resolveCall(tool, wrappedAnswer(value, schema), reading)
    const answer = await boundary.withInput({ tool, arguments: args }, (input) => input)
    const output = answerValue(withJsonNumbers(answer) as JsonObject, schema)
    const problem = mismatch(schema, output)
    return problem === null ? { value: output } : { problem }
  } catch (error) {
    return { problem: errorMessage(error) }
  }
}

/** Copies an answer. Bigints become numbers, or text beyond 2^53. NaN and the infinities become text. */
function withJsonNumbers(answer: unknown): unknown {
  return copyTree(answer, (value) => {
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'bigint') return jsonInteger(value)
    if (Array.isArray(value)) return new Branch(value, true, value.entries())
    if (isPlainObject(value)) return new Branch(value, false, Object.entries(value))
    return value as JsonValue
  })
}
