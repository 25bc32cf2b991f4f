import { describe, expect, it } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { PNG } from '../../assets/fixtures/stores.ts'
import { saveModelFiles } from './log-answer.ts'

const { signal } = new AbortController()

describe('saveModelFiles', () => {
  it('saves bytes and base64 as attachments, with the type of their content', async () => {
    const assets = createAssets()
    const files = [
      { mediaType: 'image/jpeg', data: PNG.toString('base64') },
      { mediaType: 'image/png', data: new Uint8Array(PNG) },
    ]
    const { events, attachments } = await saveModelFiles(
      { files, text: '' },
      {
        assets,
        signal: signal,
        messageId: 'm1',
      },
    )
    expect(attachments).toEqual([
      { assetRef: expect.stringMatching(/^asset:/), mimeType: 'image/png', kind: 'image' },
      { assetRef: expect.stringMatching(/^asset:/), mimeType: 'image/png', kind: 'image' },
    ])
    expect(events.map(({ type, payload }) => [type, payload.by])).toEqual([
      ['ASSET_CREATED', 'agent'],
      ['ASSET_CREATED', 'agent'],
    ])
  })

  it('reports what does not decode, and keeps the other files', async () => {
    const files = [
      { mediaType: 'image/png', data: '***' },
      { mediaType: 'no type', data: new Uint8Array(PNG) },
    ]
    const { events, attachments } = await saveModelFiles(
      { files, text: '' },
      {
        assets: createAssets(),
        signal,
        messageId: 'm1',
      },
    )
    expect(events.map(({ type }) => type).sort()).toEqual(['ASSET_CREATED', 'ASSET_ERROR'])
    expect(attachments).toHaveLength(1)
  })
})
