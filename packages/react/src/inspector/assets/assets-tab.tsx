import { parseAssetRef } from 'byref/client'
import { useMemo } from 'react'
import { useConversation } from '../../app/conversation-context.tsx'
import { useView } from '../../app/navigation.tsx'
import { AssetDetail } from './asset-detail.tsx'
import { AssetGallery } from './asset-gallery.tsx'
import { conversationAssets } from './conversation-assets.ts'

/** Renders the list of the conversation's assets, or the open asset. */
export function AssetsTab() {
  const { asset } = useView()
  const assets = useConversation((state) => state.assets)
  const messages = useConversation((state) => state.messages)
  const entries = useMemo(() => conversationAssets({ assets, messages }), [assets, messages])
  if (asset) {
    const entry = entries.find(({ id }) => id === asset) ?? null
    return <AssetDetail key={asset} id={asset} entry={entry} />
  }
  const edited = new Set(
    assets.flatMap(({ previous }) => (previous ? [parseAssetRef(previous)?.id] : [])),
  )
  // A file with several versions is listed once, as the newest.
  return <AssetGallery entries={entries.filter(({ id }) => !edited.has(id))} />
}
