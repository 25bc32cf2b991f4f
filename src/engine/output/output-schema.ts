import type { StandardSchemaV1 } from '@standard-schema/spec'
import { checkKeywords, type JsonSchema, type ToolSchema } from '../../boundary/describe-schema.ts'
import { describeAnswer } from '../../boundary/describe-tool.ts'
import { declaresReferences } from '../../boundary/resolve-assets.ts'
import { issueProblems, schemaIssues, schemaProblems } from '../../boundary/validate.ts'
import { type ByrefError, OptionError } from '../../core/errors.ts'
import { copyJson } from '../../core/json/copy-json.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../../core/json/json.ts'
import type { DataBlock, Message } from '../../core/messages/message.ts'
import type { AnswerPart } from '../../core/messages/read-metadata.ts'
import { oncePer } from '../../core/once-resolved.ts'
import { answerSchema, answerValue, wrappedAnswer } from '../../models/json-answer.ts'

/** The schema of an answer: a schema of a library such as zod 4, or JSON Schema. */
export type OutputSchema<Output = unknown> = ToolSchema<Output> | JsonSchema

/** The type of a schema's answers; unknown for JSON Schema. */
export type OutputOf<Schema> =
  Schema extends StandardSchemaV1<unknown, infer Output> ? Output : unknown

/** A value that is still being written: fields and list items may be missing, and text may be cut off. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [Key in keyof T]?: DeepPartial<T[Key]> }
    : T

/** A parsed answer: its value, or a description of the problem for the model. */
export type ReadOutput<Output = JsonValue> =
  | { value: Output; problem?: undefined }
  | { problem: string }

/**
 * Converts a schema to JSON Schema (2020-12), for the model and the log.
 *
 * @throws ByrefError `config_invalid` for a value that is not a schema, or a schema that cannot describe itself
 */
export function outputJsonSchema(schema: OutputSchema): JsonObject {
  const convert = isStandard(schema) ? schema['~standard'].jsonSchema?.input : () => schema
  if (!isPlainObject(schema) && !isStandard(schema)) throw noSchema('it is not a schema')
  if (!convert) throw noSchema('it cannot describe itself as JSON Schema: use zod 4.2 or newer')
  try {
    const { $schema: _, ...described } = copyJson(
      convert({ target: 'draft-2020-12' }),
    ) as JsonObject
    checkKeywords('output', described)
    if (/"asset_ref_as":"(?!ref")/.test(JSON.stringify(described)))
      throw new Error('an output is JSON, so its asset_ref_as can only be "ref"')
    schemaIssues(described, null)
    return described
  } catch (error) {
    throw noSchema(error instanceof Error ? error.message : 'it cannot be described')
  }
}

/** Returns the schema of the answer for the model. Fields with `asset_ref_acceptable: true` also accept references. */
export function askedSchema(schema: JsonObject): JsonObject {
  return declaresReferences(schema) ? withReferences(schema) : answerSchema(schema)
}

const withReferences = oncePer(
  (schema: JsonObject) => describeAnswer(answerSchema(schema)) as JsonObject,
)

/**
 * Returns the part of an answer that its provider calls final; else the whole text. OpenAI's models may write drafts
 * before the final answer, which then fit the same schema.
 */
export function finalText(text: string, parts: readonly AnswerPart[] = []): string {
  let final = ''
  let at = 0
  for (const part of parts) {
    if (part.type !== 'text') continue
    const end = at + part.length
    const metadata = Object.values(part.provider_metadata ?? {})
    if (metadata.some((one) => Object(one).phase === 'final_answer')) final += text.slice(at, end)
    at = end
  }
  return final || text
}

/** Finds the JSON in an answer that fits a JSON Schema. An answer with two different values that fit is a problem. */
export function readOutput(text: string, schema: JsonObject): ReadOutput {
  const misfits: { value: JsonValue; problem: string }[] = []
  for (const values of jsonIn(text)) {
    const fits = new Map<string, JsonValue>()
    for (const answer of values) {
      const value = answerValue(answer, schema)
      const problem = declaresReferences(schema)
        ? mismatch(askedSchema(schema), wrappedAnswer(value, schema))
        : mismatch(schema, value)
      if (problem === null) fits.set(JSON.stringify(value), value)
      else misfits.push({ value, problem })
    }
    if (fits.size > 1) return { problem: `it has ${fits.size} different JSON values, not one` }
    for (const value of fits.values()) return { value }
  }
  const { problem } = misfits.find(({ value }) => isPlainObject(value)) ?? misfits[0] ?? NO_JSON
  return { problem }
}

/** Returns why a value does not match a schema; null if it does. */
export function mismatch(schema: JsonObject, value: unknown): string | null {
  const problems = schemaProblems(schema, value)
  return problems.length === 0 ? null : problems.slice(0, 20).join('; ')
}

const NO_JSON = { problem: 'it is not JSON' }

/** Applies the defaults, transforms and refinements of the schema's own library. */
export async function refineOutput<Output>(
  value: unknown,
  schema: OutputSchema<Output>,
): Promise<ReadOutput<Output>> {
  if (!isStandard(schema)) return { value: value as Output }
  const { issues, ...result } = await (schema as ToolSchema<Output>)['~standard'].validate(value)
  if (!issues) return { value: (result as { value: Output }).value }
  return { problem: issueProblems(issues).join('; ') }
}

/** Yields the JSON values in an answer, in groups: the whole answer; or else those in code fences, then those between words. */
function* jsonIn(text: string): Generator<JsonValue[]> {
  const whole = parsed(text)
  if (whole !== undefined) return yield [whole]
  const fences = text.matchAll(/```(?:json5?)?[^\n]*\n([\s\S]*?)\n?[ \t]*```/gi)
  yield [...fences].map(([, fenced = '']) => parsed(fenced)).filter((value) => value !== undefined)
  yield betweenWords(text)
}

function betweenWords(text: string): JsonValue[] {
  const values: JsonValue[] = []
  let end = 0
  for (const { index } of [...text.matchAll(/[{[]/g)].slice(0, MAX_BRACKETS)) {
    // Skip values inside a value that was tried already.
    if (index < end) continue
    const part = closedFrom(text, index) ?? ''
    const value = parsed(part)
    if (value === undefined) continue
    end = index + part.length
    values.push(value)
  }
  return values
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

const MAX_BRACKETS = 20

/** Returns the text from a bracket to its closing bracket, ignoring brackets in strings; null if it is not closed. */
function closedFrom(text: string, start: number): string | null {
  let depth = 0
  let isText = false
  for (let i = start; i < text.length; i++) {
    const char = text[i] as string
    if (isText) {
      if (char === '\\') i++
      else if (char === '"') isText = false
    } else if (char === '"') isText = true
    else if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) return text.slice(start, i + 1)
  }
  return null
}

function isStandard(schema: OutputSchema): schema is ToolSchema {
  return typeof Object(schema)['~standard'] === 'object'
}

function noSchema(why: string): ByrefError {
  return new OptionError(
    `This schema cannot be used for the output: ${why}. Pass a Standard Schema or a JSON Schema of JSON values, with text in place of dates.`,
  )
}

/**
 * Returns the schema of the result that messages request: the `output` of the last `input` data message that has one.
 * Null if there is none.
 */
export function inputOutput(messages: readonly Message[]): JsonObject | null {
  for (const { content_type, content } of messages.toReversed()) {
    const { kind, output } = (content_type === 'data' ? content : {}) as Partial<DataBlock>
    if (kind === 'input' && isPlainObject(output)) return output as JsonObject
  }
  return null
}
