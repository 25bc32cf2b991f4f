import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import type { MessageInput } from '../core/messages/to-message.ts'
import { acceptMessages } from './accept-messages.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

async function accept(input: MessageInput, assets = createAssets({})) {
  const { events } = await acceptMessages([input], assets, new Set())
  const message = events.find((event) => event.type === 'NEW_MESSAGE')?.payload
  const created = events.flatMap((event) => (event.type === 'ASSET_CREATED' ? event.payload : []))
  return { content: message?.content as Record<string, unknown>[], created, events }
}

describe('acceptMessages', () => {
  it.each([
    ['user', 'user'],
    ['assistant', 'agent'],
    ['tool', 'tool'],
    ['plugin', 'system'],
    ['constructor', 'system'],
  ])('attributes what a message of role %s contains to %s', async (role, by) => {
    const content = [{ type: 'image', image: new Uint8Array(PNG) }]
    const { created } = await accept({ role, content })
    expect(created).toMatchObject([{ by }])
  })

  it('accepts attachments next to the content, as over HTTP', async () => {
    const attachments = [{ mimeType: 'image/png', dataBase64: PNG.toString('base64') }]
    const { created, events } = await accept({ content: 'Look', attachments })
    const message = events.find((event) => event.type === 'NEW_MESSAGE')?.payload
    expect(message).not.toHaveProperty('attachments')
    expect(message?.metadata.attachments).toMatchObject([{ assetRef: created[0]?.ref }])
    await expect(accept({ content: 'x', attachments: 'none' as never })).rejects.toMatchObject({
      code: 'invalid_message',
    })
  })

  it.each([
    [
      { content: 'x', atachments: [] },
      'Unknown key "atachments" in a message. Did you mean "attachments"?',
    ],
    [{ contnet: 'x' }, 'Did you mean "content"?'],
    [{ role: 'user', parts: [] }, 'Did you mean "content"?'],
    [{ type: 'text', text: 'x', messageType: 'log' }, 'Did you mean "message_type"?'],
    [{ role: 'ai', content: 'x' }, 'write "assistant" instead'],
    [{ sender: { role: 'developer' }, content: 'x' }, 'write "system" instead'],
    [3, 'it must have content'],
  ])('rejects %j, because the model would misread it', async (message, reason) => {
    await expect(accept(message as never)).rejects.toMatchObject({
      code: 'invalid_message',
      message: expect.stringContaining(reason),
    })
  })

  it('keeps unknown keys that are no misspelling', async () => {
    const own = { context: 'a page', date: 'today' }
    const { events } = await accept({ content: 'x', ...own })
    expect(events).toMatchObject([{ type: 'NEW_MESSAGE', payload: own }])
  })

  it('converts each part to the canonical form, with its body by reference', async () => {
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'image', image: new Uint8Array(PNG) },
      { type: 'file', data: PNG.toString('base64'), mediaType: 'image/png' },
      { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'low' } },
      { type: 'file', data: new URL('https://x.example/a.pdf'), mediaType: 'application/pdf' },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'file', file: { file_data: 'data:text/plain;base64,SGk=', filename: 'a.txt' } },
      { type: 'own', x: 1 },
    ]
    const accepted = await accept({ role: 'user', content })
    const ref = expect.stringMatching(/^asset:/)
    expect(accepted.content).toEqual([
      content[0],
      { type: 'image_url', image_url: { url: ref, mimeType: 'image/png' } },
      { type: 'image_url', image_url: { url: ref, mimeType: 'image/png' } },
      content[3],
      { type: 'file', file: { url: 'https://x.example/a.pdf', mimeType: 'application/pdf' } },
      { type: 'input_audio', input_audio: { url: ref, format: 'wav', mimeType: 'audio/wav' } },
      { type: 'file', file: { url: ref, filename: 'a.txt', mimeType: 'text/plain' } },
      content[7],
    ])
    expect(accepted.created.map(({ by }) => by)).toEqual(Array(4).fill('user'))
    expect(accepted.created.at(-1)?.name).toBe('a.txt')
    expect(JSON.stringify(accepted.events)).not.toContain('iVBOR')
  })

  it('rejects a message that names too many assets', async () => {
    const content = Array.from({ length: 10_001 }, (_, i) => `<|asset://x${i}|>`).join('')
    await expect(accept({ role: 'user', content })).rejects.toMatchObject({
      code: 'too_many_assets',
    })
  })

  it('reports a body that does not decode', async () => {
    const part = { type: 'file', data: 'no base64!', mediaType: 'image/png' }
    const { content, events } = await accept({ role: 'user', content: [part] })
    expect(JSON.stringify(content)).toContain('assetError')
    expect(events.map(({ type }) => type)).toContain('ASSET_ERROR')
  })

  it('records what a message names in its text, its parts or as a whole, each once', async () => {
    const assets = createAssets({})
    const [a, b, c, d] = await Promise.all(
      ['a', 'b', 'c', 'd'].map((assetId) => assets.save(PNG, 'image/png', { assetId })),
    )
    const content = [
      { type: 'text', text: `<|${a?.ref}|> and <|${a?.ref}/content|>, <|asset://gone|>` },
      { type: 'image_url', image_url: { url: b?.ref } },
      { type: 'image_url', image_url: { url: 'asset://lost' } },
    ]
    const refs = async (input: MessageInput) =>
      (await accept(input, assets)).created.map(({ ref }) => ref)
    expect(await refs({ role: 'user', content })).toEqual([a?.ref, b?.ref])
    expect(await refs({ role: 'user', content: `See <|${c?.ref}|>` })).toEqual([c?.ref])
    expect(await refs({ role: 'user', content: { asset_id: 'd', field_path: null } })).toEqual([
      d?.ref,
    ])
    expect(await refs({ type: 'data', data: `<|${a?.ref}|>` })).toEqual([])
  })
})
