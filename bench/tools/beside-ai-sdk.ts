// Many tools in byref and in the AI SDK: twenty tasks, played by the same script.
// node --expose-gc bench/tools/beside-ai-sdk.ts [--sizes 10,100,500,1000] [--rounds 15] [--only byref]

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { isStepCount, jsonSchema, streamText, type ToolSet, tool, toolSearch } from 'ai'
import { createAgent, defineTool, type Tool } from '../../src/index.ts'
import { byReference } from '../../src/integrations/ai-sdk/by-reference.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { cpuTime } from '../agent/in-child.ts'
import { printMachine } from '../assets/measure.ts'
import { commonStart, textOf, tokensOf } from '../by-reference/cost.ts'
import { heldOutTools, type ServerTool } from './server-tools.ts'
import { type Need, someTools, tasksWith } from './tasks.ts'

const INSTRUCTIONS = 'Do what the person asks with your tools, one after the other.'
const MAX_STEPS = 200
const CACHED = 0.1
const WARM_UP = 2

/** How a model reaches a tool in a contestant. */
interface Reach {
  /** Returns the tools in the newest part of a request. A model can call a tool if it knows its parameters. */
  shown(request: LanguageModelV4CallOptions): readonly { name: string; parameters?: unknown }[]
  search(query: string): Call
  call(name: string, args: Record<string, unknown>): Call
}

interface Call {
  name: string
  arguments: Record<string, unknown>
}

/** A framework with tools. */
interface Contestant {
  reach: Reach
  run(model: ScriptedModel, prompt: string): Promise<void>
}

/** What the scripted models of a round did, in addition to calling tools. */
interface Played {
  /** The requests of each task. */
  requests: (readonly LanguageModelV4CallOptions[])[]
  searchedAgain: number
  notFound: number
}

/** A model that searches for each tool, with other words if it is not found, and calls it. */
function playing(needs: readonly Need[], reach: Reach, played: Played): ScriptedModel {
  let at = 0
  let searches = 0
  const callable = new Set<string>()
  return scriptedModel((request) => {
    const need = needs[at]
    if (!need) return 'Done.'
    const shown = reach.shown(request)
    for (const { name, parameters } of shown) if (parameters) callable.add(name)
    const isNamed = shown.some(({ name }) => name === need.tool)
    const query = isNamed ? need.tool : need.words[searches]
    if (!callable.has(need.tool) && query !== undefined) {
      if (searches > 0) played.searchedAgain++
      searches++
      return { calls: [reach.search(query)] }
    }
    if (!callable.has(need.tool)) played.notFound++
    at++
    searches = 0
    return { calls: [reach.call(need.tool, need.arguments)] }
  })
}

async function playAll(tasks: readonly Need[][], { reach, run }: Contestant): Promise<Played> {
  const played: Played = { requests: [], searchedAgain: 0, notFound: 0 }
  for (const [i, needs] of tasks.entries()) {
    const model = playing(needs, reach, played)
    await run(model, `Task ${i + 1}: ${needs.map(({ words }) => words[0]).join(', then ')}`)
    played.requests.push(model.requests)
  }
  return played
}

const resultOf = (name: string) => ({ tool: name, id: `${name.length}-1024`, status: 'ok' })

/** In byref and its integration with the AI SDK, a found tool is part of a result. */
const THROUGH_CALL_TOOL: Reach = {
  shown: ({ prompt }) => {
    const after = prompt.slice(prompt.findLastIndex(({ role }) => role === 'assistant') + 1)
    const parts = after.flatMap(({ role, content }) => (role === 'tool' ? content : []))
    return parts.flatMap((part) => {
      if (part.type !== 'tool-result' || !('value' in part.output)) return []
      const { value } = part.output
      // The name of the result precedes its JSON: †result#1.
      const json = typeof value === 'string' ? value.slice(value.indexOf('{')) : null
      const found = json === null ? value : json.startsWith('{') ? JSON.parse(json) : null
      return Object(found).tools ?? []
    })
  },
  search: (query) => ({ name: 'search_tools', arguments: { query } }),
  call: (name, args) => ({ name: 'call_tool', arguments: { name, arguments: args } }),
}

/** In the AI SDK, a found tool is added to the list of tools. */
const DIRECT: Reach = {
  shown: ({ tools = [] }) => tools.map(({ name }) => ({ name, parameters: true })),
  search: (query) => ({ name: 'search', arguments: { query } }),
  call: (name, args) => ({ name, arguments: args }),
}

function byrefAgent(tools: readonly ServerTool[]): Contestant {
  const own = tools.map(({ name: id, description, inputSchema }) => {
    const execute = () => resultOf(id)
    return defineTool({ id, description: description ?? '', inputSchema, execute }) as Tool
  })
  let current = scriptedModel([])
  const model: ScriptedModel = { ...current, doStream: (request) => current.doStream(request) }
  const agent = createAgent({
    model,
    instructions: INSTRUCTIONS,
    tools: own,
    toolSearch: true,
    limits: { steps: MAX_STEPS },
    history: { maxTokens: 1e9 },
  })
  return {
    reach: THROUGH_CALL_TOOL,
    async run(scripted, prompt) {
      current = scripted
      await agent.run({ messages: prompt }).result
    },
  }
}

/** The tools in the form of the AI SDK. */
function aiTools(tools: readonly ServerTool[], deferLoading: boolean): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => {
      const execute = () => resultOf(name)
      return [
        name,
        tool({ description, inputSchema: jsonSchema(inputSchema), execute, deferLoading }),
      ]
    }),
  )
}

