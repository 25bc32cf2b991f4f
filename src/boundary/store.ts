import type { Assets } from '../assets/assets-contract.ts'
import { dataUrlOf } from '../assets/bodies/data-url.ts'
import { withoutCarriedBytes } from '../assets/extract/asset-shapes.ts'
import { extractAssets } from '../assets/extract/extract.ts'
import { binaryBody } from '../assets/extract/found-body.ts'
import { isPlainJson } from '../assets/extract/may-hold-assets.ts'
import { ByrefError, type ByrefErrorCode, loggedMessage } from '../core/errors.ts'
import type { AssetEvent } from '../core/events/events.ts'
import { inBackground } from '../core/in-background.ts'
import { Branch, copyTree } from '../core/json/copy-json.ts'
import type { JsonValue } from '../core/json/json.ts'
import { TRUSTED, type WrittenLabel, writeLabel } from '../core/labels/label.ts'
import { type LabelTree, wholeOf, writeLabelTree } from '../core/labels/label-tree.ts'
import { metaOf } from '../core/messages/asset-meta.ts'
import { OFFLOADED_TYPE, type OffloadedValue } from '../core/messages/offloaded.ts'
import { outline } from '../core/messages/outline.ts'
import { toPointer } from '../core/refs/field-key.ts'
import { ArgumentPlaces } from './argument-places.ts'
import { fetchedByReference } from './native-tools.ts'

/** The call whose result is stored. */
export interface StoringCall {
  /** The id of the tool. */
  tool: string
  toolCallId: string
  /** Maximum characters of JSON. A longer result becomes an asset. Default: 32,768. */
  maxResultChars?: number
  signal?: AbortSignal
  /** The label for the records of assets, if values have labels. */
  label?(): WrittenLabel
  /** Called with the event of each asset as soon as it is saved, even if storing fails later. */
  onEvent?(event: AssetEvent): void
}

/** A stored result: JSON, with references in place of bytes and of large values. */
export interface StoredResult {
  value: JsonValue
  /** The events of the assets that were saved. */
  events: readonly AssetEvent[]
  /** The labels of the value and its fields. Absent if values have no labels. */
  labels?: LabelTree
}

/** Maximum length of a result that is kept in the log, in characters of JSON. */
const MAX_RESULT_CHARS = 32 * 1024

/** Limits of a preview. */
const PREVIEW = { items: 3, text: 200, chars: 4 * 1024 }

/**
 * Saves the bytes in a result as assets, and replaces them with references.
 *
 * @throws any error of `extractAssets`; ByrefError `storage_failed` or `storage_full` if the store fails; ByrefError
 *   `invalid_data` for a value that contains itself
 */
export async function storeResult(
  call: StoringCall,
  result: unknown,
  assets: () => Assets,
): Promise<StoredResult> {
  if (isPlainJson(result)) return { value: result as JsonValue, events: [] }
  const { events, scoped } = scopeFor(call, assets())
  const { tool, toolCallId, signal } = call
  const maker = { by: 'tool', tool, toolCallId } as const
  try {
    const { value, errors } = await extractAssets(result, { assets: scoped, signal, ...maker })
    // Other errors are about the bytes themselves, and stay in the result.
    const lost = errors.find(({ code }) => code === 'storage_failed' || code === 'storage_full')
    if (lost) throw new ByrefError(lost.code as ByrefErrorCode, lost.message)
    return { value: jsonValue(fetchedByReference(value), withoutCarriedBytes) as JsonValue, events }
  } catch (error) {
    signal?.throwIfAborted()
    throw lostResult(error)
  }
}

/** Returns the error for a result that could not be stored. It keeps the model from repeating the call. */
export function lostResult(error: unknown): unknown {
  if (!(error instanceof ByrefError)) return error
  const reason = loggedMessage(error).replace(/\.$/, '')
  return new ByrefError(
    error.code,
    `The tool has run, but its result is lost, because it could not be stored (${reason}). Do not repeat the call unless its effects may happen twice.`,
  )
}

