import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Ajv2020, ErrorObject, FuncKeywordDefinition } from 'ajv/dist/2020.js'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import { inCurrentDraft, mapSubschemas } from '../core/board/schema-keywords.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { warn } from '../core/in-background.ts'
import { isPlainObject } from '../core/json/json.ts'
import { oncePer } from '../core/once-resolved.ts'
import { withinTime } from '../core/time-limit.ts'
import { isStandardSchema, type JsonSchema } from './describe-schema.ts'
import { describeTool } from './describe-tool.ts'
import { jsonLength } from './store.ts'
import { jsonSchemaOf, type Tool } from './tool.ts'
import { withParameters } from './tool-index.ts'

let Validator: typeof Ajv2020 | null = null
let ajv: Ajv2020 | null = null

/** Number of schemas that the validator has compiled. It never frees one, so it is replaced after MAX_USES. */
let uses = 0
const MAX_USES = 200

/** Loads the validator for {@link schemaIssues}. Await it before opening a conversation or making a request. */
export async function loadValidator(): Promise<void> {
  Validator ??= (await import('ajv/dist/2020.js')).Ajv2020
}

/** Maximum time to compile a schema, and to check a value by one that may take long, in milliseconds. */
const COMPILE_MS = 1_000
const CHECK_MS = 200

/** Characters of a long value that may take another millisecond, and maximum number of characters that count. */
const CHARS_PER_MS = 4_000
const MAX_CHARS = 40_000_000

/** What may take long: expressions, and references, which may multiply. */
const SLOW = /"(?:pattern|patternProperties|\$ref|\$dynamicRef)":/

/**
 * Validates a value against a JSON Schema (2020-12). Returns ajv's messages; empty if the value is valid. Schemas may come
 * from people and servers. What takes too long is not valid.
 */
export function schemaIssues(schema: JsonSchema, value: unknown): ErrorObject[] {
  return compiled(schema)(value)
}

const compiled = oncePer(compile)

function compile(schema: JsonSchema): (value: unknown) => ErrorObject[] {
  // Two schemas may have the same `$id`, and the validator knows only one draft. `$async` is ajv's own keyword.
  const { $id: _, $schema: __, $async: ___, ...rest } = schema
  const validate = withinTime(COMPILE_MS, () => {
    const validator = takeValidator()
    try {
      return validator.compile(toCurrentDraft(rest, { subschemas: MAX_SUBSCHEMAS }))
    } finally {
      // This does not run if the work is stopped. Then the validator can no longer be used, even to start again.
      ajv = validator
    }
  })
  if (!validate) throw new Error('it takes too long to compile')
  const check = (value: unknown) => (validate(value) ? [] : (validate.errors ?? []))
  if (!SLOW.test(JSON.stringify(rest))) return check
  return (value) => {
    const issues = withinTime(CHECK_MS, () => check(value))
    if (issues) return issues
    const ms = Math.ceil(jsonLength(value, MAX_CHARS) / CHARS_PER_MS)
    return (ms > CHECK_MS && withinTime(ms, () => check(value))) || [TOO_SLOW]
  }
}

/** Returns the validator, or a new one. Nothing else has it until it is put back. */
function takeValidator(): Ajv2020 {
  if (!Validator)
    throw new Error(
      'schemaIssues() was called before loadValidator(). Await loadValidator() first.',
    )
  const known = ajv
  ajv = null
  if (known && ++uses <= MAX_USES) return known
  uses = 0
  // Allow unknown keywords, such as asset_ref_acceptable, and unknown formats. Report all errors: they help a model
  // more than the first one.
  const options = { strict: false, allErrors: true, validateFormats: false, ownProperties: true }
  const validator = new Validator({ ...options, inlineRefs: false })
  validator.removeKeyword('uniqueItems').addKeyword(UNIQUE_ITEMS)
  return validator
}

const TOO_SLOW: ErrorObject = {
  keyword: 'time',
  instancePath: '',
  schemaPath: '#',
  params: {},
  message: 'cannot be checked, because its schema takes too long',
}

/** Converts a schema of an older draft. Draft 4 has `id` for `$id`. */
function toCurrentDraft(schema: JsonSchema, left: { subschemas: number }): JsonSchema {
  if (left.subschemas-- <= 0) throw new Error(`it has more than ${MAX_SUBSCHEMAS} subschemas`)
  const current = inCurrentDraft(schema)
  const { id, ...others } = current
  return mapSubschemas(typeof id === 'string' ? others : current, (one) =>
    toCurrentDraft(one, left),
  )
}

