import type { Tally } from '../carrier-matrix.ts'
import { AGENT_WAYS } from './agent-ways.ts'
import { PROXY_WAYS } from './proxy-ways.ts'
import { SERVER_WAYS } from './server-ways.ts'
import { WRAPPER_WAYS } from './wrapper-ways.ts'

const WAYS = [...AGENT_WAYS, ...WRAPPER_WAYS, ...PROXY_WAYS, ...SERVER_WAYS]

/** Plays every single attack. With `first`, stops after the first success. */
export async function playWays(first = false): Promise<Tally> {
  const tally: Tally = { played: 0, leaks: [] }
  for (const { name, run } of WAYS) {
    const leak = await run()
    tally.played++
    if (leak !== null) tally.leaks.push(`${name}\n    ${leak}`)
    if (first && leak !== null) break
  }
  return tally
}