/** Saves the bytes in a result, and then the whole value if it is long. References replace both. */
export async function keepResult(
  call: StoringCall,
  result: unknown,
  assets: () => Assets,
): Promise<StoredResult> {
  const stored = await storeResult(call, result, assets)
  return offload(call, stored, assets).catch((error) => {
    throw lostResult(error)
  })
}

/** A call's arguments without bytes. */
interface StoredArguments {
  /** For the log. `restoreBytes` restores the original arguments. */
  logged: Record<string, unknown>
  /** With references in place of bytes, as in a stored result. */
  extracted: Record<string, unknown>
}

/**
 * Saves the bytes in a call's arguments as assets of that call. In the log, `<|asset://…|>` is in place of base64, also
 * within data URLs. Bytes in any other form, and those in the list of a mapped call, become references as in results, or
 * base64 data URLs within longer texts. `call.onEvent` gets the events.
 *
 * @throws any error of `extractAssets`
 */
export async function storeArguments(
  call: StoringCall,
  args: Record<string, unknown>,
  assets: Assets,
): Promise<StoredArguments> {
  const { scoped } = scopeFor(call, assets)
  const { value, created, errors } = await extractAssets(args, { assets: scoped, by: 'agent' })
  const extracted = value as Record<string, unknown>
  if (extracted === args) return { logged: args, extracted }
  const { _each, ...others } = args
  const saved = await base64Of(created, scoped)
  const text = JSON.stringify(others)
  const isMaskable = errors.length === 0 && saved.every(({ base64 }) => text.includes(base64))
  if (!isMaskable) return { logged: withUrls(extracted, created), extracted }
  const each = _each === undefined ? {} : withUrls({ _each: extracted._each }, created)
  return { logged: { ...masked(others, saved), ...each }, extracted }
}

/** Replaces the base64 of these assets with `<|asset://…|>`, in the arguments of each item of a call. */
export async function maskBytes(
  items: readonly (Record<string, unknown> | undefined)[],
  refs: readonly { ref: string }[],
  assets: Assets,
): Promise<readonly (Record<string, unknown> | undefined)[]> {
  if (refs.length === 0) return items
  const saved = await base64Of(refs, assets)
  return items.map((args) => args && masked(args, saved))
}

interface Base64 {
  ref: string
  base64: string
}

async function base64Of(refs: readonly { ref: string }[], assets: Assets): Promise<Base64[]> {
  return Promise.all(
    refs.map(async ({ ref }) => ({ ref, base64: (await assets.getBase64(ref)).base64 })),
  )
}

/** Minimum length of base64 that is masked, in characters. Shorter base64 may be part of a word. */
const MIN_MASKED = 16

/** Replaces base64 in the texts of arguments with `<|asset://…|>`. */
function masked(args: Record<string, unknown>, saved: readonly Base64[]): Record<string, unknown> {
  const places = new ArgumentPlaces(args, null)
  const texts = [...places].filter(({ value }) => typeof value === 'string')
  // Longer base64 may contain shorter base64.
  const longestFirst = [...saved].sort((a, b) => b.base64.length - a.base64.length)
  for (const { ref, base64 } of longestFirst) {
    if (base64.length < MIN_MASKED) continue
    for (const place of texts) place.put(String(place.current).replaceAll(base64, `<|${ref}|>`))
  }
  return places.result
}

/** Matches a reference in place of base64. */
export const STORED_BYTES = /<\|(asset:\/\/[^\s|]+)\|>/g

