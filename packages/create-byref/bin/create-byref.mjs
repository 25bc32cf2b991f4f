#!/usr/bin/env node
// Uses syntax of old Node versions, so that they can run this check.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `create-byref needs Node 22.18 or newer, and this is ${process.versions.node}. Install a newer one from https://nodejs.org.`,
  )
  process.exit(1)
}
const { main } = await import('../src/main.mjs')
process.exitCode = await main(process.argv.slice(2))
