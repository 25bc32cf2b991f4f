import type { Assets } from '../assets/assets-contract.ts'
import { withoutCarriedBytes } from '../assets/extract/carried-bytes.ts'
import { extractAssets } from '../assets/extract/extract.ts'
import { isPlainJson } from '../assets/extract/may-hold-assets.ts'
import type { AssetEvent } from '../core/events/events.ts'
import type { JsonValue } from '../core/json/json.ts'
import { TRUSTED, type WrittenLabel, writeLabel } from '../core/labels/label.ts'
import { type LabelTree, wholeOf, writeLabelTree } from '../core/labels/label-tree.ts'
import { metaOf } from '../core/messages/asset-meta.ts'
import { OFFLOADED_TYPE, type OffloadedValue } from '../core/messages/offloaded.ts'
import { outline } from '../core/messages/outline.ts'
import { jsonValue } from './json-value.ts'
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
