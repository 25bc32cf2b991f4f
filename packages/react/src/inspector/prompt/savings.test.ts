import type { AssetCreated } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { message, stateOf } from '../../testing/messages.ts'
import { savingsOf } from './savings.ts'

const created = (assetId: string, change: Partial<AssetCreated>) =>
  ({
    type: 'ASSET_CREATED',
    payload: {
      assetId,
      ref: `asset://${assetId}`,
      mime: 'image/png',
      kind: 'image',
      by: 'tool',
      ...change,
    },
  }) as const

const sizes = { promptBytes: 1_000, mediaBytes: 0 }

describe('savingsOf', () => {
  const state = stateOf(
    message({ id: 'ask' }),
    created('a', { size: 3_000, digest: 'd1' }),
    message({ id: 'first' }),
    created('b', { size: 600, structured: true }),
    created('same', { size: 3_000, digest: 'd1' }),
    message({ id: 'second' }),
  )

  it('counts what existed when the model was called, each body once', () => {
    expect(savingsOf(state, 'first', sizes)).toEqual({ assets: 1, byValue: 1_000 + 4_000 })
    expect(savingsOf(state, 'second', sizes)).toEqual({ assets: 3, byValue: 1_000 + 4_000 + 600 })
  })

  it('does not count twice what the prompt shows', () => {
    const shown = savingsOf(state, 'first', { promptBytes: 5_000, mediaBytes: 4_000 })
    expect(shown.byValue).toBe(1_000 + 4_000)
  })
})
