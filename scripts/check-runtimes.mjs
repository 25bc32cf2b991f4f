// The package in other runtimes: Bun, Deno and Cloudflare's workerd. Arguments: a packed tarball, and a folder to work in.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { environment, node, QUIET, root, run, say } from './setup.mjs'

/** The checks for each runtime are in test/runtimes. */
export function checkRuntimes({ tarball, folder }) {
  const project = join(folder, 'runtimes')
  cpSync(join(root, 'test/runtimes'), project, { recursive: true })
  run('npm', ['install', ...QUIET, tarball], { cwd: project })
  const bin = (name) => join(project, 'node_modules', '.bin', name)
  for (const [name, command, args] of [
    ['Node', node, []],
    ['Bun', bin('bun'), []],
    ['Deno', bin('deno'), ['run', '--allow-all']],
  ]) {
    say(name)
    run(command, [...args, 'main.mjs'], { cwd: project, env: environment() })
  }
  const options = { cwd: project, env: environment() }
  run(node, ['workers.mjs'], options)
  run(node, ['--test', '--test-reporter=dot', 'r2.mjs'], options)
}