function aiSdk(
  tools: ToolSet,
  wrapped = (model: ScriptedModel) => model,
): Omit<Contestant, 'reach'> {
  return {
    async run(model, prompt) {
      const result = streamText({
        model: wrapped(model),
        instructions: INSTRUCTIONS,
        prompt,
        tools,
        stopWhen: isStepCount(MAX_STEPS),
      })
      await result.consumeStream()
    },
  }
}

function contestantsWith(tools: readonly ServerTool[]): Record<string, Contestant> {
  const refs = byReference({ toolSearch: true })
  const byRef = refs.tools(aiTools(tools, false) as never) as ToolSet
  const wrapped = (model: ScriptedModel) => refs.model(model) as ScriptedModel
  return {
    byref: byrefAgent(tools),
    'byref in the AI SDK': { ...aiSdk(byRef, wrapped), reach: THROUGH_CALL_TOOL },
    'AI SDK, all tools': { ...aiSdk(aiTools(tools, false)), reach: DIRECT },
    'AI SDK, toolSearch()': {
      ...aiSdk({ search: toolSearch(), ...aiTools(tools, true) }),
      reach: DIRECT,
    },
  }
}

/** What requests cost, in tokens. */
interface Bill {
  atStart: number
  input: number
  billed: number
  roundTrips: number
  /** The share of each request that the next one of the task repeats from its first byte. */
  repeated: number
}

const tokensOfText = new Map<string, number>()

function tokensOnce(text: string): number {
  const tokens = tokensOfText.get(text) ?? tokensOf(text)
  tokensOfText.set(text, tokens)
  return tokens
}

/** Counts requests in the order of providers: tools, instructions, messages. A repeated beginning costs a tenth. */
function billOf(tasks: Played['requests']): Bill {
  const bill: Bill = { atStart: 0, input: 0, billed: 0, roundTrips: 0, repeated: 0 }
  let before: { tools: string; prompt: string } | null = null
  let sent = 0
  let repeated = 0
  for (const requests of tasks) {
    for (const [i, { tools = [], prompt }] of requests.entries()) {
      const now = { tools: JSON.stringify(tools), prompt: textOf(prompt) }
      const isSame = before?.tools === now.tools
      const same = commonStart(
        isSame ? (before?.prompt ?? '') : (before?.tools ?? ''),
        isSame ? now.prompt : now.tools,
      )
      const cached = isSame
        ? tokensOnce(now.tools) + tokensOf(now.prompt.slice(0, same))
        : tokensOf(now.tools.slice(0, same))
      const input = tokensOnce(now.tools) + tokensOf(now.prompt)
      if (!before) bill.atStart = tokensOnce(now.tools) + tokensOf(INSTRUCTIONS)
      bill.input += input
      bill.billed += input - cached * (1 - CACHED)
      bill.roundTrips++
      if (before && i > 0) {
        sent += before.tools.length + before.prompt.length
        repeated += same + (isSame ? now.tools.length : 0)
      }
      before = now
    }
  }
  return { ...bill, repeated: sent === 0 ? 1 : repeated / sent }
}

/** Returns µs of CPU time per step. All contestants run in each round, so that noise affects all of them equally. */
async function cpuOf(
  tasks: readonly Need[][],
  contestants: Record<string, Contestant>,
  rounds: number,
): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(Object.keys(contestants).map((name) => [name, []]))
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [name, contestant] of Object.entries(contestants)) {
      globalThis.gc?.()
      const before = cpuTime()
      const { requests } = await playAll(tasks, contestant)
      const steps = requests.reduce((sum, { length }) => sum + length, 0)
      if (round >= 0) times.get(name)?.push((cpuTime() - before) / steps)
    }
  }
  return times
}

function spreadOf(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? 0)
  const [low, median, high] = [at(0.1), at(0.5), at(0.9)].map((one) => one.toLocaleString('en'))
  return `${median} (${low}–${high})`
}

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10,100,500,1000' },
    rounds: { type: 'string', default: '15' },
    only: { type: 'string' },
  },
})
const { version } = JSON.parse(
  readFileSync(new URL('../node_modules/ai/package.json', import.meta.url), 'utf8'),
)
printMachine()
console.log(`ai ${version}; tokens by o200k_base; billed: a repeated beginning at a tenth\n`)
console.log(
  '| tools | | tokens at the start | input tokens | billed | round trips | searched again | not found | repeated | µs of CPU per step |',
)
console.log('|---|---|---|---|---|---|---|---|---|---|')
const all = await heldOutTools()
for (const size of options.sizes.split(',').map(Number)) {
  const tools = someTools(all, size)
  const tasks = tasksWith(tools)
  const contestants = Object.fromEntries(
    Object.entries(contestantsWith(tools)).filter(([name]) => name === (options.only ?? name)),
  )
  const times = await cpuOf(tasks, contestants, Number(options.rounds))
  for (const [name, contestant] of Object.entries(contestants)) {
    const played = await playAll(tasks, contestant)
    const { atStart, input, billed, roundTrips, repeated } = billOf(played.requests)
    const numbers = [
      atStart,
      input,
      Math.round(billed),
      roundTrips,
      played.searchedAgain,
      played.notFound,
    ]
    const written = numbers.map((one) => one.toLocaleString('en')).join(' | ')
    console.log(
      `| ${size} | ${name} | ${written} | ${(100 * repeated).toFixed(1)} % | ${spreadOf(times.get(name) ?? [])} |`,
    )
  }
}
