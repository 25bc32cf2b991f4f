/**
 * Attacks quarantine: every injection in every carrier, single attacks, and a search guided by how far attacks get.
 * An attack succeeds if its text is in a prompt, or if a tool acts on it without a person's approval.
 *
 * `node bench/trust/attack.ts [--only matrix|ways|search] [--attacks 10000] [--seed 1] [--first]`
 */
import { parseArgs } from 'node:util'
import { CARRIERS, playMatrix } from './attack/carrier-matrix.ts'
import { search } from './attack/search.ts'
import { playWays } from './attack/ways/ways.ts'
import { INJECTIONS } from './injections.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    attacks: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    first: { type: 'boolean', default: false },
  },
})
const does = (part: string): boolean => values.only === undefined || values.only === part
let leaks = 0

function print(title: string, played: number, found: readonly string[]): void {
  leaks += found.length
  console.log(`${title}: ${played} attacks, ${found.length} succeeded`)
  for (const one of found.slice(0, 20)) console.log(`  ${one}`)
}

if (does('matrix')) {
  const { played, leaks: found } = await playMatrix(values.first)
  print(`${INJECTIONS.length} injections × ${CARRIERS.length} carriers`, played, found)
}
if (does('ways')) {
  const { played, leaks: found } = await playWays(values.first)
  print('single ways in', played, found)
}
if (does('search')) {
  const [seed, count] = [Number(values.seed), Number(values.attacks)]
  const { played, leaks: found, reached, kept } = await search({ seed, count, first: values.first })
  print(`search, seed ${seed}`, played, found)
  const far = [...reached].map(([stage, times]) => `${stage} ${times}`).join(', ')
  console.log(`  kept ${kept} attacks to learn from; reached: ${far}`)
}
process.exitCode = leaks > 0 ? 1 : 0
