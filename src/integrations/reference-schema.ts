import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { RAW } from '../boundary/convert-asset.ts'
import type { JsonSchema, ToolSchema } from '../boundary/describe-schema.ts'
import { issueProblems } from '../boundary/validate.ts'
import { mayHoldReference, plainTool, shownSchema } from './plain-tools.ts'

/** Returns a schema that describes values by this JSON Schema. Without a check, it accepts any value. */
export function describingSchema(
  json: JsonSchema,
  validate: StandardSchemaV1.Props['validate'] = (value) => ({ value }),
): ToolSchema {
  const described = (): Record<string, unknown> => json
  const jsonSchema = { input: described, output: described }
  return standardSchema({ version: 1, vendor: 'byref', validate, jsonSchema })
}

/**
 * Returns a schema that lets references through, because they are checked when they have their values.
 *
 * @param isShown Whether it tells a model that parameters take references.
 */
export function referenceSchema(id: string, schema: ToolSchema, isShown: boolean): ToolSchema {
  const { validate, jsonSchema, ...rest } = schema['~standard']
  const shown = (json: Record<string, unknown>): Record<string, unknown> =>
    isShown ? shownSchema(plainTool(id, { ...json })) : json
  return standardSchema({
    ...rest,
    vendor: 'byref',
    validate: (value) => (mayHoldReference(value) ? { value } : validate(value)),
    jsonSchema: {
      input: (how) => shown(jsonSchema.input(how)),
      output: (how) => shown(jsonSchema.output(how)),
    },
  })
}

/** Returns the JSON Schema of a schema. Types that it cannot express accept any value. */
export function openJsonSchema(schema: ToolSchema | undefined): JsonSchema {
  const libraryOptions = { unrepresentable }
  // A copy without zod's marks, which would make it look like a schema of a library.
  return { ...schema?.['~standard'].jsonSchema.input({ target: 'draft-2020-12', libraryOptions }) }
}

/** Types of zod's own checks, such as that of `z.instanceof(Uint8Array)`, get files as bytes. */
function unrepresentable({ zodSchema }: { zodSchema: object }): JsonSchema {
  const { type } = Object(Object(Object(zodSchema)._zod).def)
  return type === 'custom' ? { [RAW]: true } : {}
}

/** @throws Error that says what does not fit */
export async function validated(schema: ToolSchema | undefined, value: unknown): Promise<unknown> {
  const result = await schema?.['~standard'].validate(value)
  if (!result) return value
  if (!result.issues) return result.value
  const problems = issueProblems(result.issues).join('; ')
  throw new Error(`The input, with the values of its references, is invalid: ${problems}`)
}

function standardSchema(props: StandardSchemaV1.Props & StandardJSONSchemaV1.Props): ToolSchema {
  return { '~standard': props } as ToolSchema
}
