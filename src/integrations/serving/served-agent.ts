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
import type { JsonValue } from '../../core/json/json.ts'
import type { Speaker } from '../../core/messages/spoken-by.ts'

/**
 * An agent. Or, if clients bring tools (functions, frontend tools), a function that makes an agent with these tools and
 * its own, on the same log and assets. The function is called once for each set of tools.
 */
export type AgentForTools = Agent | ((tools: readonly Tool[]) => Agent)

/** Options of handlers that serve agents to clients, which may bring their own tools. */
export interface ServedAgentOptions extends ServedAgents<AgentForTools> {
  /**
   * Returns the namespace of a request's sender, for example from `Authorization`. It can also return a Response, which
   * is the answer, or throw. Default: the agent's own.
   */
  namespace?(request: Request): string | null | Response | Promise<string | null | Response>
  /**
   * Returns the `context` of the runs that the sender starts, as JSON, such as `{ user }`. It takes precedence over
   * anything that the request sends. Default: the agent's, or what a sender who may speak as others sends.
   */
  context?(request: Request): JsonValue | Promise<JsonValue>
  /**
   * Whether the sender may also send messages of the system, of the assistant and under other names, and the `context`
   * of runs (in AG-UI: `forwardedProps`). Return true for an app's backend that stores the conversation itself. Default:
   * no.
   */
  speakAs?(request: Request): boolean | Promise<boolean>
  /** Whether a run continues when its client disconnects. Default false. */
  keepRunning?: boolean
  /** Maximum bytes of a request, including its files. Default: 32 MiB, and 512 MiB for `POST …/files`. */
  maxBytes?: number
}

const OPTIONS: OptionTable<ServedAgentOptions> = {
  ...servedAgentOptions(is.either(AGENT, is.callback<(tools: readonly Tool[]) => Agent>())),
  namespace: is.callback(),
  context: is.callback(),
  speakAs: is.callback(),
  keepRunning: is.boolean,
  maxBytes: is.positive,
}

/** A tool that a client brings and runs itself. */
export interface ClientTool {
  name: string
  description?: string | null
  /** JSON Schema of an object. Default: an object without properties. */
  parameters?: unknown
}

/** The agent for a request, and who sent it. */
export type FoundAgent = Exclude<Awaited<ReturnType<ReturnType<typeof servedAgent>>>, Response>

/** Which agent a request is for, and the tools that its client brings. */
interface WantedAgent {
  /** The agent's name, if there are several agents. */
  name?: string | null
  conversation?: string
  tools?: readonly ClientTool[]
}

/** Maximum number of sets of tools with an idle agent. The least recently used agent is closed. */
const MAX_AGENTS = 32

/**
 * Creates the function that finds the agent for a request, in its sender's namespace. It returns the response to send
 * instead, if the options say so. An agent with client tools is made once for each set of tools. Calls of these tools
 * wait for their results.
 *
 * @param by The function that was given the options, for errors.
 * @throws ByrefError `config_invalid` for an unknown option
 */
export function servedAgent(options: ServedAgentOptions, by: string) {
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
        `The client sends tools of its own (${names}), but the agent cannot take them. Use ${by}({ agent: (tools) => createAgent({ …, tools }) })`,
      )
    }
    const key = JSON.stringify([all.indexOf(given), tools])
    const agent = agents.get(key) ?? made(given, tools)
    agents.delete(key)
    for (const [old, one] of agents) {
      if (agents.size < MAX_AGENTS) break
      if (!one.isIdle()) continue
      agents.delete(old)
      inBackground('Closing an agent', one.close())
    }
    agents.set(key, agent)
    return agent
  }

  function made(given: Exclude<AgentForTools, Agent>, tools: readonly ClientTool[]): Agent {
    try {
      return given(tools.map(toTool))
    } catch (error) {
      if (tools.length === 0) throw error
      // If the agent can be made without these tools, they are the problem: one may have the name of another tool.
      agentWith(given)
      throw invalidTools(error)
    }
  }

  return async (request: Request) => {
    const space = await namespace(request)
    if (space instanceof Response) return space
    const context = await options.context?.(request)
    const speaker: Speaker = { speaksAsOthers: await speakAs(request) }
    return {
      speaker,
      /** The names of the agents. Null is the only agent, whose name clients need not know. */
      names: [...byName.keys()],
      /**
       * Returns the agent with this name. Without a name, the one that answered last in the conversation, or the first.
       *
       * @throws ByrefError `agent_not_found`
       */
      async agent({ name, conversation, tools }: WantedAgent = {}): Promise<Agent> {
        const inSpace = (agent: Agent) =>
          agent.scoped(space === undefined ? agent.log.namespace : space, { context })
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

function toTool({ name, description, parameters }: ClientTool): Tool {
  const inputSchema = { type: 'object', properties: {}, ...Object(parameters) }
  try {
    return defineTool({ id: name, description: description ?? '', inputSchema }) as Tool
  } catch (error) {
    throw invalidTools(error)
  }
}

/** Returns the error for tools that a client sent. If they are invalid, its request is. */
function invalidTools(error: unknown): unknown {
  const isInvalid = error instanceof ByrefError && error.code === 'config_invalid'
  return isInvalid ? new ByrefError('bad_request', error.message, { cause: error }) : error
}
