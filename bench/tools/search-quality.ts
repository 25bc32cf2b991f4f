// How often the search finds the right tool: node bench/tools/search-quality.ts [--only development] [--missed development]

import { parseArgs } from 'node:util'
import { ToolIndex } from '../../src/boundary/tool-index.ts'
import { printMachine } from '../assets/measure.ts'
import { developmentQueries } from './development-queries.ts'
import { heldOutQueries } from './held-out-queries.ts'
import { queries } from './queries.ts'
import { heldOutTools, type ServerTool, serverTools } from './server-tools.ts'

const ROUNDS = 5

interface Quality {
  first: number
  amongFive: number
  /** The requests without a right tool among the first five, with what was found. */
  missed: string[]
  /** Milliseconds of each search, in order. */
  times: number[]
}

/** Searches with each query, and counts where a right tool is. */
async function qualityOf(
  tools: readonly ServerTool[],
  asked: readonly (readonly [query: string, ...tools: string[]])[],
): Promise<Quality> {
  const index = new ToolIndex(tools, undefined)
  const quality: Quality = { first: 0, amongFive: 0, missed: [], times: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [query, ...right] of asked) {
      const start = performance.now()
      const found = await index.search(query, { limit: 5 })
      quality.times.push(performance.now() - start)
      if (round > 0) continue
      const names = found.map(({ name }) => name)
      if (right.includes(names[0] ?? '')) quality.first++
      if (names.some((name) => right.includes(name))) quality.amongFive++
      else
        quality.missed.push(
          `${query}\n    wanted ${right.join(', ')}\n    found ${names.join(', ')}`,
        )
    }
  }
  quality.times.sort((a, b) => a - b)
  return quality
}

const { values } = parseArgs({
  options: { missed: { type: 'string' }, only: { type: 'string', multiple: true } },
})
printMachine()
const sets = {
  first: { tools: await serverTools('first'), asked: queries },
  development: { tools: await serverTools('development'), asked: developmentQueries },
  'held-out': { tools: await heldOutTools(), asked: heldOutQueries },
}
console.log(
  '| requests | tools | right tool first | among five | ms, median (90 %) |\n|---|---|---|---|---|',
)
for (const [name, { tools, asked }] of Object.entries(sets)) {
  if (values.only && !values.only.includes(name)) continue

  const { first, amongFive, missed, times } = await qualityOf(tools, asked)
  const share = (count: number) => `${count} (${((100 * count) / asked.length).toFixed(1)} %)`
  const time = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(2)
  console.log(
    `| ${asked.length} ${name} | ${tools.length} | ${share(first)} | ${share(amongFive)} | ${time(0.5)} (${time(0.9)}) |`,
  )
  if (values.missed === name) for (const line of missed) console.log(`  ${line}`)
}
