import type { Agent } from '../agent/agent-contract.ts'
import { ByrefError } from '../errors.ts'

/** The name of an only agent that has none. */
const ONLY = 'agent'

/**
 * The agents of a server by their names, in their order.
 *
 * @throws ByrefError `config_invalid` for none, and for several that have not a name each
 */
export function agentsByName(given: Agent | readonly Agent[]): Map<string, Agent> {
  const list = [given].flat() as Agent[]
  const agents = new Map(list.map((agent) => [agent.name ?? ONLY, agent]))
  if (list.length === 0) {
    throw new ByrefError('config_invalid', 'createServer needs an agent: createServer({ agents })')
  }
  const isNamed = list.length === 1 || list.every(({ name }) => name !== null)
  if (isNamed && agents.size === list.length) return agents
  throw new ByrefError(
    'config_invalid',
    'Several agents of a server need a name each: createAgent({ name })',
  )
}
