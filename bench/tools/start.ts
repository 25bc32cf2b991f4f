// The cost of many tools at the start, all in every prompt, and found by search: node bench/tools/start.ts. The tools
// are those of published MCP servers. The first run installs the servers.

import { generateText, isStepCount, jsonSchema, type ToolSet, tool } from 'ai'
import { createAgent, defineTool, type Tool } from '../../src/index.ts'
import { byReference } from '../../src/integrations/ai-sdk/by-reference.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { printMachine } from '../assets/measure.ts'
import { tokensOf } from '../edit/count-tokens.ts'
import { queries } from './queries.ts'
import { type ServerTool, servers, serverTools } from './server-tools.ts'

const SEARCHES = 100

function toolOf({ name, description = '', inputSchema }: ServerTool): Tool {
  const execute = () => 'done'
  return defineTool({ id: name.slice(0, 64), description, inputSchema, execute }) as Tool
}

/** Returns the tokens of the tools in the first prompt. */
async function tokensAtStart(tools: readonly Tool[], toolSearch: boolean): Promise<number> {
  const model = scriptedModel(['Done.'])
  const agent = createAgent({ model, tools, toolSearch })
  await agent.run({ messages: 'Go' }).result
  return tokensOf(JSON.stringify(model.requests[0]?.tools))
}

/** A model that searches this many times, with the words of the requests. */
function searchingModel(): ScriptedModel {
  const turns = Array.from({ length: SEARCHES }, (_, i) => ({
    calls: [
      { name: 'search_tools', arguments: { query: queries[i % queries.length]?.[0], limit: 1 } },
    ],
  }))
  return scriptedModel([...turns, 'Done.'])
}

/** Returns whether every prompt starts with the previous one and lists the same tools. */
function isRepeated({ requests }: ScriptedModel): boolean {
  const prompts = requests.map(({ prompt, tools: listed }) => [
    JSON.stringify(listed),
    JSON.stringify(prompt).slice(0, -1),
  ])
  if (prompts.length !== SEARCHES + 1) throw new Error(`${prompts.length} requests`)
  return prompts.every(([listed = '', prompt = ''], i) => {
    const [before = listed, beginning = ''] = prompts[i - 1] ?? []
    return listed === before && prompt.startsWith(beginning)
  })
}

async function searchInByref(tools: readonly Tool[]): Promise<ScriptedModel> {
  const model = searchingModel()
  const history = { maxTokens: 1e9 }
  const limits = { steps: SEARCHES + 1 }
  const agent = createAgent({ model, tools, toolSearch: true, history, limits })
  await agent.run({ messages: 'Go' }).result
  return model
}

async function searchInAiSdk(listed: readonly ServerTool[]): Promise<ScriptedModel> {
  const scripted = searchingModel()
  const refs = byReference({ toolSearch: true })
  const model = refs.model(scripted)
  const own = listed.map(({ name, description, inputSchema }) => {
    const execute = () => 'done'
    return [name, tool({ description, inputSchema: jsonSchema(inputSchema), execute })]
  })
  const tools: ToolSet = refs.tools(Object.fromEntries(own))
  await generateText({ model, tools, prompt: 'Go', stopWhen: isStepCount(SEARCHES + 1) })
  return scripted
}

printMachine()
const listed = await serverTools('first')
const published = servers.filter(({ set }) => set === 'first').length
const tools = listed.map(toolOf)
console.log(`${listed.length} tools of ${published} MCP servers; tokens by o200k_base\n`)
console.log('| tools | tokens of all | with search |\n|---|---|---|')
for (const count of [10, 50, 100, listed.length]) {
  // Every server contributes some.
  const some = tools.filter(
    (_, i) =>
      Math.floor((i * count) / tools.length) !== Math.floor(((i - 1) * count) / tools.length),
  )
  const all = await tokensAtStart(some, false)
  const found = await tokensAtStart(some, true)
  console.log(`| ${some.length} | ${all.toLocaleString('en')} | ${found.toLocaleString('en')} |`)
}
console.log(
  `\nAre prompts and tools repeated to the last byte, in ${SEARCHES} searches of one conversation?`,
)
console.log(`byref: ${isRepeated(await searchInByref(tools))}`)
console.log(`byref in the AI SDK: ${isRepeated(await searchInAiSdk(listed))}`)
