import type { AssetInfo } from 'byref/client'
import { useConversationId } from '../app/conversation-context.tsx'
import { useServer } from '../app/server.ts'
import { suggestReference } from '../composer/suggestions.ts'
import { formatCount } from '../ui/format.ts'
import { versionNumber } from './use-versions.ts'
import { type VersionPlace, withVersion } from './version-places.ts'

/** A version to use instead of another. */
export interface Restore {
  versions: readonly AssetInfo[]
  to: AssetInfo
  /** Where the version is named. Null if no saved value names one. */
  place: VersionPlace | null
}

/**
 * Returns a function that uses a version: it writes its reference to the place as a person's data message, or attaches it
 * to the next message. It resolves to whether that worked.
 */
export function useRestore(): (restore: Restore) => Promise<boolean> {
  const { client, tell, tellError } = useServer()
  const conversation = useConversationId()
  return async ({ versions, to, place }) => {
    const version = `version ${formatCount(versionNumber(versions, to.assetId))}`
    const name = to.name ?? 'this file'
    if (place === null || conversation === null) {
      const replaces = versions.map(({ assetId }) => assetId)
      const attachment = { assetRef: to.ref, fileName: to.name ?? undefined }
      const isTaken = suggestReference(attachment, replaces, conversation)
      tell(
        isTaken
          ? `Your next message includes ${version} of ${name}. Say what the agent should do.`
          : 'There is no message box here. Copy the reference of the version instead.',
      )
      return isTaken
    }
    const { kind, instance: _instance, path, assetId, label } = place
    const from = versions.find((one) => one.assetId === assetId)
    try {
      await client.editData(conversation, {
        kind,
        _instance,
        _path: path.length > 0 ? path : undefined,
        data: withVersion(place, { from, to }),
        _outputMethod: 'set',
      })
    } catch (error) {
      tellError(`${label} was not changed.`, error)
      return false
    }
    tell(`${label} is now ${version} of ${name}. Agents see it with their next step.`)
    return true
  }
}
