// node bench/mcp/proxy.ts [MB=2]: a file server alone and behind `byref mcp proxy`: what a client receives, and the
// time.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { printMachine } from '../assets/measure.ts'

const size = Number(process.argv[2] ?? 2) * 1_000_000
const CALLS = 200

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache')
await mkdir(cache, { recursive: true })
const folder = await mkdtemp(join(cache, 'bench-'))
const server = [
  process.execPath,
  join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'),
  folder,
]
const byref = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  '--conditions=byref-source',
  join(root, 'src/cli.ts'),
]

printMachine()
const path = join(folder, 'rows.json')
const rows = Array.from({ length: size / 70 }, (_, id) => ({ id, text: 'x'.repeat(50) }))
await writeFile(path, JSON.stringify(rows))
await measure('the server', server)
await measure('behind byref', [...byref, 'mcp', 'proxy', '--', ...server])
await rm(folder, { recursive: true })

async function measure(name: string, [command = '', ...args]: string[]): Promise<void> {
  const client = new Client({ name: 'bench', version: '1' })
  const connecting = performance.now()
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
  const connected = performance.now()
  const { tools } = await client.listTools()
  const shown = tools.map((tool) => [tool.name, tool.description, tool.inputSchema])
  const call = async (tool: string, given: object) => {
    const began = performance.now()
    const result = await client.callTool({ name: tool, arguments: { ...given } })
    return { result, ms: performance.now() - began }
  }
  const small: number[] = []
  for (let i = 0; i < CALLS; i++) small.push((await call('list_allowed_directories', {})).ms)
  small.sort((a, b) => a - b)
  const read = await call('read_text_file', { path })
  const json = JSON.stringify(read.result.content)
  const content = /asset:\/\/\w+/.exec(json)?.[0] ?? JSON.stringify(rows)
  const write = await call('write_file', { path: join(folder, 'copy.json'), content })
  const figures = {
    start: `${Math.round(connected - connecting)} ms`,
    tools: `${JSON.stringify(shown).length} characters`,
    'a small call': `${small[CALLS / 2]?.toFixed(2)} ms (p95 ${small[CALLS * 0.95]?.toFixed(2)})`,
    'a large result': `${json.length} characters, ${Math.round(read.ms)} ms`,
    'passed on': `${content.length} characters, ${Math.round(write.ms)} ms`,
  }
  console.log(name)
  for (const [what, figure] of Object.entries(figures)) console.log(`  ${what.padEnd(16)}${figure}`)
  await client.close()
}
