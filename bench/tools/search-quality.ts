// How often the search finds the right tool:
// node bench/tools/search-quality.ts [--only development] [--missed development]

import { parseArgs } from 'node:util'
import { generateText, jsonSchema, type ToolSet, tool, toolSearch } from 'ai'
import { ToolIndex } from '../../src/boundary/tool-index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { printMachine } from '../assets/measure.ts'
import { developmentQueries } from './development-queries.ts'
import { heldOutQueries } from './held-out-queries.ts'
import { queries } from './queries.ts'
import { heldOutTools, type ServerTool, serverTools } from './server-tools.ts'

const ROUNDS = 5

type Queries = readonly (readonly [query: string, ...tools: string[]])[]

/** Returns the names of the first five tools for a query. `right` has the tools that are wanted. */
type Search = (query: string, right: readonly string[]) => Promise<readonly string[]>

interface Quality {
  first: number
  amongFive: number
  /** The requests without a right tool among the first five, with what was found. */
  missed: string[]
  /** Milliseconds of each search, in order. */
  times: number[]
}

/** Searches with each query, and counts where a right tool is. */
async function qualityOf(search: Search, asked: Queries): Promise<Quality> {
  const quality: Quality = { first: 0, amongFive: 0, missed: [], times: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [query, ...right] of asked) {
      const start = performance.now()
      const names = await search(query, right)
      quality.times.push(performance.now() - start)
      if (round > 0) continue
      if (right.includes(names[0] ?? '')) quality.first++
      if (names.some((name) => right.includes(name))) quality.amongFive++
      else {
        quality.missed.push(
          `${query}\n    wanted ${right.join(', ')}\n    found ${names.join(', ')}`,
        )
      }
    }
  }
  quality.times.sort((a, b) => a - b)
  return quality
}

/** Searches with byref, in all tools or in the group of the wanted tool. */
function byref(tools: readonly ServerTool[], inGroup = false): Search {
  const index = new ToolIndex(tools, undefined)
  return async (query, [wanted = '']) => {
    const group = inGroup ? wanted.split('_')[0] : undefined
    return (await index.search(query, { group, limit: 5 })).map(({ name }) => name)
  }
}

/** Searches with `toolSearch()` of the AI SDK. A scripted model asks for each search. */
function aiSdk(tools: readonly ServerTool[]): Search {
  const deferred = tools.map(({ name, description, inputSchema }) => {
    const execute = () => 'done'
    const schema = jsonSchema(inputSchema)
    return [name, tool({ description, inputSchema: schema, execute, deferLoading: true })]
  })
  const all: ToolSet = { search: toolSearch(), ...Object.fromEntries(deferred) }
  return async (query) => {
    const model = scriptedModel([{ calls: [{ name: 'search', arguments: { query } }] }])
    const { toolResults } = await generateText({ model, tools: all, prompt: 'Go' })
    const found: { name: string }[] = Object(toolResults[0]?.output).tools ?? []
    return found.map(({ name }) => name)
  }
}

const { values } = parseArgs({
  options: { missed: { type: 'string' }, only: { type: 'string', multiple: true } },
})
printMachine()
const [first, development, heldOut] = await Promise.all([
  serverTools('first'),
  serverTools('development'),
  heldOutTools(),
])
const sets: Record<string, [tools: readonly ServerTool[], asked: Queries, search: Search]> = {
  first: [first, queries, byref(first)],
  development: [development, developmentQueries, byref(development)],
  'held-out': [heldOut, heldOutQueries, byref(heldOut)],
  'held-out, with the group': [heldOut, heldOutQueries, byref(heldOut, true)],
  'held-out, toolSearch() of the AI SDK': [heldOut, heldOutQueries, aiSdk(heldOut)],
}
console.log(
  '| requests | tools | right tool first | among five | ms, median (90 %) |\n|---|---|---|---|---|',
)
for (const [name, [tools, asked, search]] of Object.entries(sets)) {
  if (values.only && !values.only.includes(name)) continue
  const { first, amongFive, missed, times } = await qualityOf(search, asked)
  const share = (count: number) => `${count} (${((100 * count) / asked.length).toFixed(1)} %)`
  const time = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(2)
  console.log(
    `| ${asked.length} ${name} | ${tools.length} | ${share(first)} | ${share(amongFive)} | ${time(0.5)} (${time(0.9)}) |`,
  )
  if (values.missed === name) for (const line of missed) console.log(`  ${line}`)
}
