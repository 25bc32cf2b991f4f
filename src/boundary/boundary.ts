import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { Assets } from '../assets/assets-contract.ts'
import {
  checkMethods,
  checkOptions,
  is,
  type MethodTables,
  type OptionTable,
} from '../core/check-options.ts'
import type { Message } from '../core/messages/message.ts'
import type { FieldKey } from '../core/refs/field-key.ts'
import { resultItem, type ShownResult } from '../prompt/result-item.ts'
import { CODEC, type Codec, describeTool } from './describe-tool.ts'
import { type ResolvedCall, resolveCall } from './resolve.ts'
import { type Placeholder, resolveAssets } from './resolve-assets.ts'
import { lastYield, offload, type StoredResult, type StoringCall, storeResult } from './store.ts'
import { TOOL_OPTIONS, type Tool } from './tool.ts'
import { validateInput } from './validate.ts'
import type { ValueSource } from './value-source.ts'

/** A call with the arguments as the model wrote them. */
export interface BoundaryCall {
  tool: Tool
  arguments: Record<string, unknown>
}

/**
 * Passes the values of tool calls by reference. A value crosses the boundary three times: from the model to a tool
 * (`resolve`, then `withInput`), from the tool to the history (`store`, then `offload`), and from the history to a
 * model (`show`).
 */
export interface Boundary {
  /** Describes a tool to a model: its parameters, with references accepted where the tool takes them. */
  describe(tool: Tool): LanguageModelV4FunctionTool
  /**
   * Replaces the `†` variables in a call's arguments with values, and reports which references it read. Asset
   * references stay in the arguments, so that a person can approve the result.
   *
   * @param values The source of variables. Null if `†` is ordinary text.
   *
   * @throws VariableError, ByrefError `invalid_arguments`
   */
  resolve(call: BoundaryCall, values: ValueSource | null): Promise<ResolvedCall>
  /**
   * Replaces the asset references in resolved arguments with values, validates the arguments against the tool's schema,
   * and calls `use` with them. Resolves to the result of `use`. Streams in the arguments end when `use` has ended.
   *
   * @throws ByrefError the error of the reference that cannot be read, or `invalid_arguments`; any error that `use`
   *   throws
   */
  withInput<T>(call: BoundaryCall, use: (input: unknown) => T): Promise<Awaited<T>>
  /**
   * Saves the bytes in a tool's result as assets and puts references in their place. The result of a generator is its
   * last value.
   */
  store(call: StoringCall, result: unknown): Promise<StoredResult>
  /**
   * Saves a stored value as an asset if its JSON has more than `maxResultChars` characters (default 32,768). A reference
   * and a preview replace it.
   */
  offload<
    Stored extends Pick<StoredResult, 'labels'> & { value: unknown; events: readonly unknown[] },
  >(call: StoringCall, stored: Stored): Promise<Stored>
  /**
   * Returns what a model sees of a stored value: text or JSON, and the files that it refers to.
   *
   * @param number The number of the result, from 1. The model names the result by it: `†result#3`.
   */
  show(call: { id: string; name: string }, value: unknown, number: number): ShownResult
}

/** Options of {@link createBoundary}. */
export interface BoundaryOptions {
  /** The store of bytes and large values, or a function that returns it when it is first needed. */
  assets: Assets | (() => Assets)
  /** How the tools of your framework take values. Default: like byref's own tools. */
  codec?: Codec
}

const OPTIONS: OptionTable<BoundaryOptions> = {
  assets: is.required(
    is.either(is.callback(), is.having<Assets>('assets, made by createAssets', 'save', 'scoped')),
  ),
  codec: is.group(CODEC),
}

const CALL: OptionTable<BoundaryCall> = {
  tool: is.required(is.group(TOOL_OPTIONS)),
  arguments: is.required(is.anything),
}
const STORING: OptionTable<StoringCall> = {
  ...is.all(is.required(is.string), 'tool', 'toolCallId'),
  maxResultChars: is.positive,
  signal: is.signal,
  label: is.callback(),
  onEvent: is.callback(),
}
const METHODS: MethodTables<Boundary> = {
  describe: { 0: TOOL_OPTIONS, throws: true },
  resolve: { 0: CALL },
  withInput: { 0: CALL },
  store: { 0: STORING },
  offload: { 0: STORING },
  show: { 0: { id: is.required(is.string), name: is.required(is.string) }, throws: true },
}

/**
 * Creates a boundary for one asset store.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function createBoundary(options: BoundaryOptions): Boundary {
  checkOptions('createBoundary', options, OPTIONS)
  const { assets: source, codec } = options
  const boundary = boundaryOf(typeof source === 'function' ? source : () => source, codec)
  const store: Boundary['store'] = async (call, result) =>
    boundary.store(call, await lastYield(result, call))
  return checkMethods('boundary', { ...boundary, store }, METHODS)
}

/**
 * Like {@link createBoundary}, for results that are not generators, without checking options. The agent creates one for
 * each call.
 */
export function boundaryOf(assets: () => Assets, codec: Codec = {}): Boundary {
  return {
    describe: (tool) => describeTool({ ...tool, ...WITHOUT_ENGINE }),
    resolve: ({ tool, arguments: args }, values) => resolveCall(tool, args, { values, assets }),
    withInput: ({ tool, arguments: args }, use) => withInput(tool, { args, assets, codec }, use),
    store: (call, result) => storeResult(call, result, assets),
    offload: (call, stored) => offload(call, stored, assets),
    show: (call, value, number) => showValue(call, value, number),
  }
}

/**
 * Only the engine understands `_outputPath`, `_instance` and `_each`. In other frameworks, a model sees a result before
 * it can name its fields, so descriptions do not list them.
 */
const WITHOUT_ENGINE = {
  outputPath: false,
  instances: false,
  mappable: false,
  outputSchema: undefined,
} as const

async function withInput<T>(
  tool: Tool,
  { args, assets, codec }: { args: Record<string, unknown>; assets: () => Assets; codec: Codec },
  use: (input: unknown) => T,
): Promise<Awaited<T>> {
  const resolved = await resolveAssets(tool, args, assets, codec)
  try {
    const valid =
      codec.validate === false ? resolved.args : await validateInput(tool, resolved.args)
    return await use(resolved.placeholders.reduce(fillPlaceholder, valid))
  } finally {
    resolved.release()
  }
}

/** Replaces a placeholder with its value, unless validation has changed the placeholder. */
function fillPlaceholder(input: unknown, { path, text, value }: Placeholder): unknown {
  const put = (current: unknown, [key, ...rest]: readonly FieldKey[]): unknown => {
    if (key === undefined) return current === text ? value : current
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) {
      return current
    }
    const copy = (Array.isArray(current) ? [...current] : { ...current }) as Record<
      FieldKey,
      unknown
    >
    copy[key] = put(copy[key], rest)
    return copy
  }
  return put(input, path)
}

const NO_ASSETS = { get: () => undefined }

/** Returns what a model sees of a single value, without a conversation. */
export function showValue(
  { id, name }: { id: string; name: string },
  value: unknown,
  number: number,
): ShownResult {
  const message: Message = {
    id: '',
    message_type: 'note',
    content_type: 'application/json',
    timestamp: '',
    sender: { participant_id: '', participant_role: 'tool' },
    content: value,
    metadata: {},
  }
  const call = { id, name, arguments: {} }
  return resultItem(call, { message, number }, { known: NO_ASSETS, whole: true })
}
