// Runs before `npm start`, `npm test` and `npx byref` in a fresh clone. Works with any Node >= 20.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'node_modules', '.bin')

/** The project's own Node (24), which runs TypeScript directly. That of the machine may be older. */
export const node = join(bin, process.platform === 'win32' ? 'node.cmd' : 'node')

/** Experimental warnings (node:sqlite) would only clutter the output. */
export const nodeFlags = ['--disable-warning=ExperimentalWarning', '--conditions=byref-source']

/** The environment for child processes: the project's binaries first on the path. */
export function environment(extra = {}) {
  return { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, ...extra }
}

/** Runs a command with its output shown. Throws if it fails. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: environment(),
    ...options,
  })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with status ${status}`)
}

/** Runs a command, and returns its output. Throws if it fails. */
export function outputOf(command, args, options = {}) {
  const { status, error, stdout } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment(),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    ...options,
  })
  if (error) throw error
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(' ')} ended with status ${status}:\n${stdout}`)
}

/** Options of `npm install` and `npm ci`. */
export const QUIET = ['--no-audit', '--no-fund', '--loglevel=error']

/** Installs from the lock file, unless the installed packages came from the same lock file, also with `npm install`. */
export function ensureInstalled() {
  const stamp = join(root, 'node_modules', '.byref-installed')
  const wanted = digest([join(root, 'package-lock.json')])
  const installed = () => existsSync(node) && read(stamp) === wanted
  if (!installed()) alone('install', () => installed() || install(stamp, wanted))
}

function install(stamp, wanted) {
  if (!existsSync(node) || !hasLockedPackages()) installFromLock()
  writeFileSync(stamp, wanted)
}

/** Whether npm has installed the versions of the lock file. npm lists what it has installed in a file of its own. */
function hasLockedPackages() {
  const packagesIn = (file) => JSON.parse(read(join(root, file)) || '{}').packages ?? {}
  const found = packagesIn('node_modules/.package-lock.json')
  return Object.entries(packagesIn('package-lock.json')).every(
    ([path, { version, optional }]) =>
      path === '' || optional || (found[path] && found[path].version === version),
  )
}

function installFromLock() {
  say('Installing what byref needs (once, from the lock file; about a minute) …')
  const npm = process.env.npm_execpath
  // npm settings of the run that started this one, such as --prefix, do not apply to this install.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^npm_(config|package|lifecycle)_/i.test(key)),
  )
  const args = ['ci', ...QUIET]
  if (npm?.endsWith('.js')) run(process.execPath, [npm, ...args], { env })
  else run('npm', args, { env, shell: process.platform === 'win32' })
  if (!existsSync(node))
    throw new Error('npm ci did not bring node_modules/.bin/node; see its output above')
}

/** Builds the workbench into dist/web, unless it was already built from the same files. */
export function ensureWebBuilt() {
  const stamp = join(root, 'dist', 'web.stamp')
  const sources = [
    'web',
    'packages/react',
    'src/client',
    'src/core',
    'src/wire',
    'package-lock.json',
  ]
  const wanted = digest(sources.flatMap((path) => filesIn(join(root, path))))
  const built = () => existsSync(join(root, 'dist/web/index.html')) && read(stamp) === wanted
  if (!built()) alone('build', () => built() || buildWeb(stamp, wanted))
}

function buildWeb(stamp, wanted) {
  say('Building the workbench …')
  // The tests set another NODE_ENV, with which React's development code is built.
  const env = environment({ NODE_ENV: 'production' })
  const args = ['build', 'web', '--logLevel', 'warn']
  run(node, [join(root, 'node_modules/vite/bin/vite.js'), ...args], { env })
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(stamp, wanted)
}

/**
 * Runs work while no other process runs work with this name in this clone. Two concurrent installs break each other.
 */
function alone(name, work) {
  const lock = join(root, '.cache', `${name}.lock`)
  mkdirSync(join(root, '.cache'), { recursive: true })
  for (let waited = false; !take(lock); waited = true) {
    const owner = Number(read(lock))
    if (owner && !isAlive(owner)) rmSync(lock, { force: true })
    else if (!waited) say(`Waiting for process ${owner}, which does the same …`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  }
  try {
    work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Prints a line for the person who waits, on stderr, so that stdout contains only the program's output. */
export function say(line) {
  process.stderr.write(`${line}\n`)
}

function digest(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${relative(root, file)}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

function filesIn(path) {
  if (!existsSync(path)) return []
  if (!path.startsWith(root)) throw new Error(`${path} is not in the project`)
  const entries = tryReaddir(path)
  if (!entries) return [path]
  return entries
    .filter((entry) => entry.name !== 'node_modules' && !entry.name.includes('.test.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => filesIn(join(path, entry.name)))
}

function tryReaddir(path) {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOTDIR') return null
    throw error
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return null
  }
}
