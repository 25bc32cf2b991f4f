import type { Assets } from '../assets/assets-contract.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { writeLabel } from '../core/labels/label.ts'
import { type LabelTree, wholeOf } from '../core/labels/label-tree.ts'
import { metaOf } from '../core/messages/asset-meta.ts'
import { OFFLOADED_TYPE, type OffloadedValue } from '../core/messages/offloaded.ts'
import { outline } from '../core/messages/outline.ts'
import type { CallPlan } from './call-plan.ts'
import { jsonLength } from './json-length.ts'
import type { Tool } from './tool.ts'

/** A result whose JSON is longer becomes an asset, unless its tool says otherwise (spec X7). */
const MAX_RESULT_CHARS = 32 * 1024

/** How much of a value a preview shows, and how long its JSON may be. */
const PREVIEW = { items: 3, text: 200, chars: 4 * 1024 }

/** What a call came to: its value, and the events of its assets. */
interface Valued {
  events: readonly ConversationEvent[]
  value: unknown
  labels?: LabelTree
}

/** Whether a value's JSON is longer than the results of its tool may be. */
export function isTooLong(
  value: unknown,
  { tool }: { tool: Pick<Tool, 'maxResultChars'> | null },
): boolean {
  const { maxResultChars = MAX_RESULT_CHARS } = tool ?? {}
  return jsonLength(value, maxResultChars) > maxResultChars
}

/** The outcome with its value as an asset where it is too long: what stands for it has a preview. */
export async function offload<T extends Valued>(
  outcome: T,
  plan: Pick<CallPlan, 'name'> & { tool: Pick<Tool, 'maxResultChars'> | null },
  { assets, toolCallId }: { assets: Assets; toolCallId: string },
): Promise<T> {
  const { value } = outcome
  if (!isTooLong(value, plan)) return outcome
  const events: ConversationEvent[] = [...outcome.events]
  const onEvent = (event: ConversationEvent): void => {
    events.push(event)
  }
  const { labels } = outcome
  const scoped = assets.scoped({
    by: 'tool',
    tool: plan.name,
    toolCallId,
    onEvent,
    ...(labels ? { label: () => writeLabel(wholeOf(labels)) } : {}),
  })
  const { ref, size } = await scoped.saveAsset({
    asset_type: OFFLOADED_TYPE,
    asset_name: `${plan.name} result`,
    content_type: 'application/json',
    content: value,
  })
  const about = { assetRef: ref, mimeType: 'application/json', kind: 'file', size } as const
  const stand: OffloadedValue = { ...about, offloaded: true, preview: previewOf(value) }
  return { ...outcome, events, value: stand }
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
