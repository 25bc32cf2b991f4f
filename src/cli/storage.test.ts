import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { command as serveCommand } from './serve-command.ts'
import { openStorage } from './storage.ts'

/** Nothing listens on this port. */
const database = 'postgresql://nobody@127.0.0.1:1/none'

let data: string

beforeEach(() => {
  data = join(mkdtempSync(join(tmpdir(), 'byref-storage-')), 'data')
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(join(data, '..'), { recursive: true })
})

/** An S3 server that responds to everything with a status. */
async function bucketServer(status: number): Promise<Server> {
  const server = createServer((_, response) => response.writeHead(status).end())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${port}`)
  vi.stubEnv('AWS_REGION', 'us-east-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  return server
}

describe('openStorage', () => {
  it('needs no folder if there are a database and a bucket', async () => {
    const server = await bucketServer(200)
    const storage = await openStorage({ data, database, bucket: 'byref' })
    expect(existsSync(data)).toBe(false)
    await storage.close()
    server.close()
  })

  it('rejects a missing bucket, and wrong keys', async () => {
    for (const [status, words] of [
      [404, 'has no bucket "wrong"'],
      [403, 'rejects the keys for bucket "wrong"'],
    ] as const) {
      const server = await bucketServer(status)
      await expect(openStorage({ data, database, bucket: 'wrong' })).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(words),
      })
      server.close()
    }
  })
})

describe('byref serve', () => {
  it('rejects --concurrency without a database', async () => {
    const args = ['--concurrency', '3', '--data', data, '--port', '0']
    await expect(serveCommand(args)).rejects.toThrow('--concurrency needs --database')
  })

  it('stops, and reports the reason, if its database does not respond', async () => {
    const stolen = createServer()
    await once(stolen.listen(0, '127.0.0.1'), 'listening')
    const { port } = stolen.address() as AddressInfo
    stolen.close()
    await once(stolen, 'close')
    const args = ['--database', database, '--data', data, '--port', `${port}`]
    await expect(serveCommand(args)).rejects.toMatchObject({
      code: 'log_failed',
      message: expect.stringContaining('no server answers'),
    })
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  })
})