/** Writes `data:…;base64,<|asset://…|>` where extraction put `<|asset://…|>` in place of a data URL. */
function withUrls(
  args: Record<string, unknown>,
  created: readonly { ref: string; mime: string }[],
): Record<string, unknown> {
  const headers = new Map(created.map(({ ref, mime }) => [ref, dataUrlOf(new Uint8Array(), mime)]))
  const places = new ArgumentPlaces(args, null)
  for (const place of places) {
    const text = place.value
    if (typeof text !== 'string') continue
    place.put(text.replace(STORED_BYTES, (mark, ref) => (headers.get(ref) ?? '') + mark))
  }
  return places.result
}

/** Saves the value as an asset if its JSON is too long. The value that replaces it has a preview. */
export async function offload<
  Stored extends Omit<StoredResult, 'value' | 'events'> & {
    value: unknown
    events: readonly unknown[]
  },
>(call: StoringCall, stored: Stored, assets: () => Assets): Promise<Stored> {
  const { value, labels } = stored
  if (!isTooLong(value, call.maxResultChars)) return stored
  const label = labels && (() => writeLabel(wholeOf(labels)))
  const { events, scoped } = scopeFor({ ...call, label: label ?? call.label }, assets())
  const mimeType = isPlainText(value) ? 'text/plain' : 'application/json'
  const { ref, size } = await scoped.saveAsset({
    asset_type: OFFLOADED_TYPE,
    asset_name: `${call.tool} result`,
    content_type: mimeType,
    content: value,
  })
  const reference = { assetRef: ref, mimeType, kind: 'file', size } as const
  const placeholder: OffloadedValue = { ...reference, offloaded: true, preview: previewOf(value) }
  if (labels) {
    const content = { label: TRUSTED, fields: { content: labels } }
    for (const event of events)
      if (event.type === 'ASSET_CREATED') event.payload.label = writeLabelTree(content)
  }
  return { ...stored, value: placeholder, events: [...stored.events, ...events] }
}

/** Whether a value is text that a file in UTF-8 keeps exactly. */
function isPlainText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.startsWith('\ufeff')
}

/** Returns assets that record which call saved them, and that collect their events. */
function scopeFor({ tool, toolCallId, label, onEvent }: StoringCall, assets: Assets) {
  const events: AssetEvent[] = []
  const scoped = assets.scoped({
    by: 'tool',
    tool,
    toolCallId,
    onEvent: (event) => {
      events.push(event)
      onEvent?.(event)
    },
    label,
  })
  return { events, scoped }
}

/** Whether a value's JSON is longer than the results of its tool may be. */
export function isTooLong(value: unknown, maxResultChars = MAX_RESULT_CHARS): boolean {
  return jsonLength(value, maxResultChars) > maxResultChars
}

/** Returns a short form of a value: its meta, or its first fields as flattened lines. */
export function previewOf(value: unknown): unknown {
  const { items, text, chars } = PREVIEW
  const meta = metaOf(value, { items, text })
  if (typeof meta !== 'object' || meta === null) return meta
  if (JSON.stringify(meta).length <= chars) return meta
  const { lines, complete } = outline(meta, { items, text, maxChars: chars })
  return complete ? lines : { ...lines, '…': 'more fields are left out' }
}

/** Returns the approximate length of a value's JSON in characters. Stops counting soon after `max`. */
export function jsonLength(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  let length = 2
  // An index loop, because creating the entries of a long list would take longer than counting.
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && length <= max; i++) {
      length += 1 + jsonLength(value[i], max - length)
    }
    return length
  }
  for (const key of Object.keys(value)) {
    if (length > max) break
    length += key.length + 4 + jsonLength((value as Record<string, unknown>)[key], max - length)
  }
  return length
}

/** Options of {@link lastYield}. */
export interface YieldOptions {
  signal?: AbortSignal
  /** Called for each yield: all but the last are preliminary results. */
  onYield?(value: unknown): void
}

/**
 * Returns the result of a generator: its return value, or else its last yield. Any other result is returned
 * unchanged, including streams of bytes. When the signal aborts, the generator's `return` is called.
 *
 * @throws any error of the generator; the signal's reason
 */
