// An audit log and a rate limit per tool, as policies of an agent.
import { createAgent, defineTool, type Policy } from 'byref'
import { scriptedModel } from 'byref/testing'

// Logs each call with its outcome.
const audit: Policy = {
  after({ toolCallId, tool }, { error }) {
    console.log(`${toolCallId} ${tool.id}: ${error ? error.code : 'done'}`)
    return undefined
  },
}

// Denies calls of a tool beyond its limit for one minute.
function rateLimit(limits: Record<string, number>): Policy {
  const calls = new Map<string, number[]>()
  return {
    checks: (tool) => tool.id in limits,
    before({ tool, items, isResumed }) {
      if (isResumed) return undefined // it was counted when it began
      const now = Date.now()
      const recent = (calls.get(tool.id) ?? []).filter((time) => now - time < 60_000)
      const limit = limits[tool.id] ?? Infinity
      if (recent.length + items.length > limit)
        return { decision: 'deny', reason: `at most ${limit} per minute` }
      calls.set(tool.id, [...recent, ...items.map(() => now)])
      return undefined
    },
  }
}

const search = defineTool({
  id: 'search',
  description: 'Searches the web',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
  readOnly: true,
  execute: ({ query }) => `Results for ${query}`,
})

const call = { calls: [{ name: 'search', arguments: { query: 'byref' } }] }
const agent = createAgent({
  model: scriptedModel([call, call, 'Done.']), // or openai('gpt-5-mini') of @ai-sdk/openai
  tools: [search],
  policies: [audit, rateLimit({ search: 1 })],
})
await agent.run({ messages: 'Search twice' }).result
