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

/** Returns each text about references, and the metadata of each asset, only once: where it is first needed. */
export class FirstMentions {
  readonly #guide: (topic: PlacedTopic) => string | null
  readonly #assetOf: (ref: string) => AssetCreated | undefined
  readonly #topics = new Set<PlacedTopic>()
  /** The references of the assets whose metadata the model has seen. */
  readonly #seen = new Set<string>()

  constructor(
    guide: (topic: PlacedTopic) => string | null,
    assetOf: (ref: string) => AssetCreated | undefined,
  ) {
    this.#guide = guide
    this.#assetOf = assetOf
  }

  /** Returns the text on a topic; empty if it was added before. */
  topic(topic: PlacedTopic): TextPart[] {
    if (this.#topics.has(topic)) return []
    this.#topics.add(topic)
    const text = this.#guide(topic)
    return text ? [{ type: 'text', text }] : []
  }

  /** Returns the metadata of assets that are named for the first time. */
  metas(names: ReadonlySet<string>): TextPart[] {
    if (names.size === 0) return []
    const fresh = [...names].flatMap((name): JsonObject[] => {
      const meta = this.#seen.has(name) ? undefined : this.#assetOf(name)?.meta
      if (meta) this.#seen.add(name)
      return meta ? [meta] : []
    })
    const text = metasBlock(fresh)
    return [...this.topic('assets'), ...(text === null ? [] : [{ type: 'text' as const, text }])]
  }

  /** Notes that the model has already seen the metadata of an asset. */
  seen(name: string): void {
    this.#seen.add(name)
  }
}
