import type { Agent } from '../../agent/agent-contract.ts'
import { chooseAgent } from '../../agent/served-agents.ts'
import { ByrefError } from '../../core/errors.ts'
import { toolAnswer, toolQuery, toolsAnswer, toolsQuery } from '../../wire/tools.ts'
import type { Caller } from '../caller.ts'
import { type Route, route } from '../route.ts'

/** Characters of a description in a list. */
const MAX_DESCRIPTION = 300

/** The tools of agents. Who may read prompts may read them, because prompts have their schemas. */
export function toolRoutes(agentsOf: (caller: Caller) => ReadonlyMap<string, Agent>): Route[] {
  return [
    route(
      'GET /api/tools',
      {
        role: 'member',
        summary: 'The tools of an agent, or those that a search finds',
        query: toolsQuery,
        answers: { 200: toolsAnswer },
        errors: ['agent_not_found'],
      },
      async ({ caller, query: { agent, ...asked }, json }) => {
        const { tools, search } = await chooseAgent(agentsOf(caller), { asked: agent }).listTools(
          asked,
        )
        const lines = tools.map(({ parameters: _, description, ...tool }) => ({
          ...tool,
          description: description.slice(0, MAX_DESCRIPTION),
        }))
        return json({ tools: lines, search })
      },
    ),
    route(
      'GET /api/tools/:name',
      {
        role: 'member',
        summary: 'A tool of an agent with its parameters',
        query: toolQuery,
        answers: { 200: toolAnswer },
        errors: ['agent_not_found', 'tool_not_found'],
      },
      async ({ caller, query, param, json }) => {
        const name = param('name')
        const { tools } = await chooseAgent(agentsOf(caller), { asked: query.agent }).listTools()
        const found = tools.find((tool) => tool.name === name)
        if (!found) {
          throw new ByrefError('tool_not_found', `The agent has no tool ${JSON.stringify(name)}`)
        }
        const { words, ...tool } = found
        return json(tool)
      },
    ),
  ]
}
