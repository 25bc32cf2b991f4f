import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { confirm, isCancel } from '@clack/prompts'
import { answersOf, ask, Cancelled } from './ask.mjs'
import { PROVIDERS, TEMPLATES } from './choices.mjs'
import { addServer, configFile, readConfig, writeConfig } from './mcp-clients.mjs'
import { checkSwallowed, checkTogether, HELP, parseOptions } from './options.mjs'
import {
  commandsOf,
  installCommand,
  packageManagerOf,
  runIn,
  StepError,
} from './package-manager.mjs'
import { projectFiles, proxyServer } from './project-files.mjs'
import { ProjectFolder, packageName } from './project-folder.mjs'
import { UsageError } from './usage-error.mjs'

/** @import { Answers } from './ask.mjs' */
/** @import { ClientName } from './mcp-clients.mjs' */
/** @import { Project } from './project-files.mjs' */

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/**
 * `create-byref`.
 *
 * @param {string[]} args
 * @returns {Promise<number>} the status of the process
 */
export async function main(args) {
  try {
    await create(args)
    return 0
  } catch (error) {
    if (error instanceof Cancelled) return 130
    const isSystemError = error instanceof Error && 'syscall' in error
    if (!(error instanceof UsageError || error instanceof StepError || isSystemError)) throw error
    say(`create-byref: ${error.message}`)
    return error instanceof UsageError ? 2 : 1
  }
}

/** @param {string[]} args */
async function create(args) {
  checkSwallowed(args)
  const options = parseOptions(args)
  if (options.help) return process.stdout.write(HELP)
  if (options.version) return process.stdout.write(`${version}\n`)
  const isInteractive = Boolean(process.stdin.isTTY && process.stdout.isTTY && !options.yes)
  const answers = isInteractive ? await ask(options) : answersOf(options)
  checkTogether(answers)
  const folder = new ProjectFolder(answers.folder)
  const packageManager = packageManagerOf(process.env.npm_config_user_agent)
  const { template, provider, model, baseUrl, client } = answers
  const project = {
    template,
    provider,
    model,
    baseUrl,
    packageManager,
    folder: folder.path,
    name: packageName(folder.path),
    byref: process.env.BYREF_CREATE_SPEC ?? `^${version}`,
  }
  await build(folder, project, answers)
  say(`\nCreated ${project.name} in ${folder.path}`)
  if (client) await addToClient(client, project, isInteractive)
  const { key } = PROVIDERS[provider]
  say(key ? `\nSet ${key} in .env. Next:\n` : '\nNext:\n')
  say(nextCommands(project, answers.install).join('\n'))
}

/**
 * Writes the files and installs. If writing fails or this is interrupted, everything is removed again. If a step after
 * that fails, the files stay.
 *
 * @param {ProjectFolder} folder
 * @param {Project} project
 * @param {Answers} answers
 */
async function build(folder, project, { git, install }) {
  const interruption = new AbortController()
  const interrupt = () => interruption.abort(new Cancelled())
  for (const name of SIGNALS) process.on(name, interrupt)
  const options = { cwd: folder.path, signal: interruption.signal }
  try {
    folder.create()
    for (const [path, text] of Object.entries(projectFiles(project))) {
      const file = join(folder.path, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
    if (git) await runIn({ command: 'git', args: ['init', '--quiet'] }, options)
    if (install) await runIn(installCommand(project.packageManager), options)
  } catch (error) {
    if (error instanceof StepError) {
      const steps = nextCommands(project, false).join('\n')
      throw new StepError(
        `${error.message}. The files are in ${folder.path}. When it is fixed:\n\n${steps}`,
      )
    }
    folder.remove()
    if (error instanceof Cancelled) say('\nInterrupted. The project was removed.')
    throw error
  } finally {
    for (const name of SIGNALS) process.off(name, interrupt)
  }
}

/** @type {readonly NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Adds the proxy to the servers of a client, after a question where there is a terminal.
 *
 * @param {ClientName} client
 * @param {Project} project
 * @param {boolean} isInteractive
 */
async function addToClient(client, { folder, name }, isInteractive) {
  const file = configFile(client)
  const server = proxyServer(folder)
  const result = addServer(readConfig(file), name, server)
  const entry = JSON.stringify({ [name]: server }, null, 2)
    .split('\n')
    .slice(1, -1)
  if (result.outcome === 'same') return say(`${file} has this server already`)
  if (result.outcome !== 'added') {
    const why =
      result.outcome === 'taken' ? `has another server "${name}"` : 'is not the JSON of a client'
    return say(`${file} ${why} and stays as it is. Paste this into it:\n${entry.join('\n')}`)
  }
  say(`\n${file}, in "mcpServers":\n${entry.map((line) => `+ ${line}`).join('\n')}`)
  if (isInteractive) {
    const answer = await confirm({ message: 'Add these lines?' })
    if (isCancel(answer) || !answer) return
  }
  writeConfig(file, result.text)
  say(`Added. Restart ${client} to see the server.`)
}

/**
 * @param {Project} project
 * @param {boolean} isInstalled
 */
function nextCommands({ folder, template, packageManager }, isInstalled) {
  const path = relative('.', folder)
  const next = commandsOf(packageManager, TEMPLATES[template].commands.slice(0, 2))
  const commands = [
    path && `cd ${/^[\w./\\-]+$/.test(path) ? path : JSON.stringify(path)}`,
    ...next.slice(isInstalled ? 1 : 0).map(([command]) => command),
  ]
  return commands.filter(Boolean).map((command) => `  ${command}`)
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`)
}
