// Checks create-byref as users get it: packed. Its templates are generated, installed, type-checked with each
// provider, and run with the demo provider. Run by check-package.mjs with the project's Node: node
// scripts/check-create.mjs byref.tgz folder
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { PROVIDER_NAMES, TEMPLATE_NAMES } from '../packages/create-byref/src/choices.mjs'
import { checkNext } from './check-next.mjs'
import { environment, node, QUIET, root, run, say } from './setup.mjs'

const [tarball, folder] = process.argv.slice(2)
const projects = join(folder, 'projects')
// Only these tests have this version of byref.
const env = environment({ BYREF_CREATE_SPEC: `file:${tarball}`, NEXT_TELEMETRY_DISABLED: '1' })
const cli = installCli()
mkdirSync(projects)

for (const template of TEMPLATE_NAMES) {
  say(`── create-byref: ${template}, installed`)
  create(template, 'demo')
}
checkTypes()
checkTerminal(join(projects, 'terminal-demo'))
await checkMcpProxy(join(projects, 'mcp-proxy-demo'))
await checkNext(join(projects, 'chat-demo'))

function installCli() {
  const home = join(folder, 'create')
  mkdirSync(home)
  const pack = ['pack', '--json', '--workspace', 'create-byref', '--pack-destination', folder]
  const [{ filename, files }] = JSON.parse(read('npm', pack, { cwd: root }))
  const leaked = files
    .map(({ path }) => path)
    .filter((path) => /\.test\.|node_modules|tsconfig/.test(path))
    .filter((path) => !path.startsWith('templates/') || path.includes('node_modules'))
  assert.deepEqual(leaked, [])
  run('npm', ['install', ...QUIET, '--prefix', home, join(folder, filename)], { cwd: home })
  return join(home, 'node_modules/create-byref/bin/create-byref.mjs')
}

function create(template, provider, ...more) {
  const name = `${template}-${provider}`
  const args = [name, '--template', template, '--provider', provider, ...more]
  run(node, [cli, ...args], { cwd: projects, env })
  return join(projects, name)
}

/** Each template with each provider. All of them use the packages of the chat, and the others are added. */
function checkTypes() {
  const chat = join(projects, 'chat-demo')
  run(node, [join(chat, 'node_modules/next/dist/bin/next'), 'typegen'], { cwd: chat, env })
  const others = PROVIDER_NAMES.filter((provider) => provider !== 'demo')
  const made = TEMPLATE_NAMES.flatMap((template) =>
    others.map((provider) => create(template, provider, '--no-install')),
  )
  const wanted = made.flatMap((project) => {
    const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    return Object.entries(dependencies).filter(([name]) => name !== 'byref')
  })
  const packages = Object.entries(Object.fromEntries(wanted)).map((entry) => entry.join('@'))
  run('npm', ['install', ...QUIET, '--no-save', ...packages], { cwd: chat, env })
  for (const project of made) {
    symlinkSync(join(chat, 'node_modules'), join(project, 'node_modules'), 'junction')
    // Next.js has generated them for the chat, and the pages are the same.
    for (const types of project.includes('chat-') ? ['next-env.d.ts', '.next/types'] : [])
      cpSync(join(chat, types), join(project, types), { recursive: true })
  }
  const all = [...TEMPLATE_NAMES.map((template) => join(projects, `${template}-demo`)), ...made]
  for (const project of all) {
    run(node, [join(chat, 'node_modules/typescript/bin/tsc'), '-p', project], { cwd: project })
  }
  say(`── create-byref: the types of ${all.length} projects are sound`)
}

/** Pipes a question, and then another one for the same conversation from another process. */
function checkTerminal(project) {
  const start = ['--silent', 'start']
  const first = read('npm', start, { cwd: project, input: 'How much did it rain?\n' })
  assert.match(first, /It rained [\d.]+ mm in 365 days/)
  const again = ['--silent', 'start', '--', '--resume', 'Are you sure?']
  const { stdout, stderr } = finished('npm', again, { cwd: project })
  assert.match(stdout, /It rained [\d.]+ mm in 365 days/)
  assert.match(stderr, /Resuming "How much did it rain\?"/)
  assert.match(stderr, /\+ asset:\/\/\w+ \(6624 bytes\)/)
}

/** Starts the server like a client, by mcp.json, and runs the project's own client. */
async function checkMcpProxy(project) {
  const { mcpServers } = JSON.parse(readFileSync(join(project, 'mcp.json'), 'utf8'))
  const client = new Client({ name: 'check', version: '1.0.0' })
  const server = { ...mcpServers['mcp-proxy-demo'], cwd: folder, env, stderr: 'ignore' }
  await client.connect(new StdioClientTransport(server))
  try {
    const call = async (name, args) => {
      const { content } = await client.callTool({ name, arguments: args })
      return content[0].text
    }
    const read = await call('read_weather', { year: 2025 })
    const [reference] = /asset:\/\/\w+/.exec(read) ?? []
    assert(reference && read.length < 10_000, `A result of ${read.length} characters: ${read}`)
    const summary = await call('summarize', { numbers: `${reference}/content` })
    assert.equal(JSON.parse(summary).count, 8760)
  } finally {
    await client.close()
  }
  const tried = read('npm', ['--silent', 'run', 'try'], { cwd: project })
  assert.match(tried, /It was [\d.]+ °C on average/)
}

function read(command, args, options) {
  return finished(command, args, options).stdout
}

function finished(command, args, options) {
  const result = spawnSync(command, args, { encoding: 'utf8', env, maxBuffer: 1 << 26, ...options })
  if (result.error) throw result.error
  const said = `${command} ${args.join(' ')} ended with status ${result.status}:\n${result.stderr}`
  assert.equal(result.status, 0, said)
  return result
}
