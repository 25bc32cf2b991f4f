// An MCP client, like Claude Desktop or Cursor: it starts the server of mcp.json and lets a model use its tools.
import { readFileSync } from 'node:fs'
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio'
import { generateText, stepCountIs } from 'ai'
import { model } from './model.ts'

const { mcpServers } = JSON.parse(readFileSync(new URL('mcp.json', import.meta.url), 'utf8'))
const client = await createMCPClient({ transport: new StdioTransport(mcpServers['{{name}}']) })
const { text, steps } = await generateText({
  model,
  tools: await client.tools(),
  stopWhen: stepCountIs(8),
  prompt: process.argv[2] ?? 'How warm was the year 2025 on average?',
})
for (const { toolCalls, toolResults } of steps) {
  for (const { toolName, input } of toolCalls) console.log(`→ ${toolName} ${JSON.stringify(input)}`)
  for (const { output } of toolResults) console.log(`← ${JSON.stringify(output).slice(0, 200)}`)
}
console.log(text)
await client.close()
