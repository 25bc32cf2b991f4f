import { UsageError } from './cli/usage-error.ts'
import { ByrefError, errorMessage } from './core/errors.ts'
import { version } from './version.ts'

const HELP = `byref ${version}: pass-by-reference for LLM agents

  byref serve    the workbench and its API on http://127.0.0.1:4114
  byref work     advances conversations for servers on many machines
  byref run      one question, answered in the terminal
  byref assets   list, read, add and check stored assets
  byref log      check, repair and export stored conversations
  byref mcp      large results by reference, before any MCP server
  byref token    a token for a server that asks for one

  byref <command> --help says more. byref --version prints the version.
`

interface Command {
  HELP: string
  command(args: string[]): Promise<number>
}

/** A command is loaded when it is called: most need little of what there is. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: () => import('./cli/serve.ts'),
  work: () => import('./cli/work.ts'),
  run: () => import('./cli/run.ts'),
  assets: () => import('./cli/assets.ts'),
  log: () => import('./cli/log.ts'),
  mcp: () => import('./cli/mcp.ts'),
  token: () => import('./cli/token.ts'),
}

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(HELP)
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${version}\n`)
    return 0
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!load) throw new UsageError(`There is no command "${name}"; byref --help lists them`)
  const { HELP: help, command } = await load()
  if (!asksForHelp(args)) return command(args)
  process.stdout.write(help)
  return 0
}

/** What follows a "--" belongs to another program. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).some((one) => one === '--help' || one === '-h')
}

// Whoever reads our output may have had enough of it (`byref … | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})
// What cannot be said there, nobody hears: no reason to end what runs.
process.stderr.on('error', () => {})

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  // What a person can mend is one line; a defect of byref keeps its stack.
  const expected =
    error instanceof UsageError || error instanceof ByrefError || isSystemError(error)
  process.stderr.write(`byref: ${expected ? errorMessage(error) : (error as Error).stack}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
