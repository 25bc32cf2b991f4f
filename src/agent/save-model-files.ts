import type { Assets } from '../assets/assets.ts'
import type { ConversationEvent } from '../content/events.ts'
import type { Attachment } from '../content/message.ts'
import type { ModelFile } from './read-response.ts'

/** Makes assets of the media that a model generated: the events to log and the attachments of its message. */
export async function saveModelFiles(
  files: readonly ModelFile[],
  assets: Assets,
): Promise<{ events: ConversationEvent[]; attachments: Attachment[] }> {
  const events: ConversationEvent[] = []
  const scoped = assets.scoped({ by: 'agent', onEvent: (event) => void events.push(event) })
  const attachments: Attachment[] = []
  for (const { mediaType, data } of files) {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : data
    const { ref, mime, kind } = await scoped.save(bytes, mediaType)
    attachments.push({ kind, assetRef: ref, mimeType: mime })
  }
  return { events, attachments }
}
