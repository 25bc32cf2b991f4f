import { describe, expect, it } from 'vitest'
import type { AssetCreated } from '../core/events/events.ts'
import { embeddedMedia } from './mentions.ts'

describe('embeddedMedia', () => {
  it('looks up a limited number of assets that the conversation does not know', () => {
    const known = new Map(
      Array.from({ length: 1_200 }, (_, i) => [
        `asset://k${i}`,
        { ref: `asset://k${i}` } as AssetCreated,
      ]),
    )
    const text = Array.from({ length: 1_200 }, (_, i) => `<|asset://x${i}|><|asset://k${i}|>`).join(
      '',
    )
    expect(embeddedMedia(text, known, new Set())).toHaveLength(2_200)
  })
})
