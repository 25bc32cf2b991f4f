import type { Assets } from '../../assets/assets-contract.ts'
import { extractAssets } from '../../assets/extract/extract.ts'
import type { AssetEvent } from '../../core/events/events.ts'
import type { Attachment } from '../../core/messages/message.ts'
import type { ModelResponse } from './read-response.ts'

/** A model's files and text, as they are logged. */
export interface SavedAnswer {
  events: AssetEvent[]
  attachments: Attachment[]
  /** The text, with a reference in place of each data URL. */
  text: string
}

/**
 * Saves the files that a model generated, and the data URLs in its text, as assets. If one cannot be decoded, only its
 * `ASSET_ERROR` remains.
 */
export async function saveModelFiles(
  { files, text }: Pick<ModelResponse, 'files' | 'text'>,
  { assets, signal, messageId }: { assets: Assets; signal: AbortSignal; messageId: string },
): Promise<SavedAnswer> {
  const events: AssetEvent[] = []
  const onEvent = (event: AssetEvent): void => {
    if (event.type === 'ASSET_CREATED') event.payload.messageId = messageId
    events.push(event)
  }
  const scoped = assets.scoped({ by: 'agent', onEvent })
  const found = files.map(({ mediaType, data }) => ({ type: 'file', mediaType, data }))
  const { value } = await extractAssets([text, ...found], { assets: scoped, by: 'agent', signal })
  const [savedText, ...saved] = value as [SavedText, ...SavedFile[]]
  const attachments = saved.flatMap(({ type, ...file }) => (file.assetRef ? [file] : []))
  return { events, attachments, text: textOf(savedText) }
}

type SavedFile = { type: 'file' } & (Attachment | { assetRef?: undefined })
/** Returns the reference that replaces a text which is nothing but a data URL. */
type SavedText = string | { assetRef?: string; assetError?: { message: string } }

function textOf(saved: SavedText): string {
  if (typeof saved === 'string') return saved
  const { assetRef, assetError } = saved
  return assetRef === undefined ? `[asset error: ${assetError?.message}]` : `<|${assetRef}|>`
}
