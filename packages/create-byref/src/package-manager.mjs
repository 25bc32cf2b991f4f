import { spawn } from 'node:child_process'
import { resolveCommand } from 'package-manager-detector/commands'

/** @import { Command } from './choices.mjs' */
/** @typedef {'npm' | 'pnpm' | 'yarn' | 'bun'} PackageManager */

/** A step of the creation that failed. The message says what to do. */
export class StepError extends Error {}

/**
 * The package manager that started this program.
 *
 * @param {string} [userAgent] such as `pnpm/10.1.0 npm/? node/v24.1.0 linux x64`
 * @returns {PackageManager} npm if it is none of the others
 */
export function packageManagerOf(userAgent = '') {
  const [, name] = /^(pnpm|yarn|bun)\//.exec(userAgent) ?? []
  return name === 'pnpm' || name === 'yarn' || name === 'bun' ? name : 'npm'
}

/**
 * How to run a script, as a person types it.
 *
 * @param {PackageManager} manager
 * @param {readonly string[]} script with its arguments
 */
export function scriptCommand(manager, [script = '', ...args]) {
  const { command, args: all } = commandOf(manager, 'run', [script, ...args])
  return [command, ...all].join(' ')
}

/**
 * @param {PackageManager} manager
 */
export function installCommand(manager) {
  return commandOf(manager, 'install', [])
}

/**
 * What to type in a new project, each with what it does.
 *
 * @param {PackageManager} manager
 * @param {readonly Command[]} commands
 * @returns {readonly [command: string, about: string][]}
 */
export function commandsOf(manager, commands) {
  const install = installCommand(manager)
  return [
    [[install.command, ...install.args].join(' '), 'installs the packages'],
    ...commands.map(
      ({ script, about }) =>
        /** @type {[string, string]} */ ([scriptCommand(manager, script), about]),
    ),
  ]
}

/**
 * Runs a program in a folder, with its output shown.
 *
 * @param {{ command: string, args: readonly string[] }} program
 * @param {{ cwd: string, signal: AbortSignal }} options
 * @throws {StepError} if it fails
 */
export async function runIn({ command, args }, { cwd, signal }) {
  const shell = process.platform === 'win32'
  const child = spawn(command, args, {
    cwd,
    signal,
    shell,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  /** @type {Error | null} */
  let failed = null
  child.once('error', (error) => {
    failed = error
  })
  // It also comes if the program did not start.
  const status = await new Promise((resolve) => child.once('close', resolve))
  signal.throwIfAborted()
  const said = [command, ...args].join(' ')
  if (failed) throw new StepError(`${said} did not start: is ${command} installed?`)
  if (status !== 0) throw new StepError(`${said} failed, see its output above`)
}

/**
 * @param {PackageManager} manager
 * @param {'install' | 'run'} what
 * @param {string[]} args
 */
function commandOf(manager, what, args) {
  const found = resolveCommand(manager, what, args)
  if (!found) throw new Error(`${manager} has no command to ${what}`)
  return found
}
