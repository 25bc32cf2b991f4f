import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { AssetStore } from '../assets/asset-store.ts'
import type { ResolvedAssetsConfig } from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { ByrefError } from '../errors.ts'

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = { readonly [key: string]: unknown }

/** A schema of a library such as zod 4, which validates and describes itself as JSON Schema. */
export type ToolSchema<Input = unknown> = StandardSchemaV1<unknown, Input> & StandardJSONSchemaV1

/** What a tool is given beside its input. */
export interface ToolContext {
  /** The id of this call, the same when it is run again after a crash: usable as an idempotency key. */
  toolCallId: string
  conversation: string
  runId: string
  /** Aborted when the run is cancelled. */
  signal: AbortSignal
  /** Tells whoever watches how far the work is; `fraction` is from 0 to 1. */
  progress(message: string, fraction?: number): void
  /** The assets that this run may see; what is saved through it is noted as this call's. */
  assets: Assets
  /** The store in the shape of binary-assets.md. */
  assetStore: AssetStore
  /** The bytes behind a reference (binary-assets.md, "Assets in Tool Execution Context"). */
  resolveAsset(ref: string): Promise<{ bytes: Uint8Array; mime: string }>
  /** How assets are kept, without secrets (binary-assets.md, "Assets in Custom Processors"). */
  assetConfig: ResolvedAssetsConfig
  /** The value of a `†` reference among the conversation's data. Throws VariableError where there is none. */
  read(variable: string): unknown
}

/** Something that a model can call. */
export interface Tool<Input = unknown> {
  /** What the model calls it by: letters, digits, `_` and `-`, at most 64. */
  id: string
  /** For the model: what it does and when to use it. */
  description: string
  /**
   * A Standard Schema that also gives JSON Schema (zod 4 …), or JSON Schema itself. A parameter with
   * `asset_ref_acceptable: true` (in zod by `.meta`) takes references to assets.
   */
  inputSchema: ToolSchema<Input> | JsonSchema
  /**
   * Where results are written among the data: a `†` path that always holds, `true` (default) to let the model choose
   * one by `_outputPath`, `false` for never.
   */
  outputPath?: string | boolean
  /**
   * Characters of JSON above which a result becomes an asset, and the model gets its reference and a preview. Default:
   * 32,768. `Infinity` for a tool that pages by itself.
   */
  maxResultChars?: number
  /** Whether the model may pass `†` references; default true. */
  variables?: boolean
  /**
   * Does the work. The input is resolved and valid. What it returns may hold bytes, Blobs, streams and data URLs
   * anywhere: they become assets. What it throws goes back to the model and ends nothing.
   */
  execute(input: Input, context: ToolContext): unknown
}

const ID = /^[A-Za-z0-9_-]{1,64}$/

/**
 * Checks a tool and gives its input the type of its schema.
 *
 * @throws ByrefError `config_invalid` for an id that providers refuse, or a schema that is neither kind.
 */
export function defineTool<Input>(
  tool: Tool<Input> & { inputSchema: ToolSchema<Input> },
): Tool<Input>
export function defineTool(
  tool: Tool<Record<string, unknown>> & { inputSchema: JsonSchema },
): Tool<Record<string, unknown>>
export function defineTool<Input>(tool: Tool<Input>): Tool<Input> {
  if (!ID.test(tool.id)) {
    throw new ByrefError(
      'config_invalid',
      `The tool id ${JSON.stringify(tool.id)} is not allowed: use 1 to 64 letters, digits, "_" or "-"`,
    )
  }
  if (jsonSchemaOf(tool).type !== 'object') {
    throw new ByrefError(
      'config_invalid',
      `The input schema of the tool "${tool.id}" must be of type object`,
    )
  }
  return tool
}

/** The tool's input schema as JSON Schema (draft 2020-12). */
export function jsonSchemaOf({ id, inputSchema }: Tool): JsonSchema {
  if (!isStandardSchema(inputSchema)) return inputSchema
  const convert = inputSchema['~standard'].jsonSchema?.input
  if (!convert) {
    throw new ByrefError(
      'config_invalid',
      `The schema of the tool "${id}" cannot describe itself as JSON Schema: use zod 4.2 or newer, or pass JSON Schema`,
    )
  }
  return convert({ target: 'draft-2020-12' })
}

/** Whether a tool's schema is a library's, which validates by itself. */
export function isStandardSchema(schema: Tool['inputSchema']): schema is ToolSchema {
  return '~standard' in schema
}
