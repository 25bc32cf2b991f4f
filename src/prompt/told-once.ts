import type { AssetCreated } from '../core/events/events.ts'
import type { JsonObject } from '../core/json/json.ts'
import { metasBlock } from '../core/messages/metas-block.ts'
import type { ReferenceGuideOptions } from '../core/messages/reference-guide.ts'

import type { TextPart } from './transcript-item.ts'

/** The texts about references, each added where it first applies. */
export type PlacedTopic = Extract<
  keyof ReferenceGuideOptions,
  'assets' | 'variables' | 'results' | 'reading'
>

/** Texts that are added once, where they first apply. */
export interface ToldOnce {
  /** Returns the text on a topic; empty if it was added before. */
  topic(topic: PlacedTopic): TextPart[]
  /** Returns the metadata of assets that are named for the first time. */
  metas(names: ReadonlySet<string>): TextPart[]
  /** Notes that the model has already seen the metadata of an asset. */
  seen(name: string): void
}

/** Creates the state with no texts added. */
export function createToldOnce(
  guide: (topic: PlacedTopic) => string | null,
  assetOf: (ref: string) => AssetCreated | undefined,
): ToldOnce {
  const shown = new Set<string>()
  const told = new Set<PlacedTopic>()

  function topic(topic: PlacedTopic): TextPart[] {
    if (told.has(topic)) return []
    told.add(topic)
    const text = guide(topic)
    return text ? [{ type: 'text', text }] : []
  }

  return {
    topic,
    metas(names) {
      if (names.size === 0) return []
      const fresh = [...names].flatMap((name): JsonObject[] => {
        const meta = shown.has(name) ? undefined : assetOf(name)?.meta
        if (meta) shown.add(name)
        return meta ? [meta] : []
      })
      const text = metasBlock(fresh)
      return [...topic('assets'), ...(text === null ? [] : [{ type: 'text' as const, text }])]
    },
    seen(name) {
      shown.add(name)
    },
  }
}
