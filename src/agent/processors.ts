import { toAssetStore } from '../assets/asset-facade.ts'
import type { AssetStore } from '../assets/asset-store.ts'
import type { ResolvedAssetsConfig } from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { type ConversationEvent, isDurable } from '../core/events/events.ts'
import type { Foldable } from '../core/events/fold.ts'
import { writeLabel } from '../core/labels/label.ts'
import type { Session } from '../engine/session.ts'

/** Callbacks for the events of an agent. */
export interface EventHandlers {
  /**
   * Called with every event, in order; the run waits for it. In `ASSET_CREATED`, `payload.base64` and
   * `.dataUrl` are read on demand. If it throws, the run ends with `RUN_ERROR`. `conversation` is null for
   * assets saved outside a conversation.
   */
  onEvent?(
    event: ConversationEvent,
    info: { conversation: string | null; position?: number },
  ): unknown
}

/** What a processor receives with the event. Each asset that it saves causes an `ASSET_CREATED` event. */
export interface ProcessorContext {
  conversation: string
  assetStore: AssetStore
  resolveAsset(ref: string): Promise<{ bytes: Uint8Array; mime: string }>
  assetConfig: ResolvedAssetsConfig
  assets: Assets
}

/** Receives the events of one type, and can add events. */
export interface Processor {
  eventType: ConversationEvent['type']
  /**
   * Called once per event, after the event is in the log, in the process where it happened. If the process crashes
   * first, the produced events are lost. Produced events are appended or streamed, and other processors receive them.
   * If it throws, the run fails.
   */
  process(
    event: ConversationEvent,
    deps: { context: ProcessorContext },
  ):
    | { producedEvents?: readonly ConversationEvent[] }
    | undefined
    | Promise<{ producedEvents?: readonly ConversationEvent[] } | undefined>
}

/** The processor that saved the asset of an event. A processor does not receive its own events. */
const savedBy = new WeakMap<ConversationEvent, Processor>()

/** Passes one event to the handlers, then to the processors. */
export async function callHandlers(
  { onEvent, processors }: EventHandlers & { processors: readonly Processor[] },
  session: Session,
  { event, position }: Foldable,
  assets: Assets,
): Promise<void> {
  let name = 'callbacks.onEvent'
  try {
    await onEvent?.(event, { conversation: session.id, position })
    name = 'A processor'
    for (const processor of processors) {
      if (processor.eventType !== event.type || savedBy.get(event) === processor) continue
      await runProcessor(processor, session, event, assets)
    }
  } catch (cause) {
    if (cause instanceof ByrefError) throw cause
    const message = `${name} failed on ${event.type}: ${errorMessage(cause)}`
    throw new ByrefError('run_failed', message, { cause })
  }
}

/** Runs a processor. The assets that it saves are announced before its events, even if it fails. */
async function runProcessor(
  processor: Processor,
  session: Session,
  event: ConversationEvent,
  assets: Assets,
): Promise<void> {
  const saved: ConversationEvent[] = []
  const scopedAssets = assets.scoped({ by: 'system', onEvent: (one) => saved.push(one) })
  let produced: readonly ConversationEvent[] = []
  try {
    const context: ProcessorContext = {
      conversation: session.id,
      assetStore: toAssetStore(scopedAssets),
      resolveAsset: (ref) => scopedAssets.get(ref),
      assetConfig: scopedAssets.config,
      assets: scopedAssets,
    }
    const result = await processor.process(event, { context })
    produced = result?.producedEvents ?? []
  } finally {
    const announced = new Set(produced.map(createdRef))
    const events = saved.filter((one) => !announced.has(createdRef(one) ?? ''))
    const durable = [...events, ...produced.filter(isDurable)].map((one) => seenAll(one, session))
    for (const one of durable.slice(0, events.length)) savedBy.set(one, processor)
    if (durable.length > 0) await session.append(() => ({ events: durable }))
  }
  for (const one of produced) if (!isDurable(one)) session.stream(one)
}

function createdRef(event: ConversationEvent): string | null {
  return event.type === 'ASSET_CREATED' ? event.payload.ref : null
}

/**
 * Labels a processor's event that has no label. A processor sees every value, so it gets the joined label of all
 * values.
 */
function seenAll(event: ConversationEvent, { labels }: Session): ConversationEvent {
  if (!labels) return event
  if (event.type === 'NEW_MESSAGE' && event.label === undefined)
    return { ...event, label: writeLabel(labels.everything()) }
  if (event.type !== 'ASSET_CREATED' || event.payload.label !== undefined) return event
  return { ...event, payload: { ...event.payload, label: writeLabel(labels.everything()) } }
}
