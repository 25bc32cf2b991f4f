import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runMain } from './fixtures/run-main.ts'

describe('byref serve', () => {
  it.each([
    [['--issuer', 'a', '--audience', 'b'], '--issuer and --audience go with --jwks'],
    [['--concurrency', '3'], '--concurrency needs --database'],
  ])('rejects options that it would ignore: %j', async (args, message) => {
    vi.stubEnv('BYREF_DATABASE', undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { status, err } = await runMain('serve', ...args)
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
  })
})
