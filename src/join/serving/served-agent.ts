import type { Agent } from '../../agent/agent-contract.ts'
import { knownOptions } from '../../agent/known-options.ts'
import { defineTool, type Tool } from '../../agent/tools/tool.ts'
import { ByrefError } from '../../errors.ts'

/** Options of what serves an agent to clients that may bring tools of their own. */
export interface ServedAgentOptions {
  /**
   * The agent; or, where clients bring tools (functions, frontend tools), what makes an agent with these beside its own, on
   * the same log and assets. It is asked once for each set of tools.
   */
  agent: Agent | ((tools: readonly Tool[]) => Agent)
  /**
   * The namespace of whoever sent a request, by its `Authorization` or otherwise; what throws there, or is a Response, is the
   * answer. Default: the agent's own.
   */
  namespace?(request: Request): string | null | Response | Promise<string | null | Response>
  /** Whether a run goes on when its client hangs up. Default false. */
  keepRunning?: boolean
}

/** A tool that a client brings and runs itself. */
export interface ClientTool {
  name: string
  description?: string | null
  /** JSON Schema of an object. Default: one without properties. */
  inputSchema?: unknown
}

/** Finds the agent for a request, or what the request is answered with instead. */
export type FindAgent = (
  request: Request,
) => Promise<Response | ((tools?: readonly ClientTool[]) => Agent)>

/** So many sets of tools have an agent at once; the one that was not used for longest is let go. */
const MAX_AGENTS = 32

/**
 * The agents of a server, in the namespaces of who asks them. One with tools of clients is made once for each set of them;
 * calls of these tools wait for their results.
 *
 * @param by The function that was given the options, for errors.
 * @throws ByrefError `config_invalid` for an option that there is not
 */
export function servedAgent(options: ServedAgentOptions, by: string): FindAgent {
  knownOptions(by, options, ['agent', 'namespace', 'keepRunning'])
  const { agent: given, namespace = () => undefined } = options
  const agents = new Map<string, Agent>()

  function agentWith(tools: readonly ClientTool[]): Agent {
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

  return async (request) => {
    const space = await namespace(request)
    if (space instanceof Response) return space
    return (tools = []) => {
      const agent = agentWith(tools)
      return space === undefined ? agent : agent.scoped(space)
    }
  }
}

function toTool({ name, description, inputSchema: given }: ClientTool): Tool {
  const inputSchema = { type: 'object', properties: {}, ...Object(given) }
  return defineTool({ id: name, description: description ?? '', inputSchema }) as Tool
}
