import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const CLI = fileURLToPath(new URL('../cli.ts', import.meta.url))

describe('byref serve', () => {
  it.each([
    [['--issuer', 'a', '--audience', 'b'], '--issuer and --audience go with --jwks'],
    [['--concurrency', '3'], '--concurrency needs --database'],
  ])('rejects options that it would ignore: %j', (args, message) => {
    const cwd = mkdtempSync(join(tmpdir(), 'byref-serve-'))
    onTestFinished(() => rmSync(cwd, { recursive: true }))
    const { BYREF_DATABASE: _, ...env } = process.env
    const options = { cwd, env, encoding: 'utf8', timeout: 60_000 } as const
    const { status, stderr } = spawnSync(process.execPath, [CLI, 'serve', ...args], options)
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
