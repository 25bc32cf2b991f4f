import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { defineTool } from '../boundary/tool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

const TEXT = 'Straße in Köln\nsecond line\n'

describe('a file of text', () => {
  it.each([
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-16', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['Windows-1252', Buffer.from(TEXT, 'latin1')],
    ['Windows-1252, large', Buffer.from(TEXT.repeat(10_000), 'latin1')],
  ])('in %s is read by tools, by the native tools and by the model', async (_, bytes) => {
    const assets = createAssets()
    const { ref } = await assets.save(bytes, 'text/plain', { name: 'a.txt' })
    let taken = ''
    const take = defineTool({
      id: 'take',
      description: 'Takes a text',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      execute({ text }) {
        taken = String(text)
      },
    })
    const call = (name: string, args: Record<string, unknown>) => ({ name, arguments: args })
    const model = scriptedModel([
      {
        calls: [
          call('take', { text: ref }),
          call('take', { text: `It says: <|${ref}|>` }),
          call('fetch_asset', { ref }),
          call('search_asset', { ref, query: 'Köln' }),
        ],
      },
      'Done.',
    ])
    const agent = createAgent({ model, assets, tools: [take, 'fetch_asset', 'search_asset'] })
    const metadata = { attachments: [{ assetRef: ref }] }
    const run = agent.run({ messages: { role: 'user', content: 'Read', metadata } })
    await run.result
    expect(taken).toContain(`It says: ${TEXT}`)
    const results = run.messages.flatMap(({ metadata }) => metadata.tool_result ?? [])
    expect(results).toHaveLength(4)
    const prompt = JSON.stringify(model.requests[1]?.prompt)
    expect(prompt.split('Straße in Köln').length).toBeGreaterThan(3)
    expect(prompt).not.toContain('\ufffd')
    expect(JSON.stringify(run.messages)).not.toContain('\ufffd')
  })
})