/** Maximum number of schemas in a schema. Compiling more takes seconds. */
const MAX_SUBSCHEMAS = 5_000

/** Like ajv's keyword, but in linear time. */
const UNIQUE_ITEMS: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  compile(isUnique: boolean) {
    const check: DataValidateFunction = (list: readonly unknown[]) => {
      const places = new Map<string, number>()
      for (const [i, item] of isUnique ? list.entries() : []) {
        const key = JSON.stringify(item, inOrder)
        const first = places.get(key)
        if (first !== undefined) {
          const message = `must NOT have duplicate items (items ${first} and ${i} are equal)`
          check.errors = [{ keyword: 'uniqueItems', params: {}, message }]
          return false
        }
        places.set(key, i)
      }
      return true
    }
    return check
  },
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) }
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Validates input against a tool's schema. Returns the parsed input, with defaults if the schema's library fills
 * them in.
 *
 * @throws ByrefError `invalid_arguments`, with each path and reason.
 */
export async function validateInput(tool: Tool, value: unknown): Promise<unknown> {
  const { id, inputSchema } = tool
  let problems: string[]
  if (isStandardSchema(inputSchema)) {
    const result = await inputSchema['~standard'].validate(value)
    if (!result.issues) return result.value
    problems = issueProblems(result.issues)
  } else {
    await loadValidator()
    problems = argumentProblems(id, inputSchema, value)
    if (problems.length === 0) return value
  }
  const listed = problems.slice(0, MAX_PROBLEMS)
  if (listed.length < problems.length) listed.push(`and ${problems.length - listed.length} more`)
  throw new ByrefError(
    'invalid_arguments',
    `The arguments of "${id}" do not match its schema: ${listed.join('; ')}`,
  )
}

/** Maximum number of problems in an error. A list of rows may have thousands. */
const MAX_PROBLEMS = 20

/**
 * Validates the arguments of a tool that the model found by search. The error contains the tool's parameters, because
 * the model may not have seen them.
 *
 * @throws ByrefError `invalid_arguments`
 */
export async function checkFound(tool: Tool, args: unknown): Promise<void> {
  try {
    await validateInput({ ...tool, inputSchema: jsonSchemaOf(tool) }, args)
  } catch (error) {
    throw withTool(error, tool)
  }
}

/** Adds the tool's parameters to an error about invalid arguments. Returns any other error unchanged. */
export function withTool(error: unknown, tool: Tool): unknown {
  if (!(error instanceof ByrefError && error.code === 'invalid_arguments')) return error
  const message = withParameters(error.message, describeTool(tool))
  return new ByrefError(error.code, message, { cause: error })
}

const broken = new WeakSet<JsonSchema>()

/**
 * With a schema that cannot be compiled, all arguments are valid, and the developer gets a warning. Schemas of MCP
 * servers have patterns of other languages, for example.
 */
function argumentProblems(id: string, schema: JsonSchema, value: unknown): string[] {
  if (broken.has(schema)) return []
  try {
    return schemaProblems(schema, value)
  } catch (error) {
    broken.add(schema)
    const reason = errorMessage(error)
    warn(
      `The arguments of "${id}" are not checked, because its schema is invalid: ${reason}`,
      error,
    )
    return []
  }
}

/** Validates a value against a JSON Schema. Returns each path and reason as a text; empty if the value is valid. */
export function schemaProblems(schema: JsonSchema, value: unknown): string[] {
  return schemaIssues(schema, value).map(issueText)
}

/** Returns each path and reason of a Standard Schema's issues, in the form of {@link schemaProblems}. */
export function issueProblems(issues: readonly StandardSchemaV1.Issue[]): string[] {
  return issues.map(({ path = [], message }) => {
    const keys = path.map((step) => String(typeof step === 'object' ? step.key : step))
    return keys.length > 0 ? `/${keys.join('/')}: ${message}` : message
  })
}

function issueText({ instancePath, message, params }: ErrorObject): string {
  const detail =
    'additionalProperty' in params ? ` (${params.additionalProperty})` : allowed(params)
  return `${instancePath} ${message ?? 'is wrong'}${detail}`.trim()
}

function allowed(params: object): string {
  return 'allowedValues' in params ? `: ${JSON.stringify(params.allowedValues)}` : ''
}
