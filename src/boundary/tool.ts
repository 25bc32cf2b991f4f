import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { AssetInfo, AssetStore } from '../assets/asset-store.ts'
import type { ResolvedAssetsConfig } from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { called } from '../core/called.ts'
import { type Check, checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import type { TokenUsage } from '../core/events/events.ts'
import type { JsonValue } from '../core/json/json.ts'
import {
  CLEARANCE_OPTIONS,
  type Clearance,
  type Label,
  type LabelInput,
} from '../core/labels/label.ts'
import { LABEL_TREE, type LabelTreeInput } from '../core/labels/label-tree.ts'
import { OUTPUT_METHODS } from '../core/messages/data-block.ts'
import type { OutputMethod } from '../core/messages/message.ts'
import { RESULT } from '../core/messages/results.ts'
import { parseVariableRef, variablesIn } from '../core/refs/variable-ref.ts'
import {
  checkKeywords,
  checkTypes,
  describeSchema,
  type JsonSchema,
  type ToolSchema,
} from './describe-schema.ts'

/**
 * The second argument of a tool's `execute`. `Context` is the type of the run's `context`, which is not validated:
 * `execute(input, { context }: ToolContext<Session>)`.
 */
export interface ToolContext<Context = unknown> {
  /**
   * The id of this call, or of the item of a mapped call. It is the same after a crash, so you can use it as an
   * idempotency key.
   */
  toolCallId: string
  /** The number of the attempt, from 1. */
  attempt: number
  /** The id of the conversation in which the call runs. */
  conversation: string
  /** The id of the run. */
  runId: string
  /** The namespace of the run; null if there is none. */
  namespace: string | null
  /** The `context` of the run, or else the one of the agent. */
  context: Context
  /** Aborted when the run ends, another process takes it over, or the call reaches its time limit. */
  signal: AbortSignal
  /**
   * Reports progress to everything that follows the run. `fraction` is from 0 to 1. Throws ByrefError `invalid_data` for
   * other types.
   */
  progress(message: string, fraction?: number): void
  /**
   * Reports the tokens of the tool's own model calls, and with `cost` their price in US dollars. They count towards the
   * run's usage and limits. They are logged with the outcome of the call, so that a repeated execution counts once.
   * Usage in `needsApproval` and `preview` is logged with the approval request, or else with the outcome. `usedBy` is
   * the id of a run in the same log that made these calls and also counts them, such as a sub-agent's run.
   */
  addUsage(usage: TokenUsage, usedBy?: string): void
  /** The assets of the run's namespace. Assets that you save here are recorded as saved by this call. */
  assets: Assets
  /**
   * Adds an existing asset to the conversation, as if this call had saved it. The conversation lists it, and the model
   * sees its description. Rejects with ByrefError `asset_not_found` if it does not exist, and with `tool_failed` in
   * `needsApproval` and `preview`.
   */
  announce(ref: string): Promise<AssetInfo>
  /** The store with four methods: `save`, `get`, `urlFor` and `info`. */
  assetStore: AssetStore
  /** Resolves to the bytes and the MIME type of the asset that a reference names. */
  resolveAsset(ref: string): Promise<{ bytes: Uint8Array; mime: string }>
  /** The configuration of assets, without secrets. */
  assetConfig: ResolvedAssetsConfig
  /**
   * Reads the value of a `†` reference from the conversation's data and results, including values that are stored as
   * assets. Rejects with VariableError (`variable_not_found`) if there is no value.
   */
  read(variable: string): Promise<unknown>
  /** The labels of the call's input; null if trust is off. */
  trust: {
    /** The label of all input of the call. */
    readonly input: Label
    /** The label of everything that the tool has read with `context.read` and `context.assets` so far. */
    readonly read: Label
    /** Adds the restrictions of a label to the label of the result. */
    mark(label: LabelInput): void
  } | null
  /** Chooses among the alternatives (`||`) of the call's `_outputPath`. */
  output: {
    /**
     * Chooses the alternative with this path, such as `†errors.last`. Throws ByrefError `invalid_reference` if
     * there is none, and `tool_failed` in `needsApproval` and `preview`.
     */
    choose(path: string): void
  }
}

/** Options that are functions of the input. As methods, they make a tool with any input type assignable to `Tool`. */
interface ToolRules<Input> {
  needsApproval(input: Input, context: ToolContext): boolean | Promise<boolean>
  returns(input: Input, result: unknown): LabelTreeInput
}

/** A tool that a model can call. `Result` is the return type of `execute`, such as a promise. */
export interface Tool<Input = unknown, Result = unknown> {
  /** The tool's name for the model: at most 64 letters, digits, `_` and `-`. */
  id: string
  /** Tells the model what the tool does and when to use it. */
  description: string
  /**
   * A Standard Schema that can describe itself as JSON Schema, such as zod 4, or a JSON Schema.
   *
   * A parameter with `asset_ref_acceptable: true` (in zod with `.meta`) accepts asset references. The tool receives
   * what the schema asks for: text, JSON, base64 (`contentEncoding`) or a data URL (`format: 'data-url'`). With
   * `asset_ref_as`, it receives a `Uint8Array` (`bytes`), a `Blob` (`blob`), a `ReadableStream` (`stream`), an
   * {@link Asset} (`asset`), {@link TableRows} (`rows`) or the reference itself (`ref`). Use a schema of that type,
   * and `z.custom<TableRows>()` for rows:
   * `z.instanceof(Uint8Array).meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' })`.
   *
   * If no parameter has `asset_ref_acceptable: true`, every parameter with a type accepts asset references, and a text
   * parameter receives the text of a text file, or any other file as base64. Otherwise, parameters without the keyword
   * receive `asset://…` unchanged. With `asset_ref_acceptable: false`, references are rejected. In any parameter, a `†`
   * reference may name a file (`†result#2.picture`): a text parameter receives its text, or else base64.
   */
  inputSchema: ToolSchema<Input> | JsonSchema
  /**
   * Where results are written on the board, which is the data of the conversation. A `†` path: always there. `true`
   * (default): the model may choose a path with `_outputPath`. `false`: nowhere.
   */
  outputPath?: string | boolean
  /**
   * Maximum length of a result, in characters of JSON. A longer result becomes an asset, and the model sees its
   * reference and a preview. Default: 32,768. Use `Infinity` for a tool that returns pages.
   */
  maxResultChars?: number
  /** How results are written to their path. Default: the call's `_outputMethod`, or else `set`. */
  outputMethod?: OutputMethod
  /** Whether the model may pass `†` references. Default: true. */
  variables?: boolean
  /**
   * Which parameters accept asset references. `declared`: those whose schema has `asset_ref_acceptable: true`.
   * `everywhere`: all parameters that could hold one; their descriptions say so. Default: `declared` if the schema has
   * `asset_ref_acceptable: true` anywhere. Otherwise, every parameter with a type accepts a reference written as text,
   * except booleans, enums and constants.
   */
  references?: 'declared' | 'everywhere'
  /**
   * Whether calls take `_instance`. Such a call reads the data of that instance first, then global data, and writes
   * to that instance. Default: true if `outputPath` is a path, so that each instance has its own value.
   */
  instances?: boolean
  /**
   * Whether a person must approve each call, or a function that decides from the resolved and validated input. The
   * person sees the arguments with which the tool will run. Default: false.
   */
  needsApproval?: boolean | ToolRules<Input>['needsApproval']
  /**
   * Returns what a call would do, for the person who decides about it: text, or a unified diff. At most 4,000
   * characters are shown. It must change nothing. If it throws, the call fails and nobody is asked.
   */
  preview?(input: Input, context: ToolContext): string | Promise<string>
  /**
   * Whether it is safe to run the tool again with the same `toolCallId`. Then a call that a crash interrupted runs
   * again. Otherwise the model is told that the call was interrupted. Default: false.
   */
  idempotent?: boolean
  /** Whether the model may map the tool over a list with `_each`. Default: the value of `idempotent`. */
  mappable?: boolean
  /** Time limit of one execution, in milliseconds. Default: `limits.callTimeoutMs`. */
  timeoutMs?: number
  /**
   * Maximum number of retries after a failure, with pauses of 0.25 s, 0.5 s, 1 s and so on. Only for tools that are
   * `idempotent`. Default: 0.
   */
  retries?: number
  /**
   * Returns what the model sees instead of the result: text or JSON. The log has both. For a mapped call, byref calls
   * it for each item. `output` is the result as JSON, with references in place of bytes.
   */
  toModelOutput?(output: JsonValue): JsonValue
  /**
   * Whether the tool changes nothing. If trust is on, it then accepts untrusted values, and private ones too if
   * `openWorld` is false. Default: false.
   */
  readOnly?: boolean
  /**
   * Whether the tool reaches the outside world, such as the web or email. Then anybody may have written its results,
   * and others may see its input. Default: true.
   */
  openWorld?: boolean
  /**
   * The label of its results, optionally by field (`*` means each field), or a function of the input and the result
   * that returns it. For a failed call, the result is `undefined`. The labels of the call's input can make this label
   * stricter. Default: untrusted, or trusted if `openWorld` is false.
   */
  returns?: LabelTreeInput | ToolRules<Input>['returns']
  /**
   * Which labels the tool accepts if trust is on. A parameter's schema can override it with `x-accepts`. Default:
   * values that are trusted and public, and closed values (docs/reference/trust.md). A `readOnly` tool also accepts
   * untrusted values, and any value if `openWorld` is false.
   */
  accepts?: Clearance
  /**
   * The schema of its results, as JSON Schema or Standard Schema. The tool's description for models ends with its
   * fields. In quarantine, models see these fields of an untrusted result, its type and its size, but not its content.
   */
  outputSchema?: ToolSchema<unknown> | JsonSchema
  /**
   * Runs the tool. The input is resolved and validated. The result may contain bytes, Blobs, streams and data URLs at
   * any depth: they become assets. If it throws, the model sees the message of the error, and the run continues.
   *
   * An async generator works too. Each yield is shown as progress. The result is its return value, or else its last
   * yield.
   */
  execute(input: Input, context: ToolContext): Result
}

const OUTPUT_PATH: Check<string> = is.checked(
  'a † path, such as "†state.user", but not of †result',
  (value) => {
    const expression = typeof value === 'string' ? parseVariableRef(value) : null
    return expression !== null && variablesIn(expression).every(({ kind }) => kind !== RESULT)
  },
)
const PLAIN_SCHEMA = is.having<JsonSchema | ToolSchema>(
  'JSON Schema or a schema of a library such as zod',
)
const SCHEMA: Check<JsonSchema | ToolSchema> = {
  ...PLAIN_SCHEMA,
  // The schemas of ArkType are functions.
  accepts: (value) => PLAIN_SCHEMA.accepts(value) || '~standard' in Object(value),
}
export const TOOL_OPTIONS: OptionTable<Tool> = {
  id: is.required(called(is.string, 'name')),
  description: is.required(is.string),
  inputSchema: is.required(called(SCHEMA, 'parameters', 'schema')),
  outputSchema: SCHEMA,
  outputPath: is.either(is.boolean, OUTPUT_PATH),
  outputMethod: is.oneOf(...OUTPUT_METHODS),
  references: is.oneOf('declared', 'everywhere'),
  ...is.all(
    is.boolean,
    'variables',
    'instances',
    'idempotent',
    'mappable',
    'readOnly',
    'openWorld',
  ),
  ...is.all(is.positive, 'maxResultChars', 'timeoutMs'),
  retries: is.wholeNumber,
  needsApproval: is.either(is.boolean, is.callback<ToolRules<unknown>['needsApproval']>()),
  preview: is.callback(),
  returns: is.either(LABEL_TREE, is.callback<ToolRules<unknown>['returns']>()),
  accepts: is.group(CLEARANCE_OPTIONS),
  toModelOutput: is.callback(),
  execute: is.required(called(is.callback(), 'func', 'handler', 'run')),
}

const ID = /^[A-Za-z0-9_-]{1,64}$/

type AnySchema = ToolSchema | JsonSchema

/** The options of a tool. Without `execute`, the app answers its calls. */
interface ToolDefinition<In extends AnySchema, Output, Result>
  extends Omit<Tool<InputOf<In>>, 'inputSchema' | 'outputSchema' | 'execute'> {
  inputSchema: In
  outputSchema?: (StandardSchemaV1<Output, unknown> & StandardJSONSchemaV1) | JsonSchema
  execute?(input: InputOf<In>, context: ToolContext): Result
}

/** The input type of a tool with this schema. */
type InputOf<In extends AnySchema> = In extends ToolSchema
  ? StandardSchemaV1.InferOutput<In>
  : Record<string, unknown>

/** The types that `execute` may return for this result type. */
type Returned<Output> =
  | Output
  | PromiseLike<Output>
  | AsyncGenerator<unknown, Output>
  | AsyncGenerator<unknown, void>

const DEFINITION: OptionTable<ToolDefinition<AnySchema, unknown, unknown>> = {
  ...TOOL_OPTIONS,
  execute: called(is.callback(), 'func', 'handler', 'run'),
}

/**
 * Defines a tool. It checks the options, and infers the type of the input of `execute` from `inputSchema`, and the type
 * of its result from `outputSchema`. If a tool has no `execute`, its calls wait, as for an approval, until the app
 * gives their result: `agent.approve(conversation, toolCallId, { approved: true, result })`.
 *
 * @throws ByrefError `config_invalid` for unknown options, an id that providers reject, `retries` without `idempotent`,
 *   or an invalid schema
 */
export function defineTool<In extends AnySchema, Output, Result extends Returned<Output>>(
  definition: ToolDefinition<In, Output, Result>,
): Tool<InputOf<In>, Result> {
  checkOptions<ToolDefinition<AnySchema, unknown, unknown>>('defineTool', definition, DEFINITION)
  const tool = definition.execute ? definition : clientTool(definition)
  checkTool(tool as Tool)
  checkTypes(`inputSchema of the tool "${tool.id}"`, jsonSchemaOf(tool as Tool))
  return tool as Tool<InputOf<In>, Result>
}

/** Parameters that byref adds to tools and takes out of calls. */
export const OWN_PARAMETERS: readonly string[] = [
  '_outputPath',
  '_outputMethod',
  '_instance',
  '_each',
]

/** Checks rules that types cannot express. @throws ByrefError `config_invalid` */
export function checkTool(tool: Tool): void {
  if (!ID.test(tool.id)) {
    throw new ByrefError(
      'config_invalid',
      `The tool id ${JSON.stringify(tool.id)} is not allowed: use 1 to 64 letters, digits, "_" or "-"`,
    )
  }
  if (tool.retries && !tool.idempotent) {
    throw new ByrefError(
      'config_invalid',
      `The tool "${tool.id}" has retries but is not idempotent. Set idempotent: true if it is safe to run it again.`,
    )
  }
  const schema = jsonSchemaOf(tool)
  if (schema.type !== 'object') {
    throw new ByrefError(
      'config_invalid',
      `The input schema of the tool "${tool.id}" must be of type object: pass z.object({ … }), or JSON Schema with type: "object". Wrap any other schema in an object.`,
    )
  }
  const reserved = OWN_PARAMETERS.find((name) => name in Object(schema.properties))
  if (reserved !== undefined) {
    throw new ByrefError(
      'config_invalid',
      `The tool "${tool.id}" has a parameter ${reserved}, which byref adds to tools: give it another name`,
    )
  }
  checkKeywords(`inputSchema of the tool "${tool.id}"`, schema)
}

/** Marks the `execute` of tools that have none of their own, in all copies of byref in a process. */
export const CLIENT_TOOL = Symbol.for('byref.client-tool')

function clientTool<Definition extends { id: string }>(definition: Definition) {
  const execute = (): never => {
    throw new ByrefError(
      'invalid_arguments',
      `"${definition.id}" is a client-side tool: byref does not execute it. Answer the call with agent.approve(…, { approved: true, result }).`,
    )
  }
  return {
    ...definition,
    needsApproval: true,
    execute: Object.assign(execute, { [CLIENT_TOOL]: true }),
  }
}

/** Returns the tool's input schema as JSON Schema (draft 2020-12). The result is cached. */
export function jsonSchemaOf({ id, inputSchema }: Tool): JsonSchema {
  return describeSchema(id, inputSchema)
}

/** Whether calls of the tool take `_instance`. */
export function usesInstances({ instances, outputPath }: Tool): boolean {
  return instances ?? typeof outputPath === 'string'
}

/** Whether calls of the tool take `_outputMethod`. */
export function choosesMethod({ outputPath, outputMethod }: Tool): boolean {
  return outputPath !== false && outputMethod === undefined
}

/** Whether calls of the tool can be mapped over a list. */
export function mapsOver({ mappable, idempotent }: Tool): boolean {
  return mappable ?? idempotent ?? false
}
