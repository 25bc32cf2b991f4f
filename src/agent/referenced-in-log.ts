import { namedAssets, OWN_IDS } from '../assets/named-assets.ts'
import { checkOptions } from '../core/check-options.ts'
import { type ConversationLog, listAll, readAll } from '../log/conversation-log.ts'

/** Options of {@link referencedInLog}. */
export interface ReferencedInLogOptions {
  /** Asset ids that the application chose itself. These are also found as plain text. Default: none. */
  ownIds?: ReadonlySet<string>
}

/**
 * Returns the function for `assets.sweep({ referenced })`. It tells whether any conversation refers to the
 * asset. The first call reads the whole log. Each later call reads what was added since, so an answer is
 * always current.
 */
export function referencedInLog(
  log: ConversationLog,
  options?: ReferencedInLogOptions,
): (assetId: string) => Promise<boolean> {
  const { ownIds } = checkOptions('referencedInLog', options, { ownIds: OWN_IDS })
  const named = new Set<string>()
  const read = new Map<string, { position: number; updatedAt: string }>()

  async function readNew(): Promise<void> {
    for await (const summary of listAll(log, { allNamespaces: true })) {
      const { id, namespace, createdAt, updatedAt } = summary
      // A deleted conversation may have been created again.
      const key = JSON.stringify([namespace, id, createdAt])
      const seen = read.get(key)
      // A change within the same clock tick leaves updatedAt the same, so only older conversations are
      // skipped.
      if (seen?.updatedAt === updatedAt && Date.now() - Date.parse(updatedAt) > CLOCK_MS) continue
      let position = seen?.position ?? 0
      for await (const record of readAll(log.scoped(namespace), id, position)) {
        position = record.position
        // Creating an asset is not a reference to it. Messages refer to it.
        if (record.event.type === 'ASSET_CREATED') continue
        for (const assetId of namedAssets(record.event, { ownIds })) named.add(assetId)
      }
      read.set(key, { position, updatedAt })
    }
  }

  return async (assetId) => {
    if (named.has(assetId)) return true
    await readNew()
    return named.has(assetId)
  }
}

/** Clocks of other writing processes may lag by this much. */
const CLOCK_MS = 60_000
