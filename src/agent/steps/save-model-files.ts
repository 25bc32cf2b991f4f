import type { Assets } from '../../assets/assets-contract.ts'
import { extractAssets } from '../../assets/extract/extract.ts'
import type { AssetEvent } from '../../content/events.ts'
import type { Attachment } from '../../content/message.ts'
import type { ModelFile } from './read-response.ts'

/**
 * Makes assets of the media that a model generated: the events to log and the attachments of its message. One that does
 * not decode is told by its `ASSET_ERROR` alone.
 */
export async function saveModelFiles(
  files: readonly ModelFile[],
  { assets, signal, messageId }: { assets: Assets; signal: AbortSignal; messageId: string },
): Promise<{ events: AssetEvent[]; attachments: Attachment[] }> {
  const events: AssetEvent[] = []
  const onEvent = (event: AssetEvent): void => {
    if (event.type === 'ASSET_CREATED') event.payload.messageId = messageId
    events.push(event)
  }
  const scoped = assets.scoped({ by: 'agent', onEvent })
  const found = files.map(({ mediaType, data }) => ({ type: 'file', mediaType, data }))
  const { value } = await extractAssets(found, { assets: scoped, by: 'agent', signal })
  const saved = value as ({ type: 'file' } & (Attachment | { assetRef?: undefined }))[]
  const attachments = saved.flatMap(({ type, ...file }) => (file.assetRef ? [file] : []))
  return { events, attachments }
}
