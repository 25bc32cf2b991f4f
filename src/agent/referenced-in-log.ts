import { namedAssets, OWN_IDS } from '../assets/named-assets.ts'
import { checkOptions } from '../core/check-options.ts'
import { type ConversationLog, listAll, readAll } from '../log/conversation-log.ts'

/** Options of {@link referencedInLog}. */
export interface ReferencedInLogOptions {
  /** Ids that the application chose itself: they are looked for as bare text too. Default: none. */
  ownIds?: ReadonlySet<string>
}

/**
 * What `assets.sweep({ referenced })` asks: whether anything in any conversation names the asset. The whole log is read
 * once, and what has been added since each time it is asked, so that an answer is never older than the question.
 */
export function referencedInLog(
  log: ConversationLog,
  options?: ReferencedInLogOptions,
): (assetId: string) => Promise<boolean> {
  const { ownIds } = checkOptions('referencedInLog', options, { ownIds: OWN_IDS })
  const named = new Set<string>()
  const read = new Map<string, { position: number; updatedAt: string }>()

  async function readNew(): Promise<void> {
    for await (const { id, namespace, updatedAt } of listAll(log, { allNamespaces: true })) {
      const key = JSON.stringify([namespace, id])
      const seen = read.get(key)
      // What was added within the same tick of the clock looks unchanged: only older conversations are passed over.
      if (seen?.updatedAt === updatedAt && Date.now() - Date.parse(updatedAt) > CLOCK_MS) continue
      let position = seen?.position ?? 0
      for await (const record of readAll(log.scoped(namespace), id, position)) {
        position = record.position
        // That an asset was made names nothing; what names it are the messages.
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

/** Clocks of writers in other processes may be this far behind. */
const CLOCK_MS = 60_000
