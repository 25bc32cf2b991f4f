import {
  type ChildProcess,
  type SpawnOptions,
  type StdioOptions,
  spawn,
  spawnSync,
} from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The command line as a person runs it, without API keys of this machine. */
const KEYS = /^(OPENAI|ANTHROPIC|GOOGLE|BYREF)_/

const FLAGS = ['--disable-warning=ExperimentalWarning', '--conditions=byref-source']

/** How a command ended. */
export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/** A server in its own process. */
export interface ServerProcess {
  url: string
  /** The lines it printed when it was ready. */
  greeting: string
  /** Everything that it has printed so far. */
  output: Pick<Finished, 'stdout' | 'stderr'>
  process: ChildProcess
  /** Sends the signal and waits for the end. Returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** A folder for the data of one test file, and a function that removes it. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'byref-e2e-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** A data set of the npm package vega-datasets. */
export function dataset(name: string): string {
  return join(root, 'node_modules/vega-datasets/data', name)
}

/** The user and group ids of a command. Only root can choose them. */
export interface Identity {
  uid: number
  gid: number
}

/** Runs `byref …` until it ends. */
export function byref(
  args: string[],
  env: Record<string, string> = {},
  as?: Identity,
): Promise<Finished> {
  return start(args, env, as).ended
}

/** Starts `byref …`. */
export function start(
  args: string[],
  env: Record<string, string> = {},
  as?: Identity,
): { process: ChildProcess; ended: Promise<Finished> } {
  const child = launch(args, env, { ...as })
  const output = collect(child)
  const ended = once(child, 'close').then(([code]) => ({ code, ...output }))
  return { process: child, ended }
}

/** How `byref serve` is started. */
export interface ServeOptions {
  /** Opens a channel to its parent, like `npm start`. */
  channel?: boolean
  /** More arguments. The port is a free one by default. */
  args?: readonly string[]
  /** A file descriptor for its standard error. Default: a pipe that is read. */
  stderr?: number
}

/** Starts `byref serve` and waits until it prints its URL. */
export function serve(
  data: string,
  env: Record<string, string> = {},
  { channel = false, args = [], stderr }: ServeOptions = {},
): Promise<ServerProcess> {
  const stdio = ['ignore', 'pipe', stderr ?? 'pipe', ...(channel ? ['ipc'] : [])] as StdioOptions
  return started(launch(['serve', '--port', '0', '--data', data, ...args], env, { stdio }))
}

/** Starts `npm start` in its own process group, and waits until the server prints its URL. */
export function npmStart(data: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  const args = ['start', '--', '--port', '0', '--data', data]
  return started(
    spawn('npm', args, {
      cwd: root,
      env: environment(env),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
}

/** Starts `byref serve` by a shell, like npx, in its own process group, and waits until it prints its URL. */
export function npxServe(data: string): Promise<ServerProcess> {
  const command = [
    process.execPath,
    ...FLAGS,
    join(root, 'src/cli.ts'),
    'serve',
    '--port',
    '0',
    '--data',
    data,
  ]
  // The trailing command keeps the shell running.
  const line = `${command.map((part) => `'${part}'`).join(' ')}; true`
  return started(
    spawn('sh', ['-c', line], {
      env: environment({ npm_lifecycle_event: 'npx' }),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
}

/** Returns the running processes of a group. */
export function groupOf(id: number): string[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pgid=,stat=,args='], { encoding: 'utf8' })
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/))
  return lines
    .filter(([group, state]) => Number(group) === id && !state?.startsWith('Z'))
    .map(([, , ...command]) => command.join(' '))
}

async function started(child: ChildProcess): Promise<ServerProcess> {
  const output = collect(child)
  const ended = once(child, 'close')
  let isOver = false
  child.once('close', () => {
    isOver = true
  })
  while (!/^(model|work) .*\n/m.test(output.stdout)) {
    if (isOver) throw new Error(`The server ended: ${output.stderr}`)
    await Promise.race([once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), ended])
  }
  return {
    url: /http:\S+/.exec(output.stdout)?.[0] ?? '',
    greeting: output.stdout,
    output,
    process: child,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const [code] = await ended
      return code
    },
  }
}

/** Returns an unprivileged user who can run this clone; null if there is none. */
export function nobody(): Identity | null {
  if (process.getuid?.() !== 0) return null
  const identity = { uid: 65534, gid: 65534 }
  const probe = `require('node:fs').readFileSync(${JSON.stringify(join(root, 'src/cli.ts'))})`
  return spawnSync(process.execPath, ['-e', probe], identity).status === 0 ? identity : null
}

function environment(more: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([key]) => !KEYS.test(key) && key !== 'NODE_OPTIONS',
  )
  return { ...Object.fromEntries(own), ...more }
}

function launch(args: string[], env: Record<string, string>, options: SpawnOptions): ChildProcess {
  return spawn(process.execPath, [...FLAGS, join(root, 'src/cli.ts'), ...args], {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return output
}
