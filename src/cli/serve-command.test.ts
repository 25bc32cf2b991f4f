import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runMain } from './fixtures/run-main.ts'

describe('byref serve', () => {
  it.each([
    [['--issuer', 'a', '--audience', 'b'], '--issuer and --audience go with --jwks'],
    [['--concurrency', '3'], '--concurrency needs --database'],
    [['--bucket', 'b'], '--bucket needs --database'],
    [['--database', 'mysql://a:secret@b/c'], 'byref: --database takes a URL such as postgresql://'],
    [['--host', '0.0.0.0'], 'A server on 0.0.0.0 is open to everyone: require tokens'],
  ])('rejects options that do not fit: %j', async (args, message) => {
    vi.stubEnv('BYREF_DATABASE', undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { status, err } = await runMain('serve', ...args)
    expect([status, err]).toEqual([2, expect.stringContaining(message)])
  })
})
