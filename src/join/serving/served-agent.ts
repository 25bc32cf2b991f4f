import type { Agent } from '../../agent/agent-contract.ts'
import { AGENT } from '../../agent/agent-options.ts'
import { defineTool, type Tool } from '../../agent/tools/tool.ts'
import { checkOptions, is, type OptionTable } from '../../check-options.ts'
import type { Speaker } from '../../content/spoken-by.ts'
import { ByrefError } from '../../errors.ts'
import { inBackground } from '../../in-background.ts'

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
  /**
   * Whether who sent a request may speak as the system, as the assistant and under names of their own: an app's backend that
   * keeps the conversation itself. Default: nobody.
   */
  speakAs?(request: Request): boolean | Promise<boolean>
  /** Whether a run goes on when its client hangs up. Default false. */
  keepRunning?: boolean
}

const OPTIONS: OptionTable<ServedAgentOptions> = {
  agent: is.required(is.either(AGENT, is.callback<(tools: readonly Tool[]) => Agent>())),
  namespace: is.callback(),
  speakAs: is.callback(),
  keepRunning: is.boolean,
}

/** A tool that a client brings and runs itself. */
export interface ClientTool {
  name: string
  description?: string | null
  /** JSON Schema of an object. Default: one without properties. */
  inputSchema?: unknown
}

/** Finds the agent for a request, or what the request is answered with instead. */
export type FindAgent = (request: Request) => Promise<Response | FoundAgent>

/** The agent for a request, and who sent it. */
export interface FoundAgent {
  agent(tools?: readonly ClientTool[]): Agent
  speaker: Speaker
}

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
  checkOptions(by, options, OPTIONS)
  const { agent: given, namespace = () => undefined, speakAs = () => false } = options
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
      inBackground('Closing an agent', oldest[1].close())
    }
    return agent
  }

  return async (request) => {
    const space = await namespace(request)
    if (space instanceof Response) return space
    return {
      speaker: { speaksAsOthers: await speakAs(request) },
      agent(tools = []) {
        const agent = agentWith(tools)
        return space === undefined ? agent : agent.scoped(space)
      },
    }
  }
}

function toTool({ name, description, inputSchema: given }: ClientTool): Tool {
  const inputSchema = { type: 'object', properties: {}, ...Object(given) }
  return defineTool({ id: name, description: description ?? '', inputSchema }) as Tool
}
