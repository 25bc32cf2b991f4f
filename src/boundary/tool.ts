import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { AssetInfo } from '../assets/asset-info.ts'
import type { AssetStore } from '../assets/asset-store.ts'
import type { ResolvedAssetsConfig } from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
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
import type { OutputMethod } from '../core/messages/message.ts'
import { parseVariableRef } from '../core/refs/variable-ref.ts'
import {
  checkReferenceKeywords,
  describeSchema,
  type JsonSchema,
  type ToolSchema,
} from './describe-schema.ts'

/**
 * What a tool is given beside its input. `Context` is the type of the run's `context`, which nothing checks:
 * `execute(input, { context }: ToolContext<Session>)`.
 */
export interface ToolContext<Context = unknown> {
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
  context: Context
  /** Aborted when the run ends, is taken over by another process, or the call takes too long. */
  signal: AbortSignal
  /** Tells whoever watches how far the work is; `fraction` is from 0 to 1. */
  progress(message: string, fraction?: number): void
  /**
   * Says what model calls of the tool's own used, in tokens and, by `cost`, US dollars: it counts as the run's, for its limits and its
   * result. Logged with what the call comes to, so that what is run again after a crash counts once.
   */
  addUsage(usage: TokenUsage): void
  /** The assets that this run may see; what is saved through it is noted as this call's. */
  assets: Assets
  /**
   * Announces an asset that was there before, as if this call had saved it: the conversation lists it, and the model is told
   * of it. Rejects with ByrefError `asset_not_found` where there is none.
   */
  announce(ref: string): Promise<AssetInfo>
  /** The store by its four methods `save`, `get`, `urlFor` and `info`. */
  assetStore: AssetStore
  /** The bytes behind a reference. */
  resolveAsset(ref: string): Promise<{ bytes: Uint8Array; mime: string }>
  /** How assets are kept, without secrets. */
  assetConfig: ResolvedAssetsConfig
  /**
   * The value of a `†` reference among the conversation's data and results, read through the reference where it is kept
   * as an asset. Rejects with VariableError where there is none.
   */
  read(variable: string): Promise<unknown>
  /** What is known of what the call is given; null where trust is off. */
  trust: {
    /** Of everything that the call is given. */
    readonly given: Label
    /** Of everything that the tool has read by itself so far. */
    readonly read: Label
    /** Says more of the result than `returns`: it is joined with that. */
    mark(label: LabelInput): void
  } | null
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

/** A method, as the rule of approvals is. */
interface LabelRule<Input> {
  label(input: Input, result: unknown): LabelTreeInput
}

/** Something that a model can call. `Result` is what `execute` returns, such as a promise. */
export interface Tool<Input = unknown, Result = unknown> {
  /** What the model calls it by: letters, digits, `_` and `-`, at most 64. */
  id: string
  /** For the model: what it does and when to use it. */
  description: string
  /**
   * A Standard Schema that also gives JSON Schema (zod 4 …), or JSON Schema itself. A parameter with
   * `asset_ref_acceptable: true` (in zod by `.meta`) takes references to assets, and is given what its schema says: text,
   * JSON, base64 (`contentEncoding`), a data URL (`format: 'data-url'`), or by `asset_ref_as` a `Uint8Array` (`bytes`), a
   * `Blob` (`blob`), a `ReadableStream` (`stream`), an {@link Asset} (`asset`), {@link TableRows} (`rows`). For these, use a
   * schema of that type, of rows `z.custom<TableRows>()`:
   * `z.instanceof(Uint8Array).meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' })`. With `false` a reference is
   * refused; without either it passes as it is.
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
  /** How results are written at their path; default: what a call says in `_outputMethod`, else `set`. */
  outputMethod?: OutputMethod
  /** Whether the model may pass `†` references; default true. */
  variables?: boolean
  /**
   * Whether the model is offered `_instance`: such a call reads the data of that instance first, then the global ones, and
   * writes to that instance. Default: whether `outputPath` is a path, which then is one for each instance.
   */
  instances?: boolean
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
  /** Milliseconds that one execution may take; default `limits.callTimeoutMs`. */
  timeoutMs?: number
  /** How often an execution that failed is tried again, after 0.25 s, 0.5 s, 1 s …; for idempotent tools. Default 0. */
  retries?: number
  /**
   * What the model is shown instead of the result, which the log keeps beside it: text or JSON. Of a mapped call it is
   * asked for each item. `output` is the result as JSON, its bytes as references.
   */
  toModelOutput?(output: JsonValue): JsonValue
  /** Whether it changes nothing: then it takes what nobody vouches for, where trust is on. Default false. */
  readOnly?: boolean
  /** Whether it reads or reaches what anybody may write: mail, the web, files. Default true. */
  openWorld?: boolean
  /**
   * The label of its results, also by field (`*` is each); a function is given `undefined` as the result of a failure.
   * Joined with that of what it was given. Default: untrusted, but trusted where `openWorld` is false.
   */
  returns?: LabelTreeInput | LabelRule<Input>['label']
  /**
   * What it takes where trust is on; of a parameter, its schema says it by `x-accepts`. Default: of a tool that is not
   * `readOnly`, what is trusted and public, and closed values (docs/trust.md).
   */
  accepts?: Clearance
  /** JSON Schema or Standard Schema of its results: all that a model sees of those that are not trusted, in quarantine. */
  outputSchema?: ToolSchema<unknown> | JsonSchema
  /**
   * Does the work. The input is resolved and valid. What it returns may hold bytes, Blobs, streams and data URLs
   * anywhere: they become assets. An error that it throws goes to the model; the run continues.
   *
   * It may be an async generator: each yield is shown as progress, and its return value, or else its last yield, is the
   * result.
   */
  execute(input: Input, context: ToolContext): Result
}

const VARIABLE: Check<string> = is.checked(
  'a † path, such as "†state.user"',
  (value) => typeof value === 'string' && parseVariableRef(value) !== null,
)
const SCHEMA = is.having<JsonSchema | ToolSchema>(
  'JSON Schema or a schema of a library such as zod',
)
export const TOOL_OPTIONS: OptionTable<Tool> = {
  ...is.all(is.required(is.string), 'id', 'description'),
  inputSchema: is.required(SCHEMA),
  outputSchema: SCHEMA,
  outputPath: is.either(is.boolean, VARIABLE),
  outputMethod: is.oneOf('set', 'merge', 'assign', 'push', 'concat', 'delete'),
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
  needsApproval: is.either(is.boolean, is.callback<ApprovalRule<unknown>['decide']>()),
  returns: is.either(LABEL_TREE, is.callback<LabelRule<unknown>['label']>()),
  accepts: is.group(CLEARANCE_OPTIONS),
  toModelOutput: is.callback(),
  execute: is.required(is.callback()),
}

const ID = /^[A-Za-z0-9_-]{1,64}$/

type AnySchema = ToolSchema | JsonSchema

/** A tool; without `execute`, one whose calls are answered from outside. */
interface ToolDefinition<In extends AnySchema, Output, Result>
  extends Omit<Tool<InputOf<In>>, 'inputSchema' | 'outputSchema' | 'execute'> {
  inputSchema: In
  outputSchema?: (StandardSchemaV1<Output, unknown> & StandardJSONSchemaV1) | JsonSchema
  execute?(input: InputOf<In>, context: ToolContext): Result
}

/** The input of a tool with this schema. */
type InputOf<In extends AnySchema> = In extends ToolSchema
  ? StandardSchemaV1.InferOutput<In>
  : Record<string, unknown>

/** What `execute` may return for a result of this type. */
type Returned<Output> =
  | Output
  | PromiseLike<Output>
  | AsyncGenerator<unknown, Output>
  | AsyncGenerator<unknown, void>

const DEFINITION: OptionTable<ToolDefinition<AnySchema, unknown, unknown>> = {
  ...TOOL_OPTIONS,
  execute: is.callback(),
}

/**
 * Checks a tool, and gives its input and its result their types: `inputSchema` types what `execute` takes, and a library's
 * `outputSchema` what it returns. Calls of one without `execute` wait, as for an approval, until
 * somebody gives their result: `agent.approve(conversation, toolCallId, { approved: true, result })`.
 *
 * @throws ByrefError `config_invalid` for an id that providers refuse, or a schema that is neither kind.
 */
export function defineTool<In extends AnySchema, Output, Result extends Returned<Output>>(
  definition: ToolDefinition<In, Output, Result>,
): Tool<InputOf<In>, Result> {
  checkOptions<ToolDefinition<AnySchema, unknown, unknown>>('defineTool', definition, DEFINITION)
  const tool = definition.execute ? definition : answeredOutside(definition)
  checkTool(tool as Tool)
  return tool as Tool<InputOf<In>, Result>
}

/** What holds beyond the types of a tool's options. @throws ByrefError `config_invalid` */
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
      `The tool "${tool.id}" has retries and is not idempotent: say idempotent: true if running it again does no harm`,
    )
  }
  const schema = jsonSchemaOf(tool)
  if (schema.type !== 'object') {
    throw new ByrefError(
      'config_invalid',
      `The input schema of the tool "${tool.id}" must be of type object`,
    )
  }
  checkReferenceKeywords(`The input schema of the tool "${tool.id}"`, schema)
}

