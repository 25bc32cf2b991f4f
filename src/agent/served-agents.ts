import { type Check, is } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import type { Agent } from './agent-contract.ts'
import { AGENT } from './agent-options.ts'

/** The agents that a server, handler or worker serves. Pass `agent` or `agents`, not both. */
export interface ServedAgents<One = Agent> {
  /** The only agent. */
  agent?: One
  /**
   * Several agents that share a log and assets. Each key is the agent's name: `createAgent({ name: 'writer'
   * })` becomes `{ writer }`. A conversation continues with the agent that answered last. A new one starts
   * with the first agent, unless the request names another.
   */
  agents?: Readonly<Record<string, One>>
}

/** Returns the option table of {@link ServedAgents}, given the check for one agent. */
export function servedAgentOptions<One>(one: Check<One>): {
  agent: Check<One>
  agents: Check<Readonly<Record<string, One>>>
} {
  const expected = 'an object of agents by name, such as { writer, gauge }'
  return { agent: one, agents: { ...is.recordOf(one), expected } }
}

/** The option table for agents made by `createAgent`. */
export const SERVED_AGENTS = servedAgentOptions(AGENT)

/**
 * Agents by name, in the given order. The key is null for a single agent without a name, and for a function
 * that makes agents.
 */
export type AgentsByName<One = Agent> = ReadonlyMap<string | null, One>

/**
 * Reads the options `agent` and `agents`, after the option tables accepted them.
 *
 * @param where The called function, for error messages.
 * @throws ByrefError `config_invalid` if there is no agent, if both options are given, or if a key is not the
 *   agent's name
 */
export function readServedAgents<One extends object>(
  where: string,
  { agent, agents }: ServedAgents<One>,
): AgentsByName<One> {
  if (agent && agents) throw invalid(`${where} takes "agent" or "agents", not both`)
  if (agent) return new Map([[nameOf(agent) ?? null, agent]])
  const named = Object.entries(agents ?? {})
  if (named.length === 0) {
    throw invalid(`${where} needs an agent: { agent } or { agents: { name: agent } }`)
  }
  for (const [key, one] of named) {
    const name = nameOf(one)
    if (name === undefined || name === key) continue
    const found = name === null ? 'has no name' : `is named "${name}"`
    throw invalid(
      `${where}.agents.${key} ${found}: make it with createAgent({ name: '${key}' }) or change the key`,
    )
  }
  return new Map(named)
}

/**
 * Returns the agent that the request names, else the one that answered last in the conversation, else the
 * first.
 *
 * @throws ByrefError `agent_not_found`, which lists the valid names
 */
export function chooseAgent<One>(
  agents: AgentsByName<One>,
  { asked, before }: { asked?: string | null; before?: string | null } = {},
): One {
  const name = asked ?? before ?? null
  const found = name === null ? [...agents.values()][0] : agents.get(name)
  if (found !== undefined) return found
  const names = [...agents.keys()].flatMap((one) => (one === null ? [] : JSON.stringify(one)))
  const valid =
    names.length > 0
      ? `Valid agents: ${names.join(', ')}`
      : 'There is only one agent: leave out its name.'
  throw new ByrefError('agent_not_found', `Unknown agent "${name}". ${valid}`)
}

/** Returns the name of an agent; undefined for a function that makes agents. */
function nameOf(one: object): string | null | undefined {
  return typeof one === 'object' && 'name' in one
    ? (one as { name: string | null }).name
    : undefined
}

function invalid(message: string): ByrefError {
  return new ByrefError('config_invalid', message)
}
