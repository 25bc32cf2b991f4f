import type { Agent } from '../../agent/agent-contract.ts'
import { AGENT } from '../../agent/agent-options.ts'
import {
  chooseAgent,
  readServedAgents,
  type ServedAgents,
  servedAgentOptions,
} from '../../agent/served-agents.ts'
import { defineTool, type Tool } from '../../boundary/tool.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { inBackground } from '../../core/in-background.ts'
import type { Speaker } from '../../core/messages/spoken-by.ts'

/**
 * An agent; or, where clients bring tools (functions, frontend tools), a function that makes an agent with these tools and its
 * own, on the same log and assets. It is called once for each set of tools.
 */
export type AgentForTools = Agent | ((tools: readonly Tool[]) => Agent)

/** Options of what serves agents to clients that may bring tools of their own. */
export interface ServedAgentOptions extends ServedAgents<AgentForTools> {
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
  ...servedAgentOptions(is.either(AGENT, is.callback<(tools: readonly Tool[]) => Agent>())),
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
  /**
   * The agent with this name, or the one that answered last in the conversation, or the first.
   *
   * @throws ByrefError `agent_not_found`
   */
  agent(wanted?: WantedAgent): Promise<Agent>
  /** The names of the agents; null stands for an only agent, whose name clients need not know. */
  names: readonly (string | null)[]
  speaker: Speaker
}

/** Which agent a request is for, and the tools that its client brings. */
export interface WantedAgent {
  /** Its name, where there are several. */
  name?: string | null
  conversation?: string
  tools?: readonly ClientTool[]
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
  const byName = readServedAgents(by, options)
  const { namespace = () => undefined, speakAs = () => false } = options
  const all = [...byName.values()]
  const agents = new Map<string, Agent>()

  function agentWith(given: AgentForTools, tools: readonly ClientTool[] = []): Agent {
    if (typeof given !== 'function') {
      if (tools.length === 0) return given
      const names = tools.map(({ name }) => name).join(', ')
      throw new ByrefError(
        'bad_request',
        `The app brings tools (${names}): ${by}({ agent: (tools) => createAgent({ …, tools }) }) lets the agent have them`,
      )
    }
    const key = JSON.stringify([all.indexOf(given), tools])
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
      names: [...byName.keys()],
      async agent({ name, conversation, tools } = {}) {
        const inSpace = (agent: Agent) => (space === undefined ? agent : agent.scoped(space))
        const needsLog = name == null && conversation !== undefined && all.length > 1
        const summary = needsLog
          ? await inSpace(agentWith(chooseAgent(byName))).log.find(conversation)
          : null
        const chosen = chooseAgent(byName, { asked: name, before: summary?.agent })
        return inSpace(agentWith(chosen, tools))
      },
    }
  }
}

function toTool({ name, description, inputSchema: given }: ClientTool): Tool {
  const inputSchema = { type: 'object', properties: {}, ...Object(given) }
  return defineTool({ id: name, description: description ?? '', inputSchema }) as Tool
}
