import type { AssetInfo, Assets } from '../assets/assets.ts'
import { extractAssets } from '../assets/extract.ts'
import type { ConversationEvent } from '../content/events.ts'
import type { Attachment, Message } from '../content/message.ts'
import { type MessageInput, toMessage } from '../content/to-message.ts'
import { ByrefError } from '../errors.ts'

/** Messages ready for the log. */
export interface Accepted {
  events: ConversationEvent[]
  messageIds: string[]
}

/**
 * Makes the events of messages that come in: normal form, bodies in them as assets, attachments completed from what
 * is known of their assets.
 *
 * @param known The references that the conversation has noted already.
 * @throws ByrefError `invalid_message`, `asset_not_found` for an attachment that names nothing.
 */
export async function acceptMessages(
  inputs: readonly MessageInput[],
  assets: Assets,
  known: ReadonlySet<string>,
): Promise<Accepted> {
  if (inputs.length === 0) {
    throw new ByrefError('invalid_message', 'A run needs at least one message')
  }
  const noted = new Set(known)
  const accepted: Accepted = { events: [], messageIds: [] }
  for (const input of inputs) {
    const message = toMessage(input)
    const by = message.sender.participant_role === 'user' ? 'user' : 'system'
    const { value: content, created } = await extractAssets(message.content, { assets, by })
    for (const payload of created) {
      noted.add(payload.ref)
      accepted.events.push({ type: 'ASSET_CREATED', payload })
    }
    const infos = await Promise.all(
      attachmentsOf(message).map((item) => assets.info(item.assetRef)),
    )
    for (const info of infos.filter(({ ref }) => !noted.has(ref))) {
      noted.add(info.ref)
      accepted.events.push(attached(info))
    }
    accepted.events.push({
      type: 'NEW_MESSAGE',
      payload: completed({ ...message, content }, infos),
    })
    accepted.messageIds.push(message.id)
  }
  return accepted
}

/** An attachment as people may write it: only the reference has to be there. */
type LooseAttachment = Partial<Attachment> & { assetRef: string }

function attachmentsOf({ metadata }: Message): LooseAttachment[] {
  const attachments: unknown = metadata.attachments ?? []
  const valid =
    Array.isArray(attachments) && attachments.every((item) => typeof item?.assetRef === 'string')
  if (valid) return attachments
  throw new ByrefError('invalid_message', 'metadata.attachments must be a list of { assetRef, … }')
}

function completed(message: Message, infos: readonly AssetInfo[]): Message {
  if (infos.length === 0) return message
  const attachments = attachmentsOf(message).map((item, i): Attachment => {
    const { kind, ref, mime, name } = infos[i] as AssetInfo
    return {
      kind,
      mimeType: mime,
      ...(name === null ? {} : { fileName: name }),
      ...item,
      // The whole reference, also where a bare id was given.
      assetRef: ref,
    }
  })
  return { ...message, metadata: { ...message.metadata, attachments } }
}

/** An asset that was there before the conversation, noted in it as attached by its user. */
function attached({ assetId, ref, mime, kind, size, digest, name }: AssetInfo): ConversationEvent {
  const payload = { assetId, ref, mime, kind, by: 'user' as const, size, digest }
  return { type: 'ASSET_CREATED', payload: name === null ? payload : { ...payload, name } }
}
