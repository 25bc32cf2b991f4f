import { describe, expect, it } from 'vitest'
import { CONVERSATION, contentOf, playRandomly } from '../agent/fixtures/random-conversation.ts'
import { createClient } from '../client/create-client.ts'
import { createServer } from './create-server.ts'

describe('POST /api/conversations/:id/fork, to rewind', () => {
  it.each([1, 2, 3])('reads data and assets as they were, at every message: %i', async (seed) => {
    const { agent, moments } = await playRandomly(seed)
    const server = createServer({ agent, app: null })
    const client = createClient({
      baseUrl: 'http://localhost/',
      fetch: async (input, init) => server.fetch(new Request(input, init)),
    })
    const messages = (await agent.conversation(CONVERSATION))?.messages ?? []
    expect(messages).toHaveLength(moments.length)
    for (const [i, { id: at }] of messages.entries()) {
      const { id } = await client.forkConversation(CONVERSATION, { at })
      expect(await client.data(id)).toEqual(await client.data(CONVERSATION, { at }))
      const page = await client.messages(id, { limit: 200 })
      // Pages show a queued message where it was sent.
      const copied = page.messages.map(({ message }) => message.id)
      const shared = messages.slice(0, i + 1).map((message) => message.id)
      expect(copied.toSorted()).toEqual(shared.toSorted())
      for (const { ref, content } of moments.find((one) => one.messageId === at)?.assets ?? []) {
        expect(await contentOf(agent.assets, ref)).toBe(content)
      }
    }
  })
})
