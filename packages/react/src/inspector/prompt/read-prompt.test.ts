import { describe, expect, it } from 'vitest'
import { readPrompt } from './read-prompt.ts'

describe('readPrompt', () => {
  it('measures the parts of a prompt', () => {
    const prompt = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'chart it' }] },
      { role: 'user', content: [{ type: 'text', text: '## Data: ¶state\n{}' }] },
      { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: { bytes: 5_000 } }] },
      { role: 'assistant', content: [{ type: 'tool-call', toolName: 'x', input: {} }] },
      { role: 'user', content: [{ type: 'text', text: '## Assets\n{}' }] },
    ]
    const read = readPrompt({ model: 'm', prompt, tools: [{ name: 'x', description: 'does x' }] })
    expect(read.messages).toHaveLength(6)
    expect(read.sizes).toMatchObject({ instructions: 9, data: 19, metas: 12, media: 5_000 })
    expect(read.tools[0]?.name).toBe('x')
    expect(read.total).toBe(Object.values(read.sizes).reduce((a, b) => a + b, 0))
  })

  it('reads any content of a prompt', () => {
    const read = (...prompt: unknown[]) => readPrompt({ model: null, prompt, tools: [null, 3] })
    expect(read({ role: 'user', content: 'hi' }).sizes.history).toBe(2)
    const odd = read(null, { role: 3, content: [null] }, 'x', {})
    expect(odd.messages.map(({ role }) => role)).toEqual(Array(4).fill('unknown'))
    expect(odd.tools).toHaveLength(2)
  })
})
