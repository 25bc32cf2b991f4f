// The tools of an MCP server as tools of an agent, and the agent as a tool of an MCP server.
// npm install byref @modelcontextprotocol/client @modelcontextprotocol/server @modelcontextprotocol/server-filesystem

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createAgent } from 'byref'
import { createMcpServer, mcpTools } from 'byref/mcp'
import { scriptedModel } from 'byref/testing'

// A file server from somebody else, started as any MCP client would start it.
const folder = await mkdtemp(join(tmpdir(), 'byref-example-'))
const main = 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'
const files = new Client({ name: 'example', version: '1.0.0' })
await files.connect(
  new StdioClientTransport({ command: process.execPath, args: [main, folder], stderr: 'ignore' }),
)
// By default, byref asks a person about tools that the server does not declare as read-only or not destructive.
const tools = await mcpTools(files, { prefix: 'fs_', needsApproval: () => false })

const call = (name: string, args: object) => ({ calls: [{ name, arguments: { ...args } }] })
const path = join(folder, 'copy.txt')
const model = scriptedModel([
  (prompt) => {
    // As a real model would, it writes the reference that it has seen, and not 100,000 characters.
    const [content] = /asset:\/\/\w+/.exec(JSON.stringify(prompt)) ?? []
    return call('fs_write_file', { path, content })
  },
  call('fs_read_text_file', { path }),
  'Written and read.',
])
const agent = createAgent({ name: 'librarian', model, tools })
const { ref: assetRef } = await agent.assets.save(Buffer.from('word '.repeat(20_000)), 'text/plain')

// The agent as a tool of an MCP server, called by a client. In a real server, mount `mcp` in Hono.
const mcp = createMcpServer({ agent })
const client = new Client(
  { name: 'app', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' } },
)
const fetch = async (url: string | URL, init?: RequestInit) => mcp.fetch(new Request(url, init))
const requestInit = { headers: { host: 'localhost' } }
await client.connect(
  new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch, requestInit }),
)
const { content } = await client.callTool(
  { name: 'librarian', arguments: { message: 'Copy it', attachments: [assetRef] } },
  { onprogress: ({ message }) => console.log('→', message) },
)
console.log(client.getNegotiatedProtocolVersion(), content)
console.log(JSON.stringify(model.requests.at(-1)?.prompt).length, 'characters of prompt')

await Promise.all([client.close(), files.close(), agent.close()])
await rm(folder, { recursive: true })
