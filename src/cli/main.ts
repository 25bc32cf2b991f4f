import { didYouMean } from '../core/check-options.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { version } from '../version.ts'
import { noteError, UsageError } from './terminal.ts'

const HELP = `byref ${version}: pass-by-reference for LLM agents

  byref serve    the workbench and its API on http://127.0.0.1:4114
  byref work     run conversations for servers on many machines
  byref run      ask one question in the terminal
  byref eval     measure a model by value and by reference
  byref assets   list, read, add and check stored assets
  byref log      list, copy, check, repair and delete stored conversations
  byref mcp      large results by reference, in front of any MCP server
  byref token    make a token for a server that requires one

  byref <command> --help prints its options. byref --version prints the version.
`

interface Command {
  HELP: string
  command(args: string[]): Promise<number>
}

/** A command is loaded when it is called, because most need only a few modules. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: () => import('./serve-command.ts'),
  work: () => import('./work-command.ts'),
  run: () => import('./run-command.ts'),
  eval: () => import('./eval-command.ts'),
  assets: () => import('./assets-command.ts'),
  log: () => import('./log-command.ts'),
  mcp: () => import('./mcp-command.ts'),
  token: () => import('./token-command.ts'),
}

async function runCommand([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(HELP)
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${version}\n`)
    return 0
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!load) {
    const hint = didYouMean(name, Object.keys(COMMANDS))
    throw new UsageError(`There is no command "${name}".${hint} byref --help lists the commands`)
  }
  const { HELP: help, command } = await load()
  if (!asksForHelp(args)) return command(args)
  process.stdout.write(help)
  return 0
}

/** Arguments after "--" belong to another program. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).some((one) => one === '--help' || one === '-h')
}

/** Runs the command of a command line. Prints its error, if any, and returns the exit code. */
export async function main(args: string[]): Promise<number> {
  try {
    return await runCommand(args)
  } catch (error) {
    // An error that a person can fix is one line. A defect of byref has its stack.
    const expected =
      error instanceof UsageError || error instanceof ByrefError || isSystemError(error)
    noteError(expected ? errorMessage(error) : `${(error as Error).stack}`)
    return error instanceof UsageError ? 2 : 1
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
