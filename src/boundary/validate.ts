import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { ByrefError } from '../core/errors.ts'
import { isStandardSchema, type JsonSchema } from './describe-schema.ts'
import type { Tool } from './tool.ts'

let ajv: Ajv2020 | null = null
const compiled = new WeakMap<JsonSchema, ValidateFunction>()

/** Loads what {@link schemaIssues} needs: whoever opens a conversation or asks a request waits for it. */
export async function loadValidator(): Promise<void> {
  if (ajv) return
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  // Unknown keywords (asset_ref_acceptable) and formats are notes, not mistakes; all errors help a model more than one.
  ajv ??= new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
}

/** What is wrong with `value` by a JSON Schema (2020-12), in ajv's words; empty when it fits. */
export function schemaIssues(schema: JsonSchema, value: unknown): ErrorObject[] {
  if (!ajv) throw new Error('loadValidator() comes first')
  let validate = compiled.get(schema)
  if (!validate) {
    // Equal `$id`s in two schemas are two schemas here.
    const { $id: _, ...rest } = schema
    validate = ajv.compile(rest)
    compiled.set(schema, validate)
  }
  return validate(value) ? [] : (validate.errors ?? [])
}

/**
 * The input as the tool's schema gives it (defaults filled in, by libraries that do).
 *
 * @throws ByrefError `invalid_arguments`, with each path and reason.
 */
export async function validateInput(tool: Tool, value: unknown): Promise<unknown> {
  const problems = await check(tool, value)
  if ('value' in problems) return problems.value
  throw new ByrefError(
    'invalid_arguments',
    `The arguments of "${tool.id}" do not fit its parameters: ${problems.lines.join('; ')}`,
  )
}

async function check(
  tool: Tool,
  value: unknown,
): Promise<{ value: unknown } | { lines: string[] }> {
  if (!isStandardSchema(tool.inputSchema)) {
    await loadValidator()
    const lines = schemaIssues(tool.inputSchema, value).map(inWords)
    return lines.length > 0 ? { lines } : { value }
  }
  const result = await tool.inputSchema['~standard'].validate(value)
  if (!result.issues) return { value: result.value }
  return {
    lines: result.issues.map(({ path = [], message }) => {
      const keys = path.map((step) => String(typeof step === 'object' ? step.key : step))
      return `/${keys.join('/')} ${message}`
    }),
  }
}

function inWords({ instancePath, message, params }: ErrorObject): string {
  const detail =
    'additionalProperty' in params ? ` (${params.additionalProperty})` : allowed(params)
  return `${instancePath || '/'} ${message ?? 'is wrong'}${detail}`
}

function allowed(params: object): string {
  return 'allowedValues' in params ? `: ${JSON.stringify(params.allowedValues)}` : ''
}