/** What stands for the `execute` of tools that have none. */
const stands = new WeakSet<Tool['execute']>()

function answeredOutside<Definition extends { id: string }>(definition: Definition) {
  const execute = (): never => {
    throw new ByrefError(
      'invalid_arguments',
      `Calls of "${definition.id}" do not run here: they are answered with a result`,
    )
  }
  stands.add(execute)
  return { ...definition, needsApproval: true, execute }
}

/** Whether the tool was defined without `execute`: its calls are answered from outside. */
export function isAnsweredOutside({ execute }: Tool): boolean {
  return stands.has(execute)
}

/** The tool's input schema as JSON Schema (draft 2020-12), worked out once. */
export function jsonSchemaOf({ id, inputSchema }: Tool): JsonSchema {
  return describeSchema(id, inputSchema)
}

/** Whether the model is offered `_instance` on calls of the tool. */
export function usesInstances({ instances, outputPath }: Tool): boolean {
  return instances ?? typeof outputPath === 'string'
}

/** Whether the model is offered `_outputMethod` on calls of the tool. */
export function choosesMethod({ outputPath, outputMethod }: Tool): boolean {
  return outputPath !== false && outputMethod === undefined
}

/** Whether calls of the tool can be mapped over a list. */
export function mapsOver({ mappable, idempotent }: Tool): boolean {
  return mappable ?? idempotent ?? false
}
