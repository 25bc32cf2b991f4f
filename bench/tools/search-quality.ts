// How often the search finds the right tool: node bench/tools/search-quality.ts [--only development] [--missed
// development]

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { generateText, jsonSchema, type ToolSet, tool, toolSearch } from 'ai'
import { ToolIndex } from '../../src/boundary/tool-index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { printMachine } from '../assets/measure.ts'
import { developmentQueries } from './development-queries.ts'
import { freshQueries } from './fresh-queries.ts'
import { heldOutQueries } from './held-out-queries.ts'
import { queries } from './queries.ts'
import { freshTools, heldOutTools, type ServerTool, serverTools } from './server-tools.ts'

const ROUNDS = 5

/** A request of a user, the call of `search_tools` that a model wrote for it, and the tools that fulfil it. */
interface Asked {
  request: string
  call: { query: string; group?: string }
  tools: readonly string[]
}

/** Returns the names of the first five tools. */
type Search = (asked: Asked) => Promise<readonly string[]>

interface Quality {
  first: number
  amongFive: number
  /** Requests without a right tool among the first five, with the tools that were found. */
  missed: string[]
  /** Milliseconds of each search, in order. */
  times: number[]
}

/** Searches for each request, and records the position of a right tool. */
async function qualityOf(search: Search, all: readonly Asked[]): Promise<Quality> {
  const quality: Quality = { first: 0, amongFive: 0, missed: [], times: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const asked of all) {
      const start = performance.now()
      const names = await search(asked)
      quality.times.push(performance.now() - start)
      if (round > 0) continue
      const { request, tools } = asked
      if (tools.includes(names[0] ?? '')) quality.first++
      if (names.some((name) => tools.includes(name))) quality.amongFive++
      else {
        quality.missed.push(
          `${request}\n    wanted ${tools.join(', ')}\n    found ${names.join(', ')}`,
        )
      }
    }
  }
  quality.times.sort((a, b) => a - b)
  return quality
}

/** Searches with byref. A function converts the request to the query. */
function byref(tools: readonly ServerTool[], callOf: (asked: Asked) => Asked['call']): Search {
  const index = new ToolIndex(tools, undefined)
  return async (asked) => {
    const { query, group } = callOf(asked)
    return (await index.search(query, { group, limit: 5 })).map(({ name }) => name)
  }
}

const asUser = ({ request }: Asked) => ({ query: request })
const asModel = ({ call }: Asked) => call
const withoutGroup = ({ call }: Asked) => ({ query: call.query })
const firstWording = ({ call }: Asked) => ({ query: call.query.split(';')[0] ?? '' })

/** Searches with `toolSearch()` of the AI SDK. A scripted model makes each search. */
function aiSdk(tools: readonly ServerTool[], callOf: (asked: Asked) => Asked['call']): Search {
  const deferred = tools.map(({ name, description, inputSchema }) => {
    const execute = () => 'done'
    const schema = jsonSchema(inputSchema)
    return [name, tool({ description, inputSchema: schema, execute, deferLoading: true })]
  })
  const all: ToolSet = { search: toolSearch(), ...Object.fromEntries(deferred) }
  return async (asked) => {
    const { query } = callOf(asked)
    const model = scriptedModel([{ calls: [{ name: 'search', arguments: { query } }] }])
    const { toolResults } = await generateText({ model, tools: all, prompt: 'Go' })
    const found: { name: string }[] = Object(toolResults[0]?.output).tools ?? []
    return found.map(({ name }) => name)
  }
}

const { values } = parseArgs({
  options: { missed: { type: 'string' }, only: { type: 'string', multiple: true } },
})
/** Returns requests with the calls of a file, which are in the same order. */
function asked(
  requests: readonly (readonly [request: string, ...tools: string[]])[],
  file?: string,
): Asked[] {
  const calls: Asked['call'][] = file
    ? JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
    : []
  return requests.map(([request, ...tools], at) => ({
    request,
    call: calls[at] ?? { query: request },
    tools,
  }))
}

printMachine()
const [first, development, heldOut, fresh] = await Promise.all([
  serverTools('first'),
  serverTools('development'),
  heldOutTools(),
  freshTools(),
])
const ofFresh = asked(
  freshQueries.map(({ request, tools }) => [request, ...tools]),
  'fresh-calls.json',
)
const ofHeldOut = asked(heldOutQueries, 'held-out-calls.json')
const sets: Record<
  string,
  [tools: readonly ServerTool[], asked: readonly Asked[], search: Search]
> = {
  first: [first, asked(queries), byref(first, asUser)],
  development: [development, asked(developmentQueries), byref(development, asUser)],
  'held-out': [heldOut, ofHeldOut, byref(heldOut, asUser)],
  'held-out, calls of a model': [heldOut, ofHeldOut, byref(heldOut, asModel)],
  fresh: [fresh, ofFresh, byref(fresh, asUser)],
  'fresh, first wording': [fresh, ofFresh, byref(fresh, firstWording)],
  'fresh, all wordings': [fresh, ofFresh, byref(fresh, withoutGroup)],
  'fresh, calls of a model': [fresh, ofFresh, byref(fresh, asModel)],
  'fresh, toolSearch() of the AI SDK': [fresh, ofFresh, aiSdk(fresh, asUser)],
  'fresh, toolSearch(), first wording': [fresh, ofFresh, aiSdk(fresh, firstWording)],
  'fresh, toolSearch(), all wordings': [fresh, ofFresh, aiSdk(fresh, withoutGroup)],
}
console.log(
  '| requests | tools | right tool first | among five | ms, median (90 %) |\n|---|---|---|---|---|',
)
for (const [name, [tools, requests, search]] of Object.entries(sets)) {
  if (values.only && !values.only.includes(name)) continue
  const { first, amongFive, missed, times } = await qualityOf(search, requests)
  const share = (count: number) => `${count} (${((100 * count) / requests.length).toFixed(1)} %)`
  const time = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(2)
  console.log(
    `| ${requests.length} ${name} | ${tools.length} | ${share(first)} | ${share(amongFive)} | ${time(0.5)} (${time(0.9)}) |`,
  )
  if (values.missed === name) for (const line of missed) console.log(`  ${line}`)
}
