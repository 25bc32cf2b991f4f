#!/usr/bin/env node
// In a clone of the repository, which has a lock file: set up what is missing, and run from source. In the installed
// package: run the built files.
import { existsSync } from 'node:fs'

const checkout = existsSync(new URL('../package-lock.json', import.meta.url))

if (checkout) {
  const { ensureInstalled, ensureWebBuilt } = await import('../scripts/setup.mjs')
  const { launch } = await import('../scripts/launch.mjs')
  const args = process.argv.slice(2)
  ensureInstalled()
  if (args[0] === 'serve') ensureWebBuilt()
  launch(args)
} else {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 18)) {
    console.error(`byref needs Node 22.18 or newer; this is ${process.versions.node}.`)
    process.exit(1)
  }
  const emit = process.emitWarning
  process.emitWarning = (warning, ...rest) => {
    // node:sqlite works and is tested here. Its warning would be the first thing that everybody reads.
    if (!String(warning).includes('SQLite is an experimental feature')) emit(warning, ...rest)
  }
  await import('../dist/cli.js')
}
