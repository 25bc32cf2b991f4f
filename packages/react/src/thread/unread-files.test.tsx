import { screen } from '@testing-library/react'
import type { ConversationEvent } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { message, stateOf } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { UnreadFiles } from './unread-files.tsx'

beforeEach(() => {
  vi.stubGlobal('fetch', async () => Response.json({ error: {} }, { status: 404 }))
})

const failed = (message: string, ref?: string): ConversationEvent => ({
  type: 'ASSET_ERROR',
  payload: { code: 'storage_failed', message, by: 'system', ...(ref ? { ref } : {}) },
})

describe('UnreadFiles', () => {
  it('names each file that could not be read once, with the last error', async () => {
    const state = stateOf(
      message({ content: 'Look' }),
      failed('no such body', 'asset://a'),
      failed('timed out', 'asset://a'),
      failed('it does not decode'),
    )
    await renderInApp(<UnreadFiles />, { state })
    expect(screen.getAllByText(/The model was not shown/)).toHaveLength(1)
    expect(screen.getByText('timed out')).toBeTruthy()
  })
})
