import { type AssetInfo, parseAssetRef } from 'byref/client'
import { useConversation } from '../app/conversation-context.tsx'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'

/** Returns the versions of an asset, oldest first, and follows the edits of the open conversation. */
export function useVersions(id: string) {
  const { versionsQuery, isOffline } = useServer()
  const made = useConversation(
    ({ assets }) => assets.filter(({ previous }) => previous !== undefined).length,
  )
  return useQuery({ ...versionsQuery(id, made), enabled: !isOffline })
}

/** Returns the version that this one was made from. Undefined for the first one. */
export function versionBefore(versions: readonly AssetInfo[], id: string): AssetInfo | undefined {
  const { previous } = versions.find(({ assetId }) => assetId === id) ?? {}
  return previous === undefined
    ? undefined
    : versions.find(({ assetId }) => assetId === parseAssetRef(previous)?.id)
}

/** Returns the newest version that was made from this one. Undefined if there is none. */
export function versionAfter(versions: readonly AssetInfo[], id: string): AssetInfo | undefined {
  return versions.findLast(
    ({ previous }) => previous !== undefined && parseAssetRef(previous)?.id === id,
  )
}

/** Returns the number of a version, from 1. */
export function versionNumber(versions: readonly AssetInfo[], id: string): number {
  return versions.findIndex(({ assetId }) => assetId === id) + 1
}
