import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { defineTool } from '../boundary/tool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

/** A model that makes one call and then ends, with the name of this provider. */
const modelOf = (provider: string, modelId: string) => ({
  ...scriptedModel([{ calls: [{ name: 'draw', arguments: {} }] }, 'Done.']),
  provider,
  modelId,
})
const draw = defineTool({
  id: 'draw',
  description: '',
  inputSchema: { type: 'object' },
  execute: () => ({ mimeType: 'image/png', dataBase64: Buffer.from(PNG).toString('base64') }),
})

describe('createAgent, with media', () => {
  it.each([
    ['anthropic.messages', 'tool', 'claude-sonnet-4-5'],
    ['openai.chat', 'user', 'gpt-5'],
  ])('shows %s what a tool drew, in a message of the %s', async (provider, role, modelId) => {
    const model = modelOf(provider, modelId)
    const run = createAgent({ model, tools: [draw] }).run({
      messages: [{ role: 'user', content: 'Draw.' }],
    })
    await run.result
    const shown = model.requests[1]?.prompt.find((message) =>
      JSON.stringify(message).includes('iVBOR'),
    )
    expect(shown?.role).toBe(role)
  })

  it.each(['reference', 'field', 'bytes', 'base64'])(
    'shows a message that is a picture: by its %s',
    async (form) => {
      const assets = createAssets()
      const { ref } = await assets.save(new Uint8Array(PNG), 'image/png')
      const content = { picture: new Uint8Array(PNG) }
      const { assetId } = await assets.saveAsset({ content_type: 'report', content })
      const messages = {
        reference: { content_type: 'image/png', content: ref },
        field: {
          content_type: 'asset_ref',
          content: { asset_id: assetId, field_path: ['content', 'picture'] },
        },
        bytes: { content_type: 'image/png', content: new Uint8Array(PNG) },
        base64: { content_type: 'image/png', content: Buffer.from(PNG).toString('base64') },
      }
      const model = modelOf('openai.responses', 'gpt-5')
      const message = { role: 'user' as const, ...messages[form as keyof typeof messages] }
      await createAgent({ model, assets, tools: [draw] }).run({ messages: [message] }).result
      const prompt = JSON.stringify(model.requests[0]?.prompt)
      expect(prompt).toContain('"mediaType":"image/png"')
      expect(prompt.split('iVBOR').length).toBe(2)
    },
  )

  it('makes assets of the data URLs that a model writes in its answer', async () => {
    const url = `data:image/png;base64,${Buffer.from(PNG).toString('base64')}`
    const model = scriptedModel([`Here: ![plot](${url})`, url])
    const agent = createAgent({ model })
    const first = agent.run({ messages: [{ role: 'user', content: 'Draw' }] })
    const { text, conversation } = await first.result
    expect(text).toMatch(/^Here: !\[plot\]\(<\|asset:\/\/[0-9a-z]{27}\|>\)$/)
    const second = agent.run({ conversation, messages: [{ role: 'user', content: 'Again' }] })
    expect((await second.result).text).toMatch(/^<\|asset:\/\/[0-9a-z]{27}\|>$/)
    expect(JSON.stringify(model.requests[1]?.prompt)).not.toContain('iVBOR')
  })

  it('reports an unresolved picture that is shown as Markdown', async () => {
    const model = scriptedModel(['?'])
    const content = 'See ![a](<|asset://nope|>) and [b](<|asset://nix|>)'
    await createAgent({ model }).run({ messages: [{ role: 'user', content }] }).result
    const prompt = JSON.stringify(model.requests[0]?.prompt)
    expect(prompt).toContain('[unresolved image: asset://nope]')
    expect(prompt).toContain('[unresolved file: asset://nix]')
  })

  it('shows parts of any form, and references between marks', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(new TextEncoder().encode('Forty-two.'), 'text/plain')
    const model = modelOf('openai.responses', 'gpt-5')
    const content = [
      { type: 'text', text: `See <|${ref}|>` },
      { type: 'file', data: new Uint8Array(PNG), mediaType: 'image/png', filename: 'a.png' },
      { type: 'image', image: 'https://x.example/cat.png' },
      { type: 'hologram' },
    ]
    const run = createAgent({ model, assets, tools: [draw] }).run({
      messages: [{ role: 'user', content }],
    })
    await run.result
    const prompt = JSON.stringify(model.requests[0]?.prompt)
    for (const shown of [
      'Forty-two.',
      'a.png',
      'iVBOR',
      'https://x.example/cat.png',
      'unknown type',
    ]) {
      expect(prompt).toContain(shown)
    }
  })
})
