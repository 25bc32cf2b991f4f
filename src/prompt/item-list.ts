import { itemTokens } from './item-tokens.ts'
import { bytesSent, mediaOfItem, type TranscriptItem } from './transcript-item.ts'

/** The items of a transcript, which only grows at its end, and what they come to. */
export interface ItemList {
  readonly items: readonly TranscriptItem[]
  /** About how many tokens there are, by `estimateTokens`. */
  readonly tokens: number
  /** How many different bodies there are, and about how many bytes of them are sent. */
  readonly bodies: { readonly parts: number; readonly bytes: number }
  push(item: TranscriptItem): void
}

/** Begins with no items. */
export function createItemList(): ItemList {
  const items: TranscriptItem[] = []
  const bodies = { parts: 0, bytes: 0 }
  const seen = new Set<string>()
  let tokens = 0
  return {
    items,
    bodies,
    get tokens() {
      return tokens
    },
    push(item) {
      items.push(item)
      tokens += itemTokens(item)
      for (const part of mediaOfItem(item)) {
        if (seen.has(part.ref)) continue
        seen.add(part.ref)
        bodies.parts++
        bodies.bytes += bytesSent(part)
      }
    },
  }
}