export function lastYield(result: unknown, options: YieldOptions = {}): unknown {
  if (result instanceof Promise) return result.then((settled) => lastYield(settled, options))
  if (isGenerator(result)) return lastValue(result, options)
  return isIterable(result) ? lastValue(result[Symbol.asyncIterator](), options) : result
}

/** Whether the value is what a `function*` returns. Other iterables, such as lists, are values. */
function isGenerator(value: unknown): value is Generator<unknown> {
  return Object.prototype.toString.call(value) === '[object Generator]'
}

/** Whether the value is an async iterable of values. A stream of bytes is not. */
export function isIterable(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== 'object') return false
  const isAsync = typeof Object(value)[Symbol.asyncIterator] === 'function'
  return isAsync && binaryBody(value as object) === null
}

async function lastValue(
  values: AsyncIterator<unknown> | Iterator<unknown>,
  { signal, onYield }: YieldOptions,
): Promise<unknown> {
  const stop = (): void => {
    inBackground('Ending a generator', Promise.resolve(values.return?.()))
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    let last: unknown
    for (;;) {
      signal?.throwIfAborted()
      const { done, value } = await values.next()
      if (done) return value === undefined ? last : value
      onYield?.(value)
      last = value
    }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * Converts a tool's result to JSON. A Map becomes an object (a list of pairs if keys are not text), and a Set a list.
 * An error becomes an object with its name and message. bigint, NaN and infinities become text. `toJSON` is used where
 * it exists, so a Date becomes ISO text. Functions, symbols and undefined are left out of objects, become null in lists,
 * and undefined at the root. Iterables without fields, such as Headers, become lists. `edit` returns what replaces an
 * object; it gets the key that the object was found under.
 *
 * @throws ByrefError `invalid_data` for a cycle and for a promise, with their path
 */
export function jsonValue(
  root: unknown,
  edit: (value: object, key: unknown) => object = (value) => value,
): unknown {
  return copyTree(root, (original, open, sources) => {
    const value = asJson(original)
    const inList = Array.isArray(open.at(-1)?.out)
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'function' || typeof value === 'symbol' || value === undefined) {
      return inList ? null : undefined
    }
    if (typeof value !== 'object' || value === null) return value as string | boolean | null
    const place = (): string => toPointer(open.map(({ key }) => key)) || '/'
    if (value instanceof Promise) {
      // Its own error would end the process, because nobody else awaits it.
      value.catch(() => {})
      const message = `The result contains a promise at ${place()}. The tool must await it.`
      throw new ByrefError('invalid_data', message)
    }
    if (!sources.has(value)) return branchOf(value, edit(value, open.at(-1)?.key))
    throw new ByrefError(
      'invalid_data',
      `The result contains itself at ${place()}, which JSON cannot represent`,
    )
  })
}

/** Returns the result of the value's `toJSON`. */
function asJson(value: unknown): unknown {
  const { toJSON } = Object(value) as { toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value) : value
}

/** Returns the fields of an error with its name and message, which JSON leaves out. */
function fieldsOf(error: Error): [string, unknown][] {
  const { name, message } = error
  return Object.entries(Object.assign({ name, message }, error))
}

function branchOf(source: object, value: object): Branch {
  if (Array.isArray(value)) return new Branch(source, true, value.entries())
  if (value instanceof Set) return new Branch(source, true, [...value].entries())
  if (value instanceof Error) return new Branch(source, false, fieldsOf(value))
  if (!(value instanceof Map)) {
    const fields = Object.entries(value)
    const isList = fields.length === 0 && Symbol.iterator in value && !isGenerator(value)
    return isList
      ? new Branch(source, true, [...(value as Iterable<unknown>)].entries())
      : new Branch(source, false, fields)
  }
  const isRecord = [...value.keys()].every((key) => typeof key === 'string')
  return new Branch(source, !isRecord, isRecord ? value.entries() : [...value].entries())
}
