import type { AssetCreated } from '../core/events/events.ts'
import type { JsonObject } from '../core/json/json.ts'
import { metasBlock } from '../core/messages/metas-block.ts'
import type { ReferenceGuideOptions } from '../core/messages/reference-guide.ts'

import type { TextPart } from './transcript-item.ts'

/** What the model is told of references where it first applies, each once. */
export type PlacedTopic = Extract<
  keyof ReferenceGuideOptions,
  'assets' | 'variables' | 'results' | 'reading'
>

/** What the model is told where it first applies, and then never again. */
export interface ToldOnce {
  /** What is to be said of a topic; nothing where it was said. */
  topic(topic: PlacedTopic): TextPart[]
  /** The metas of assets that are named for the first time. */
  metas(names: ReadonlySet<string>): TextPart[]
  /** The model has seen an asset's meta in another way. */
  seen(name: string): void
}

/** Begins with nothing told. */
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
