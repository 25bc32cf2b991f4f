import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { inCurrentDraft, mapSubschemas } from '../core/board/schema-keywords.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { warn } from '../core/in-background.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import { isStandardSchema, type JsonSchema } from './describe-schema.ts'
import { describeTool } from './describe-tool.ts'
import { jsonSchemaOf, type Tool } from './tool.ts'
import { withParameters } from './tool-index.ts'

let Validator: typeof Ajv2020 | null = null
let ajv: Ajv2020 | null = null
const compiled = new WeakMap<JsonSchema, ValidateFunction>()
/** Number of schemas that the validator has compiled. It never frees one, so it is replaced after MAX_USES. */
let uses = 0
const MAX_USES = 200

/** Loads the validator for {@link schemaIssues}. Await it before opening a conversation or making a request. */
export async function loadValidator(): Promise<void> {
  Validator ??= (await import('ajv/dist/2020.js')).Ajv2020
}

/** Validates a value against a JSON Schema (2020-12). Returns ajv's messages; empty if the value is valid. */
export function schemaIssues(schema: JsonSchema, value: unknown): ErrorObject[] {
  if (!Validator)
    throw new Error(
      'schemaIssues() was called before loadValidator(). Await loadValidator() first.',
    )
  let validate = compiled.get(schema)
  if (!validate) {
    // Two schemas may have the same `$id`, and the validator knows only one draft. `$async` is ajv's own keyword.
    const { $id: _, $schema: __, $async: ___, ...rest } = schema
    // Allow unknown keywords, such as asset_ref_acceptable, and unknown formats. Report all errors: they help a model
    // more than the first one.
    if (!ajv || ++uses > MAX_USES) {
      const code = { regExp: Object.assign(patternOf, { code: 'new RegExp' }) }
      ajv = new Validator({ strict: false, allErrors: true, validateFormats: false, code })
      uses = 0
    }
    validate = ajv.compile(toCurrentDraft(rest))
    compiled.set(schema, validate)
  }
  patternMs = PATTERN_MS
  return validate(value) ? [] : (validate.errors ?? [])
}

/** Maximum time of all slow patterns in one validation, in milliseconds, and what is left of it. */
const PATTERN_MS = 500
let patternMs = PATTERN_MS

/**
 * Makes the expression of a schema's pattern. Schemas may come from people and servers, and an expression may take years
 * for some texts. One that takes too long does not match.
 */
function patternOf(source: string, flags: string) {
  const expression = new RegExp(source, flags)
  const repetitions = source.match(/[*+?]|\{\d+,/g)?.length ?? 0
  const isSimple = repetitions === 0 || (repetitions === 1 && !source.includes('|'))
  const isFast = ({ length }: string) => length <= 20 || (isSimple && length <= 1_000)
  return {
    test: (text: string) => (isFast(text) ? expression.test(text) : testInTime(expression, text)),
    toString: () => String(expression),
  }
}

const testing = { expression: /a/, text: '' }
let test: ((options: { timeout: number }) => boolean) | null = null

/** Tests a text. Costs about 0.1 ms. A runtime without `node:vm` has no time limit. */
function testInTime(expression: RegExp, text: string): boolean {
  if (patternMs < 1) return false
  Object.assign(testing, { expression, text })
  const start = performance.now()
  try {
    if (!test) {
      const { createContext, Script } = nodeBuiltin('node:vm')
      const [context, script] = [createContext(testing), new Script('expression.test(text)')]
      test = (options) => script.runInContext(context, options)
    }
    return test({ timeout: Math.floor(patternMs) })
  } catch (error) {
    if (Object(error).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') return expression.test(text)
    warn(
      `A pattern of a schema was stopped, because it took too long, so it does not match: ${expression}`,
    )
    return false
  } finally {
    const took = performance.now() - start
    if (took > 1) patternMs -= took
  }
}

/** Converts a schema of an older draft. Draft 4 has `id` for `$id`. */
function toCurrentDraft(schema: JsonSchema): JsonSchema {
  const current = inCurrentDraft(schema)
  const { id, ...others } = current
  return mapSubschemas(typeof id === 'string' ? others : current, toCurrentDraft)
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
