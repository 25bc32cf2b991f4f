import type { Agent } from '../../agent/agent-contract.ts'
import { defineTool, type Tool } from '../../agent/tools/tool.ts'
import { ByrefError } from '../../errors.ts'

/** A tool that a client brings and runs itself. */
export interface ClientTool {
  name: string
  description?: string
  /** JSON Schema of an object. Default: one without properties. */
  inputSchema?: unknown
}

/** So many sets of tools have an agent at once; the one that was not used for longest is let go. */
const MAX_AGENTS = 32

/**
 * The agent for the tools that a request brings: made once for each set of them. Calls of these tools wait for their
 * results.
 *
 * @param by The function that was given the agent, for the error's text.
 */
export function agentsByTools(
  given: Agent | ((tools: readonly Tool[]) => Agent),
  by: string,
): (tools: readonly ClientTool[]) => Agent {
  const agents = new Map<string, Agent>()
  return (tools) => {
    if (typeof given !== 'function') {
      if (tools.length === 0) return given
      const names = tools.map(({ name }) => name).join(', ')
      throw new ByrefError(
        'bad_request',
        `The app brings tools (${names}): ${by}({ agent: (tools) => createAgent({ …, tools }) }) lets the agent have them`,
      )
    }
    const key = JSON.stringify(tools)
    const agent = agents.get(key) ?? given(tools.map(toTool))
    agents.delete(key)
    agents.set(key, agent)
    const [oldest] = agents
    if (agents.size > MAX_AGENTS && oldest) {
      agents.delete(oldest[0])
      void oldest[1].close()
    }
    return agent
  }
}

function toTool({ name, description = '', inputSchema: given }: ClientTool): Tool {
  const inputSchema = { type: 'object', properties: {}, ...Object(given) }
  return defineTool({ id: name, description, inputSchema }) as Tool
}
