import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { mapParts, mapSubschemas } from '../core/board/schema-keywords.ts'
import { checkOptions, didYouMean, is } from '../core/check-options.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { CLEARANCE_OPTIONS } from '../core/labels/label.ts'

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = { readonly [key: string]: unknown }

/** A schema of a library such as zod 4. It validates values, and describes itself as JSON Schema. */
export type ToolSchema<Input = unknown> = StandardSchemaV1<unknown, Input> & StandardJSONSchemaV1

/** Marks a part that the library cannot express in JSON Schema. Its value is the reason. */
const UNKNOWN = 'x-byref-unknown'

const described = new WeakMap<object, JsonSchema>()

/**
 * Returns the JSON Schema (draft 2020-12) of a tool's input. The result is cached. Types that JSON Schema cannot
 * express, such as zod's `instanceof` and `custom`, are accepted if `asset_ref_as` says what they become. Such a
 * parameter takes a reference.
 *
 * @throws ByrefError `config_invalid` if the library does not describe itself, or for other types that JSON Schema
 *   cannot express
 */
export function describeSchema(id: string, inputSchema: ToolSchema | JsonSchema): JsonSchema {
  if (!isStandardSchema(inputSchema)) return inputSchema
  const schema = described.get(inputSchema) ?? describe(id, inputSchema)
  described.set(inputSchema, schema)
  return schema
}

/** The keywords that byref adds to JSON Schema, with their values. */
const KEYWORDS = {
  asset_ref_acceptable: is.boolean,
  asset_ref_as: is.oneOf('bytes', 'blob', 'stream', 'asset', 'rows', 'ref'),
  'x-accepts': is.group(CLEARANCE_OPTIONS),
}

/** @throws ByrefError `config_invalid` for a misspelt keyword of byref, or an unknown value */
export function checkKeywords(where: string, schema: JsonSchema): void {
  const entries = Object.entries(schema).filter(([key]) => /^(asset_?ref|x-?accept)/i.test(key))
  checkOptions<object>(where, Object.fromEntries(entries), KEYWORDS)
  mapSubschemas(schema, (one) => checkKeywords(where, one))
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

/** @throws ByrefError `config_invalid` for a type that JSON Schema does not have, such as `str` */
export function checkTypes(where: string, schema: JsonSchema): void {
  for (const type of [schema.type ?? []].flat().map(String)) {
    if (TYPES.includes(type)) continue
    const hint = didYouMean(type, TYPES)
    const message = `${where} has the type "${type}".${hint} The types of JSON Schema are ${TYPES.join(', ')}.`
    throw new ByrefError('config_invalid', message)
  }
  mapSubschemas(schema, (one) => checkTypes(where, one))
}

/** Whether a tool's schema belongs to a library, which validates values itself. */
export function isStandardSchema(schema: ToolSchema | JsonSchema): schema is ToolSchema {
  return '~standard' in schema
}

function describe(id: string, { '~standard': standard }: ToolSchema): JsonSchema {
  const convert = standard.jsonSchema?.input
  if (!convert) {
    throw new ByrefError(
      'config_invalid',
      `The schema of the tool "${id}" cannot describe itself as JSON Schema: use zod 4.2 or newer, or pass JSON Schema`,
    )
  }
  const target = 'draft-2020-12'
  try {
    return convert({ target })
  } catch (cause) {
    return withoutUnknown(
      id,
      convertWithUnknown(id, () => convert({ target, libraryOptions }), cause),
    )
  }
}

/** Options for zod. Other libraries ignore them and fail again. */
const libraryOptions = {
  unrepresentable: ({ path, message }: { path?: PropertyKey[]; message?: string }) => ({
    [UNKNOWN]: `${path?.map(String).join('/')}: ${message}`,
  }),
}

function convertWithUnknown(id: string, convert: () => JsonSchema, cause: unknown): JsonSchema {
  try {
    return convert()
  } catch {
    throw unknown(id, errorMessage(cause), cause)
  }
}

/** @param isAssetBranch Whether this is a branch of a schema that accepts assets. */
function withoutUnknown(
  id: string,
  { [UNKNOWN]: reason, ...schema }: JsonSchema,
  isAssetBranch = false,
): JsonSchema {
  const isAsset = schema.asset_ref_acceptable === true && schema.asset_ref_as !== undefined
  if (reason !== undefined && !isAsset && !isAssetBranch) throw unknown(id, String(reason))
  return mapParts(schema, (one, isBranch) =>
    withoutUnknown(id, one, isBranch && (isAsset || isAssetBranch)),
  )
}

function unknown(id: string, reason: string, cause?: unknown): ByrefError {
  return new ByrefError(
    'config_invalid',
    `The schema of the tool "${id}" has a type that JSON Schema cannot express (${reason}), so a model would not know what to send. For an asset, add .meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' | 'blob' | 'stream' | 'asset' | 'rows' | 'ref' }). Otherwise use a JSON type with a transform.`,
    { cause },
  )
}
