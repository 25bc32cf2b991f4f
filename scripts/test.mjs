// `npm test` sets up what is missing, then runs lint, types and all tests but the slow ones (`*.slow.test.ts`).
// `npm run test:all` runs the slow ones, too.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled, ensureWebBuilt, environment, node, root, say } from './setup.mjs'

ensureInstalled()
ensureWebBuilt()

const report = join(root, 'node_modules', '.cache', 'byref-tests.json')
mkdirSync(join(root, 'node_modules', '.cache'), { recursive: true })
rmSync(report, { force: true })

// Tests start hundreds of processes. They share compiled code.
const compiled = join(root, 'node_modules', '.cache', 'compiled')
const failed = []
await Promise.all([
  check('lint', ['node_modules/@biomejs/biome/bin/biome', 'ci', '.']),
  types('types', '.'),
  types('types of @byref/react', 'packages/react'),
  types('types of the workbench', 'web'),
  types('types of create-byref', 'packages/create-byref'),
  types('types of the site', 'site'),
])
const isAll = process.argv.includes('--all')
step(
  'tests',
  [
    node,
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2).filter((arg) => arg !== '--all'),
  ],
  { NODE_COMPILE_CACHE: compiled, BYREF_TESTS: isAll ? 'all' : 'quick' },
)
close()

/**
 * Checks the types of a project. Several checks run concurrently, with one thread each. Unchanged projects are
 * skipped.
 */
function types(name, project) {
  const state = join(
    root,
    'node_modules',
    '.cache',
    'types',
    `${project.replaceAll('/', '-')}.json`,
  )
  const flags = ['--checkers', '1', '--incremental', '--tsBuildInfoFile', state]
  return check(name, ['node_modules/typescript/bin/tsc', '-p', project, ...flags])
}

/** Runs a check beside others, and prints its output at the end. */
async function check(name, args) {
  const child = spawn(node, args, { cwd: root, env: environment() })
  const said = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => said.push(data))
  const [status] = await once(child, 'close')
  say(`\n── ${name}`)
  process.stdout.write(Buffer.concat(said))
  if (status !== 0) failed.push(name)
}

/** Runs a step, and continues after a failure, so that one run reports all problems. */
function step(name, [command, ...args], extra) {
  say(`\n── ${name}`)
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: environment(extra),
  })
  if (status !== 0) failed.push(name)
}

/** The last line has the number of tests, for people and programs. */
function close() {
  const {
    numPassedTests = 0,
    numFailedTests = 0,
    numPendingTests = 0,
  } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {}
  if (failed.length > 0) say(`\nfailed: ${failed.join(', ')}`)
  if (failed.length > 0 || numPassedTests === 0) process.exitCode = 1
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`)
}
