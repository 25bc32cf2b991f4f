import type { AssetCreated, ConversationState } from 'byref/client'
import { parseAssetRef, readMetadata } from 'byref/client'
import { visibleText } from '../../ui/visible-text.ts'

/** An asset that the conversation made or was given. */
export interface AssetEntry {
  id: string
  ref: string
  kind: 'image' | 'audio' | 'video' | 'file'
  mime: string
  name: string | null
  /** The event that created it. Null for an attached asset. */
  created: AssetCreated | null
  /** The message that it is attached to. */
  attachedTo: string | null
}

/** Returns every asset of a conversation once, newest first: those that it created and those that were attached. */
export function conversationAssets({
  assets,
  messages,
}: Pick<ConversationState, 'assets' | 'messages'>): AssetEntry[] {
  const entries = new Map<string, AssetEntry>()
  for (const created of assets) {
    const { assetId: id, ref, kind, mime, name = null } = created
    entries.set(id, { id, ref, kind, mime, name, created, attachedTo: null })
  }
  for (const message of messages) {
    for (const { assetRef, kind, mimeType, fileName = null } of readMetadata(message).attachments) {
      const id = parseAssetRef(assetRef)?.id
      if (!id) continue
      const known = entries.get(id)
      const entry = known ?? {
        id,
        ref: assetRef,
        kind,
        mime: mimeType,
        name: fileName,
        created: null,
      }
      entries.set(id, { ...entry, name: entry.name ?? fileName, attachedTo: message.id })
    }
  }
  return [...entries.values()]
    .map((entry) => ({ ...entry, name: entry.name && visibleText(entry.name) }))
    .reverse()
}
