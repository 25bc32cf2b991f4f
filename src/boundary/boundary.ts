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
import { CODEC, type Codec, toolForModel } from './describe-tool.ts'
import { type ResolvedCall, resolveCall } from './resolve.ts'
import { type HeldValue, resolveAssets } from './resolve-assets.ts'
import { offload, type StoredResult, type StoringCall, storeResult } from './store.ts'
import { TOOL_OPTIONS, type Tool } from './tool.ts'
import { validateInput } from './validate.ts'
import type { ValueSource } from './value-source.ts'

/** A call of a model, with the arguments as the model wrote them. */
export interface BoundaryCall {
  tool: Tool
  arguments: Record<string, unknown>
}

/**
 * Passes the values of tool calls by reference. A value crosses three times: from the model to a tool (`resolve`, then
 * `withInput`), from a tool to where it is kept (`store`, then `offload`), and from there to a model (`show`).
 */
export interface Boundary {
  /** Describes a tool to a model: its parameters, with references accepted where the tool takes them. */
  describe(tool: Tool): LanguageModelV4FunctionTool
  /**
   * Puts the values of `†` variables into the arguments of a call, and reports what it read. The result is what a person
   * approves: references to assets are still in it.
   *
   * @param values Where `†` variables get their values. Null where `†` is ordinary text.
   * @throws VariableError, ByrefError `invalid_arguments`
   */
  resolve(call: BoundaryCall, values: ValueSource | null): Promise<ResolvedCall>
  /**
   * Puts the values of asset references into resolved arguments, checks them against the tool's schema, and runs `use`
   * with them. Streams among them end when `use` has ended.
   *
   * @throws ByrefError of the reference that failed, `invalid_arguments`; what `use` throws
   */
  withInput<T>(call: BoundaryCall, use: (input: unknown) => T): Promise<Awaited<T>>
  /** Saves the bytes in a tool's result as assets and puts references in their place. */
  store(call: StoringCall, result: unknown): Promise<StoredResult>
  /** Saves a stored value as an asset where it is larger than its tool's results may be. Leaves a preview in its place. */
  offload<
    Stored extends Pick<StoredResult, 'labels'> & { value: unknown; events: readonly unknown[] },
  >(call: StoringCall, stored: Stored): Promise<Stored>
  /**
   * What a model is shown of a stored value: text or JSON, and the media that it refers to.
   *
   * @param number The number by which the model names the result: `†result#3`. From 1.
   */
  show(call: { id: string; name: string }, value: unknown, number: number): ShownResult
}

/** Options of {@link createBoundary}. */
export interface BoundaryOptions {
  /** Where bytes and large values are kept, or a function that is called when they are first needed. */
  assets: Assets | (() => Assets)
  /** How the tools take references and bytes. Default: as the tools of byref do. */
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
 * Makes a boundary for one store of assets.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function createBoundary(options: BoundaryOptions): Boundary {
  checkOptions('createBoundary', options, OPTIONS)
  const { assets: given, codec } = options
  const assets = typeof given === 'function' ? given : () => given
  return checkMethods('boundary', boundaryOf(assets, codec), METHODS)
}

/** As {@link createBoundary}, without checking its options: the agent makes one for each call. */
export function boundaryOf(assets: () => Assets, codec: Codec = {}): Boundary {
  return {
    describe: (tool) => toolForModel({ ...tool, ...WITHOUT_ENGINE }, codec),
    resolve: ({ tool, arguments: args }, values) =>
      resolveCall(tool, args, { values, assets, codec }),
    withInput: ({ tool, arguments: args }, use) => withInput(tool, { args, assets, codec }, use),
    store: (call, result) => storeResult(call, result, assets),
    offload: (call, stored) => offload(call, stored, assets),
    show: (call, value, number) => showValue(call, value, number),
  }
}

/** `_outputPath`, `_instance` and `_each` are parameters that only the engine understands. */
const WITHOUT_ENGINE = { outputPath: false, instances: false, mappable: false } as const

async function withInput<T>(
  tool: Tool,
  { args, assets, codec }: { args: Record<string, unknown>; assets: () => Assets; codec: Codec },
  use: (input: unknown) => T,
): Promise<Awaited<T>> {
  const resolved = await resolveAssets(tool, args, assets, codec)
  try {
    const valid =
      codec.validate === false ? resolved.args : await validateInput(tool, resolved.args)
    return await use(resolved.held.reduce(putBack, valid))
  } finally {
    resolved.release()
  }
}

/** The input with a held value in its place, unless the schema changed what stood there. */
function putBack(input: unknown, { path, text, value }: HeldValue): unknown {
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

const NOTHING_KNOWN = { get: () => undefined }

/** What a model is shown of a value by itself, without a conversation around it. */
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
  return resultItem(call, { message, number, index: 0 }, { known: NOTHING_KNOWN, whole: true })
}
