import { describe, expect, it } from 'vitest'
import type { Message } from '../core/messages/message.ts'
import { openApi, refusal } from './fixtures/api.ts'

interface Shown {
  prompt: unknown[]
  tools: unknown[]
  difference: { kept: number; removed: unknown[]; added: unknown[]; messageId: string } | null
}

describe('prompts', () => {
  it('are shown for each answer, with their new parts', async () => {
    const { ask, askJson } = openApi(['one', 'two', 'three'])
    const { id } = await askJson<{ id: string }>('/api/conversations', { method: 'POST', json: {} })
    const messages = `/api/conversations/${id}/messages`
    const say = async (content: string) => {
      await ask(messages, { method: 'POST', json: { content } })
      await expect.poll(async () => (await askJson(`/api/conversations/${id}`)).status).toBe('idle')
    }
    await say('first')
    await say('second')
    const page = await askJson<{ messages: { message: Message }[] }>(messages)
    const [said, first, , second] = page.messages.map(({ message }) => message.id)
    const shown = (message?: string, query = '') =>
      askJson<Shown>(`/api/conversations/${id}/prompts/${message}${query}`)

    const one = await shown(first)
    expect(one.difference).toBeNull()
    expect(JSON.stringify(one.prompt)).toContain('first')
    const two = await shown(second)
    expect(two.difference).toMatchObject({ messageId: first, removed: [] })
    expect(two.prompt.slice(0, two.difference?.kept)).toEqual(one.prompt)
    expect(JSON.stringify(two.difference?.added)).toMatch(/one.*second/)
    expect((await shown(first, `?against=${second}`)).difference).toMatchObject({
      kept: one.prompt.length,
      added: [],
    })
    await ask(`${messages}/${second}`, { method: 'DELETE' })
    await say('third')
    const last = (await askJson<typeof page>(messages)).messages.at(-1)?.message.id
    const three = await shown(last)
    expect(three.difference).toMatchObject({ messageId: first, removed: [] })
    expect(JSON.stringify(three.prompt)).not.toContain('two')
    const deleted = await ask(`/api/conversations/${id}/prompts/${second}`)
    expect(await refusal(deleted)).toEqual({ status: 404, code: 'message_not_found' })
    const none = await ask(`/api/conversations/${id}/prompts/${said}`)
    expect(await refusal(none)).toEqual({ status: 404, code: 'message_not_found' })
  })
})
