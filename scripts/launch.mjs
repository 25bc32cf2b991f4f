import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { environment, node, nodeFlags, root } from './setup.mjs'

/** Runs the command line from source on the project's Node, forwards signals, and exits with the same status. */
export function launch(args) {
  const child = spawn(node, [...nodeFlags, join(root, 'src/cli.ts'), ...args], {
    // The channel closes when this process is killed. Then the server ends, too.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...environment(), BYREF_LAUNCHED: '1' },
  })
  // A terminal sends Ctrl-C to the child, too. A signal to this process must be forwarded.
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (!(signal === 'SIGINT' && process.stdin.isTTY) && !stopping) child.kill(signal)
      stopping = true
    })
  }
  // npm starts this by a shell. A signal to npm ends the shell without telling this process.
  const parent = process.ppid
  const orphaned = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(orphaned)
    child.kill('SIGTERM')
  }, 500)
  if (!process.env.npm_lifecycle_event) clearInterval(orphaned)
  child.on('error', (error) => {
    console.error(error.message)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    clearInterval(orphaned)
    process.exitCode = signal ? 128 + constants.signals[signal] : code
  })
}
