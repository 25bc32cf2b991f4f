// What many tools cost at the start: node bench/tools/start.ts
// Tools of published MCP servers, all in every prompt and found by search. The first run installs the servers.

import { createAgent, defineTool, type Tool } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
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

/** Returns whether every prompt begins with the one before, and lists the same tools, while tools are searched. */
async function isRepeated(tools: readonly Tool[]): Promise<boolean> {
  const turns = Array.from({ length: SEARCHES }, (_, i) => ({
    calls: [
      { name: 'search_tools', arguments: { query: queries[i % queries.length]?.[0], limit: 1 } },
    ],
  }))
  const model = scriptedModel([...turns, 'Done.'])
  const history = { maxTokens: 1e9 }
  const limits = { steps: SEARCHES + 1 }
  await createAgent({ model, tools, toolSearch: true, history, limits }).run({ messages: 'Go' })
    .result
  const prompts = model.requests.map(({ prompt, tools: listed }) => [
    JSON.stringify(listed),
    JSON.stringify(prompt).slice(0, -1),
  ])
  return prompts.every(([listed = '', prompt = ''], i) => {
    const [before = listed, beginning = ''] = prompts[i - 1] ?? []
    return listed === before && prompt.startsWith(beginning)
  })
}

printMachine()
const listed = await serverTools('first')
const published = servers.filter(({ set }) => set === 'first').length
const tools = listed.map(toolOf)
console.log(`${listed.length} tools of ${published} MCP servers; tokens by o200k_base\n`)
console.log('| tools | tokens of all | with search |\n|---|---|---|')
for (const count of [10, 50, 100, listed.length]) {
  // Every server has a part in it.
  const some = tools.filter(
    (_, i) =>
      Math.floor((i * count) / tools.length) !== Math.floor(((i - 1) * count) / tools.length),
  )
  const all = await tokensAtStart(some, false)
  const found = await tokensAtStart(some, true)
  console.log(`| ${some.length} | ${all.toLocaleString('en')} | ${found.toLocaleString('en')} |`)
}
console.log(
  `\n${SEARCHES} searches in one conversation repeat prompts and tools to the last byte: ${await isRepeated(tools)}`,
)
