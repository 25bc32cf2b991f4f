// The cost of one proxy for many servers: node bench/mcp/many-servers.ts [ROUNDS=5]. Ten published MCP servers, each
// alone and all behind one proxy. The first run installs them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { printMachine } from '../assets/measure.ts'
import { installed, servers } from '../tools/server-tools.ts'

const ROUNDS = Number(process.argv[2] ?? 5)
const CALLS = 300
/** Servers that start without a network connection. */
const NAMES = [
  ...['github', 'hubspot', 'slack', 'maps', 'files', 'memory', 'firecrawl', 'tavily'],
  ...['playwright', 'kubernetes'],
]
/** Calls that the server answers at once, without a network connection. */
const QUICK = [
  ['files', 'list_allowed_directories'],
  ['memory', 'read_graph'],
] as const

interface Command {
  command: string
  args: string[]
  env: Record<string, string>
}

const root = join(import.meta.dirname, '../..')
const commands = new Map(
  servers
    .filter(({ name }) => NAMES.includes(name))
    .map((server): [string, Command] => {
      const { name, command, args = [], env } = server
      const folder = installed(server)
      const path = join(folder, 'node_modules/.bin', command)
      return [name, { command: path, args: [...args], env: { HOME: folder, ...env } }]
    }),
)

printMachine()
const folder = await mkdtemp(join(tmpdir(), 'bench-'))
const config = join(folder, 'mcp.json')
await writeFile(config, JSON.stringify({ mcpServers: Object.fromEntries(commands) }))
const proxy: Command = {
  command: process.execPath,
  args: [
    ...['--disable-warning=ExperimentalWarning', '--conditions=byref-source'],
    ...[join(root, 'src/cli.ts'), 'mcp', 'proxy', '--config', config],
  ],
  env: {},
}

/** Connects, and returns the client with the time until its list of tools had arrived. */
async function connect({ command, args, env }: Command) {
  const client = new Client({ name: 'bench', version: '1' })
  const own = { ...(process.env as Record<string, string>), ...env }
  const transport = new StdioClientTransport({ command, args, env: own, stderr: 'ignore' })
  const began = performance.now()
  await client.connect(transport)
  const { tools } = await client.listTools()
  return { client, tools, ms: performance.now() - began }
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const spread = (values: readonly number[]) =>
  `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`

const beyond: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const alone: [string, number][] = []
  for (const [name, one] of commands) {
    const { client, ms } = await connect(one)
    await client.close()
    alone.push([name, ms])
  }
  const [slowest = '', slowestMs = 0] = alone.toSorted(([, a], [, b]) => b - a)[0] ?? []
  const { client, tools, ms } = await connect(proxy)
  await client.close()
  beyond.push((ms - slowestMs) / 1_000)
  console.log(
    `round ${round + 1}: ${commands.size} servers behind the proxy in ${Math.round(ms)} ms, ${tools.length} tools in its list; the slowest alone, ${slowest}: ${Math.round(slowestMs)} ms`,
  )
}
console.log(`start beyond the slowest server: ${spread(beyond)} s`)

const through = await connect(proxy)
for (const [name, tool] of QUICK) {
  const direct = await connect(commands.get(name) as Command)
  const dearer: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const times = { direct: [] as number[], through: [] as number[] }
    for (let i = 0; i < CALLS; i++) {
      for (const [way, { client }, called] of [
        ['direct', direct, tool],
        ['through', through, `${name}_${tool}`],
      ] as const) {
        const began = performance.now()
        await client.callTool({ name: called, arguments: {} })
        times[way].push(performance.now() - began)
      }
    }
    dearer.push(median(times.through) - median(times.direct))
  }
  console.log(`${name}_${tool}: a call is ${spread(dearer)} ms dearer than direct`)
  await direct.client.close()
}
await through.client.close()
await rm(folder, { recursive: true })
