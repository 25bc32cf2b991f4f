import { describe, expect, it, vi } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import type { Agent } from '../../agent/agent-contract.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { servedAgent } from './served-agent.ts'

const request = new Request('http://127.0.0.1')

/** Finds agents for clients. Each client has a tool of its own. */
function served(make: (tool: string) => Agent) {
  const find = servedAgent({ agent: ([tool]) => make(tool?.id ?? '') }, 'serve')
  return async (tool: string): Promise<Agent> => {
    const found = await find(request)
    if (found instanceof Response) throw new Error('not found')
    return found.agent({ tools: [{ name: tool }] })
  }
}

describe('servedAgent', () => {
  it('closes the least recently used agents, but none with a run in progress', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<string>()
    const log = createMemoryLog()
    const closed: string[] = []
    const agentFor = served((tool) => {
      const agent = createAgent({ model: scriptedModel([() => answered]), log })
      return {
        ...agent,
        close() {
          closed.push(tool)
          return agent.close()
        },
      }
    })
    const busy = await agentFor('tool_0')
    const run = await busy.start({ messages: ['hi'] })
    for (let i = 1; i <= 33; i++) await agentFor(`tool_${i}`)
    expect(closed).toEqual(['tool_1', 'tool_2'])
    answer('done')
    expect((await run.result).text).toBe('done')
    await vi.waitUntil(() => busy.isIdle())
    await agentFor('tool_34')
    expect(closed).toEqual(['tool_1', 'tool_2', 'tool_0'])
  })

  it('blames the request for a tool with the name of a tool of the agent', async () => {
    const own = {
      id: 'pay',
      description: 'Pays',
      inputSchema: { type: 'object' },
      execute: () => 1,
    }
    const find = servedAgent(
      { agent: (tools) => createAgent({ model: scriptedModel([]), tools: [own, ...tools] }) },
      'serve',
    )
    const found = await find(request)
    if (found instanceof Response) throw new Error('not found')
    await expect(found.agent({ tools: [{ name: 'pay' }] })).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('"pay"'),
    })
  })
})
