import type { Assets } from '../assets/assets-contract.ts'
import { withoutCarriedBytes } from '../assets/extract/carried-bytes.ts'
import { extractAssets } from '../assets/extract/extract.ts'
import { binaryBody } from '../assets/extract/found-body.ts'
import { isPlainJson } from '../assets/extract/may-hold-assets.ts'
import { ByrefError } from '../core/errors.ts'
import type { AssetEvent } from '../core/events/events.ts'
import { inBackground } from '../core/in-background.ts'
import { Branch, copyTree, isOpen } from '../core/json/copy-tree.ts'
import type { JsonValue } from '../core/json/json.ts'
import { TRUSTED, type WrittenLabel, writeLabel } from '../core/labels/label.ts'
import { type LabelTree, wholeOf, writeLabelTree } from '../core/labels/label-tree.ts'
import { metaOf } from '../core/messages/asset-meta.ts'
import { OFFLOADED_TYPE, type OffloadedValue } from '../core/messages/offloaded.ts'
import { outline } from '../core/messages/outline.ts'
import { toPointer } from '../core/refs/json-pointer.ts'
import { fetchedByReference } from './native-tools.ts'

/** A call whose result is stored. */
export interface StoringCall {
  /** The tool's id. */
  tool: string
  toolCallId: string
  /** Characters of JSON above which the result becomes an asset. Default 32,768. */
  maxResultChars?: number
  signal?: AbortSignal
  /** The label for the records of assets, where values have labels. */
  label?(): WrittenLabel
  /** Called with the event of each asset as it is saved, also where storing fails later. */
  onEvent?(event: AssetEvent): void
}

/** A result as it is kept: JSON, with references in place of bytes and of a value that is too large. */
export interface StoredResult {
  value: JsonValue
  /** The events of the assets that were saved for it. */
  events: readonly AssetEvent[]
  /** Of the value and its fields. Absent where values have no labels. */
  labels?: LabelTree
}

/** Maximum characters of JSON of a result that is kept as it is. */
const MAX_RESULT_CHARS = 32 * 1024

/** How much of a value a preview shows, and the maximum characters of its JSON. */
const PREVIEW = { items: 3, text: 200, chars: 4 * 1024 }

/**
 * Saves the bytes in a result as assets, and puts references in their place.
 *
 * @throws what `extractAssets` throws; ByrefError `invalid_data` for a value that holds itself
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
  const { value } = await extractAssets(result, { assets: scoped, signal, ...maker })
  return { value: jsonValue(withoutCarriedBytes(fetchedByReference(value))) as JsonValue, events }
}

/** Saves the value as an asset where its JSON is too long. The value that stands for it has a preview. */
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
  const { ref, size } = await scoped.saveAsset({
    asset_type: OFFLOADED_TYPE,
    asset_name: `${call.tool} result`,
    content_type: 'application/json',
    content: value,
  })
  const about = { assetRef: ref, mimeType: 'application/json', kind: 'file', size } as const
  const stand: OffloadedValue = { ...about, offloaded: true, preview: previewOf(value) }
  if (labels) {
    const content = { label: TRUSTED, fields: { content: labels } }
    for (const event of events)
      if (event.type === 'ASSET_CREATED') event.payload.label = writeLabelTree(content)
  }
  return { ...stored, value: stand, events: [...stored.events, ...events] }
}

/** Assets that say which call made them, and the events of what is saved through them. */
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
    ...(label ? { label } : {}),
  })
  return { events, scoped }
}

/** Whether a value's JSON is longer than the results of its tool may be. */
export function isTooLong(value: unknown, maxResultChars = MAX_RESULT_CHARS): boolean {
  return jsonLength(value, maxResultChars) > maxResultChars
}

/** The value in short: its meta, or the first fields of it as flattened lines. */
export function previewOf(value: unknown): unknown {
  const { items, text, chars } = PREVIEW
  const meta = metaOf(value, { items, text })
  if (typeof meta !== 'object' || meta === null) return meta
  if (JSON.stringify(meta).length <= chars) return meta
  const { lines, complete } = outline(meta, { items, text, maxChars: chars })
  return complete ? lines : { ...lines, '…': 'more fields are left out' }
}

/** About how many characters the JSON of a value has. Stops counting a little over `max`. */
export function jsonLength(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  let length = 2
  for (const [key, item] of Object.entries(value)) {
    if (length > max) return length
    length += (Array.isArray(value) ? 1 : key.length + 4) + jsonLength(item, max - length)
  }
  return length
}

/** How the yields of a tool are read. */
export interface YieldOptions {
  signal?: AbortSignal
  /** Hears of each yield: all but the last are preliminary results. */
  onYield?(value: unknown): void
}

/**
 * The result of a tool that yields: what it returns, or else its last yield. Any other result is given back as it is, streams
 * of bytes too. When the signal aborts, the generator is told to return.
 *
 * @throws what the generator throws; the signal's reason
 */
export function lastYield(result: unknown, options: YieldOptions = {}): unknown {
  if (result instanceof Promise) return result.then((given) => lastYield(given, options))
  return isIterable(result) ? drained(result[Symbol.asyncIterator](), options) : result
}

/** Whether values come one by one; a stream of bytes is a body. */
export function isIterable(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== 'object') return false
  const isAsync = typeof Object(value)[Symbol.asyncIterator] === 'function'
  return isAsync && binaryBody(value as object) === null
}

async function drained(
  values: AsyncIterator<unknown>,
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
 * A tool's result as the JSON that log and model get: a Map is an object (with keys that are no text, a list of pairs),
 * a Set a list, a Date ISO text; bigint, NaN and infinities are text; what has a `toJSON` says it by that. Functions and
 * symbols are left out of objects and null in lists. Nothing is null.
 *
 * @throws ByrefError `invalid_data` for a cycle, with its path.
 */
export function jsonValue(root: unknown): unknown {
  return copyTree(root, (given, open) => {
    const value = told(given)
    const inList = Array.isArray(open.at(-1)?.out)
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'function' || typeof value === 'symbol' || value === undefined) {
      return inList ? null : undefined
    }
    if (typeof value !== 'object' || value === null) return value as string | boolean | null
    if (!isOpen(value, open)) return branchOf(value)
    throw new ByrefError(
      'invalid_data',
      `The result holds itself at ${toPointer(open.map(({ key }) => key)) || '/'}, which JSON cannot carry`,
    )
  })
}

/** What a value says of itself by `toJSON`. */
function told(value: unknown): unknown {
  const { toJSON } = Object(value) as { toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value) : value
}

function branchOf(value: object): Branch {
  if (Array.isArray(value)) return new Branch(value, true, value.entries())
  if (value instanceof Set) return new Branch(value, true, [...value].entries())
  if (!(value instanceof Map)) return new Branch(value, false, Object.entries(value))
  const isRecord = [...value.keys()].every((key) => typeof key === 'string')
  return new Branch(value, !isRecord, isRecord ? value.entries() : [...value].entries())
}
