import { createdPayload } from '../assets/asset-events.ts'
import { findAsset } from '../assets/asset-facade.ts'
import type { AssetInfo } from '../assets/asset-store.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { extractAssets } from '../assets/extract/extract.ts'
import { mapInParallel } from '../assets/in-parallel.ts'
import { offload } from '../boundary/store.ts'
import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import type { AssetEvent, AssetOrigin, ConversationEvent } from '../core/events/events.ts'
import { isPlainObject } from '../core/json/json.ts'
import { walkFields } from '../core/json/walk-fields.ts'
import type { WrittenLabel } from '../core/labels/label.ts'
import { canonicalPart, partType } from '../core/messages/canonical-part.ts'
import { checkKeys } from '../core/messages/check-keys.ts'
import { fromHistory } from '../core/messages/from-history.ts'
import type { Attachment, Message, MessageMetadata } from '../core/messages/message.ts'
import { readParts } from '../core/messages/message-parts.ts'
import { isOffloaded } from '../core/messages/offloaded.ts'
import { resultCall } from '../core/messages/results.ts'
import { type MessageInput, toMessage } from '../core/messages/to-message.ts'
import { type AssetRef, formatAssetRef, isAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import { findAssetUrls, findEmbeddedRefs } from '../core/refs/embedded-refs.ts'
import type { IncomingLabels } from '../policies/trust/incoming-labels.ts'

/** Messages ready for the log. */
export interface Accepted {
  events: ConversationEvent[]
  messageIds: string[]
}

/**
 * Turns incoming messages into events for the log. Messages are normalized, and their parts are stored in one
 * form ({@link canonicalPart}). Bodies become assets, and attachments get the missing fields from their
 * assets. Every asset that a message refers to is recorded in the conversation. A reference to a missing asset
 * is not an error; the model sees that it is unresolved.
 *
 * @param known The references that the conversation has already recorded.
 * @param labels The labels of all the messages; null if trust is off.
 * @throws ByrefError `invalid_message`; `too_many_assets`; `invalid_reference` for an attachment whose `assetRef` is not a
 *   reference
 */
export async function acceptMessages(
  inputs: readonly MessageInput[],
  assets: Assets,
  known: ReadonlySet<string>,
  labels: IncomingLabels | null = null,
): Promise<Accepted> {
  if (inputs.length === 0) {
    throw new ByrefError('invalid_message', 'No messages given. Pass at least one message.')
  }
  const noted = new Set(known)
  const accepted: Accepted = { events: [], messageIds: [] }
  for (const input of fromHistory(inputs)) {
    checkKeys(input)
    const message = toMessage(input)
    checkNamed(message)
    const fileLabel = labels?.ofFile(message)
    const { events, ...stored } = await extracted(
      message,
      fileLabel ? assets.scoped({ label: () => fileLabel }) : assets,
    )
    const { content, metadata } = stored
    const attachments = named(metadata.attachments ?? [])
    for (const event of events) {
      if (event.type === 'ASSET_CREATED') noted.add(event.payload.ref)
      accepted.events.push(cameWith(event, message, labels))
    }
    const infos = await mapInParallel(attachments, INFOS_AT_ONCE, ({ assetRef }) =>
      findAsset(assetRef, assets),
    )
    const mentioned = await mentionedAssets({ ...message, content }, assets)
    for (const info of [...infos, ...mentioned]) {
      if (!info || noted.has(info.ref)) continue
      noted.add(info.ref)
      const event = await attached(info, assets)
      accepted.events.push(cameWith(event, message, labels, info.label))
    }
    const payload = completed({ ...message, ...stored }, attachments, infos)
    const label = labels?.of(payload)
    accepted.events.push(defined({ type: 'NEW_MESSAGE', payload, label: label ?? undefined }))
    accepted.messageIds.push(message.id)
  }
  return accepted
}

/** Maximum number of assets that a message may name. */
const MAX_NAMED = 10_000

function checkNamed({ content, metadata: { attachments = [] } }: Message): void {
  const texts = typeof content === 'string' ? content.match(/asset:\/\/|"asset_id"/gi) : null
  const count = Math.max(attachments.length, texts?.length ?? 0)
  if (count <= MAX_NAMED) return
  const error = `The message names ${count} assets, and at most ${MAX_NAMED} are allowed`
  throw new ByrefError('too_many_assets', error)
}

/** Adds the message's id, and its label if trust is on, to the event of an asset. */
function cameWith<Event extends ConversationEvent>(
  event: Event,
  message: Message,
  labels: IncomingLabels | null,
  kept?: WrittenLabel,
): Event {
  if (event.type !== 'ASSET_CREATED') return event
  event.payload.messageId = message.id
  if (labels) event.payload.label = labels.ofFile(message, kept)
  return event
}

/** The origin of the bodies in a message, by the sender's role. Other roles count as `system`. */
const MAKERS: ReadonlyMap<string, AssetOrigin> = new Map([
  ['user', 'user'],
  ['assistant', 'agent'],
  ['tool', 'tool'],
])

/**
 * Returns content and metadata with their bodies replaced by assets, and the events of these assets. A long result of a
 * call becomes an asset, too. Data stays, because it may have a schema.
 */
async function extracted(
  message: Message,
  assets: Assets,
): Promise<Pick<Message, 'content' | 'content_type' | 'metadata'> & { events: AssetEvent[] }> {
  const { content, content_type, metadata, sender } = message
  const by = MAKERS.get(sender.participant_role) ?? 'system'
  const events: AssetEvent[] = []
  const isParts = content_type === 'multipart/mixed' && Array.isArray(content)
  const scoped = assets.scoped({ onEvent: (event) => events.push(event) })
  const { value } = await extractAssets(
    { content: isParts ? content.map(canonicalPart) : content, metadata },
    { assets: scoped, by },
  )
  const found = value as { content: unknown; metadata: MessageMetadata }
  const stored = isParts ? (found.content as unknown[]).map(storedPart) : found.content
  const same = { content: stored, content_type, metadata: found.metadata, events }
  const toolCallId = resultCall(message)
  if (toolCallId === null || content_type === 'data') return same
  const call = { tool: sender.participant_id, toolCallId }
  const kept = await offload(call, { value: stored, events: [] }, () => scoped)
  if (kept.value === stored) return same
  return { ...same, content: kept.value, content_type: 'application/json' }
}

const TYPES_BY_KIND = {
  image: 'image_url',
  audio: 'input_audio',
  video: 'file',
  file: 'file',
} as const

/** Returns the part with the URL of its new asset. The part's type follows from the kind of the asset. */
function storedPart(part: unknown): unknown {
  if (!isPlainObject(part)) return part
  const { type, [partType(part)]: holder, ...rest } = part
  if (!isPlainObject(holder) || !isPlainObject(holder.url)) return part
  const { assetRef, kind, mimeType } = holder.url
  if (typeof assetRef !== 'string') return part
  const as = TYPES_BY_KIND[kind as keyof typeof TYPES_BY_KIND] ?? type
  return { type: as, [as]: { ...holder, url: assetRef, mimeType }, ...rest }
}

type NamedAttachment = Partial<Attachment> & Pick<Attachment, 'assetRef'>

function named(attachments: unknown): NamedAttachment[] {
  for (const item of Array.isArray(attachments) ? attachments : [null]) {
    if (typeof item?.assetRef === 'string') continue
    const why: unknown = item?.assetError?.message
    throw new ByrefError(
      'invalid_message',
      typeof why === 'string'
        ? `An attachment is invalid: ${why}`
        : 'attachments must be a list of { assetRef, … } or of bodies, such as a File, { mimeType, dataBase64 }, or await openAsBlob(path) of node:fs. A path alone is not read.',
    )
  }
  return attachments as NamedAttachment[]
}

function completed(
  message: Message,
  given: readonly NamedAttachment[],
  infos: readonly (AssetInfo | null)[],
): Message {
  if (infos.length === 0) return message
  const attachments = given.map((item, i): Attachment => {
    const info = infos[i] ?? null
    if (!info) return { ...UNRESOLVED, ...item, assetRef: wholeRef(item.assetRef) }
    const { kind, ref, mime, name } = info
    return defined({ kind, mimeType: mime, fileName: name ?? undefined, ...item, assetRef: ref })
  })
  return { ...message, metadata: { ...message.metadata, attachments } }
}

/** Default fields of an attachment whose asset does not exist. */
const UNRESOLVED = { kind: 'file', mimeType: 'application/octet-stream' } as const

/** Returns the full reference, even for a bare id. */
function wholeRef(ref: string): string {
  return isAssetRef(ref) ? ref : formatAssetRef({ id: ref })
}

/** Returns the event for an asset that existed before, recorded as attached by the user. */
async function attached(info: AssetInfo, assets: Assets): Promise<ConversationEvent> {
  const meta = info.structured ? await assets.meta(info.ref) : undefined
  return { type: 'ASSET_CREATED', payload: createdPayload(info, { by: 'user' }, meta) }
}

const INFOS_AT_ONCE = 16
const UNKNOWN: ReadonlySet<string> = new Set(['asset_not_found', 'invalid_reference'])

/**
 * Returns the assets that a message's content refers to, each once, in the order of the message. Missing
 * assets are left out.
 */
async function mentionedAssets(
  message: Pick<Message, 'content' | 'content_type'>,
  assets: Pick<Assets, 'info'>,
): Promise<AssetInfo[]> {
  const found = await mapInParallel([...namesIn(message)], INFOS_AT_ONCE, async (ref) => {
    try {
      return await assets.info(ref)
    } catch (error) {
      if (error instanceof ByrefError && UNKNOWN.has(error.code)) return null
      throw error
    }
  })
  return found.filter((info) => info !== null)
}

/**
 * Returns the references in a message's content: in its text, in its parts, or the content as a whole. Of data, only the
 * values that became assets.
 */
function namesIn({
  content,
  content_type,
}: Pick<Message, 'content' | 'content_type'>): Set<string> {
  if (content_type === 'asset_ref') return new Set(wholeRefs([content]))
  if (content_type === 'data') return new Set(wholeRefs(offloadedIn(Object(content).data)))
  const parts = typeof content === 'string' ? [content] : content
  return new Set(
    readParts(parts).flatMap((part) =>
      part.type === 'media'
        ? wholeRefs([part.ref])
        : wholeRefs([
            ...findEmbeddedRefs(part.text).map(({ ref }) => ref),
            ...findAssetUrls(part.text),
          ]),
    ),
  )
}

/** Returns the references of values in data that are stored as assets, because a model needs tools to read them. */
export function offloadedIn(data: unknown): string[] {
  const refs: string[] = []
  walkFields({ data }, '/', (_, value) => {
    if (isOffloaded(value)) refs.push(value.assetRef)
    return undefined
  })
  return refs
}

/** Returns references to whole assets, without field paths. */
function wholeRefs(refs: readonly unknown[]): string[] {
  return refs.flatMap((ref) => {
    const parts = isAssetRef(ref) ? parseAssetRef(ref as AssetRef) : null
    return parts ? formatAssetRef({ ...parts, fieldPath: [] }) : []
  })
}

/** Returns the messages among events. */
export function messagesIn(events: readonly ConversationEvent[]): Message[] {
  return events.flatMap((event) => (event.type === 'NEW_MESSAGE' ? [event.payload] : []))
}
