import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { AssetStore } from '../../assets/asset-store.ts'
import type { ResolvedAssetsConfig } from '../../assets/assets-config.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { OutputMethod } from '../../content/message.ts'
import { ByrefError } from '../../errors.ts'

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = { readonly [key: string]: unknown }

/** A schema of a library such as zod 4, which validates and describes itself as JSON Schema. */
export type ToolSchema<Input = unknown> = StandardSchemaV1<unknown, Input> & StandardJSONSchemaV1

/** What a tool is given beside its input. */
export interface ToolContext {
  /**
   * The id of this call (and of the item of a mapped one), the same when it is run again after a crash: usable as an
   * idempotency key.
   */
  toolCallId: string
  /** 1 the first time, and more when it is tried again. */
  attempt: number
  conversation: string
  runId: string
  /** The namespace of the run; null for none. */
  namespace: string | null
  /** What the run was given as its `context`, else the agent's. */
  context: unknown
  /** Aborted when the run ends, is taken over by another process, or the call takes too long. */
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
  /** Where the result goes, of the alternatives (`||`) of its `_outputPath`. */
  output: {
    /** Chooses the alternative with this path, such as `†errors.last`. Throws ByrefError `invalid_reference` for another. */
    choose(path: string): void
  }
}

/** A method, so that a tool of any input is a tool, as with `execute`. */
interface ApprovalRule<Input> {
  decide(input: Input, context: ToolContext): boolean | Promise<boolean>
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
  /** How results are written at their path; by default the model chooses by `_outputMethod`, else `set`. */
  outputMethod?: OutputMethod
  /** Whether the model may pass `†` references; default true. */
  variables?: boolean
  /**
   * Whether a person is asked before it runs, with the arguments that will run: always, or where the function says so
   * of the input, resolved and valid.
   */
  needsApproval?: boolean | ApprovalRule<Input>['decide']
  /**
   * Whether running it again with the same `toolCallId` does no harm. Then a call that a crash cut off is run again;
   * one that is not is told to the model as interrupted. Default false.
   */
  idempotent?: boolean
  /** Whether the model may map it over a list by `_each`; default: whether it is idempotent. */
  mappable?: boolean
  /** Milliseconds that one execution may take; default `limits.callMs`. */
  timeoutMs?: number
  /** How often an execution that failed is tried again, after 0.25 s, 0.5 s, 1 s …; for idempotent tools. Default 0. */
  retries?: number
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
  if (tool.retries && !tool.idempotent) {
    throw new ByrefError(
      'config_invalid',
      `The tool "${tool.id}" has retries and is not idempotent: say idempotent: true if running it again does no harm`,
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

const described = new WeakMap<object, JsonSchema>()

/** The tool's input schema as JSON Schema (draft 2020-12), worked out once. */
export function jsonSchemaOf({ id, inputSchema }: Tool): JsonSchema {
  if (!isStandardSchema(inputSchema)) return inputSchema
  const known = described.get(inputSchema) ?? describe(id, inputSchema)
  described.set(inputSchema, known)
  return known
}

function describe(id: string, inputSchema: ToolSchema): JsonSchema {
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
