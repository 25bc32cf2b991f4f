import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { say } from '../agent/fixtures/agent.ts'
import { type PostgresServer, startPostgres } from '../postgres/fixtures/start-postgres.ts'
import { watchedPool } from '../postgres/fixtures/watched-pool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createPostgresLog } from './postgres-log.ts'

const NOBODY = 65534

/** Only for tests: a self-signed certificate for localhost, valid until 2126. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/MDru3Hd7KfwaRej
1NBIGIXz0qcroXxOonw8LI5zffqhRANCAARVz0PVYx4qNuHAiAkV4zfbbGwyjAwv
C457ns2OdW3uPMHOWS/kSVPqxLqLsuGRhFAlMT0TzDNHffMJWL6kFzNZ
-----END PRIVATE KEY-----
`
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUfhNrcXVt5t0tNeXZUOOY5QWIh58wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzE2Mjc0N1oYDzIxMjYxMDMw
MTYyNzQ3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARVz0PVYx4qNuHAiAkV4zfbbGwyjAwvC457ns2OdW3uPMHOWS/kSVPq
xLqLsuGRhFAlMT0TzDNHffMJWL6kFzNZo28wbTAdBgNVHQ4EFgQUPIAqfYFa+VMM
SS6aqmLkkpzw9qAwHwYDVR0jBBgwFoAUPIAqfYFa+VMMSS6aqmLkkpzw9qAwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAKGJ3kiZf4tDdkNkPsKwn26G5iZlzM1ZrQwNwo8VjBXrAiEA
m+t0LK2SqZYd/mHEcpVcVQcGSVD+mweGyAMFYGLH5u4=
-----END CERTIFICATE-----
`

describe('createPostgresLog, over TLS', () => {
  let server: PostgresServer
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'byref-tls-'))
    await writeFile(join(folder, 'key.pem'), KEY, { mode: 0o600 })
    await writeFile(join(folder, 'cert.pem'), CERTIFICATE)
    // If root starts the server, it runs as another user.
    const isRoot = process.getuid?.() === 0
    for (const file of isRoot ? ['', 'key.pem', 'cert.pem'] : []) {
      await chown(join(folder, file), NOBODY, NOBODY)
    }
    server = await startPostgres()
    const { pool } = watchedPool(server.connectionString)
    await pool.query(`alter system set ssl_cert_file = '${join(folder, 'cert.pem')}'`)
    await pool.query(`alter system set ssl_key_file = '${join(folder, 'key.pem')}'`)
    await pool.query('alter system set ssl = on')
    await pool.end()
    await server.stop()
    await server.start()
  })
  afterAll(async () => {
    await server.remove()
    await rm(folder, { recursive: true })
  })

  it('runs an agent and is notified of changes with a trusted certificate', async () => {
    const root = join(folder, 'cert.pem')
    const connectionString = `${server.connectionString}?sslmode=verify-full&sslrootcert=${root}`
    const log = createPostgresLog({ connectionString })
    const heard = new Promise((resolve) => log.subscribe(resolve))
    const agent = createAgent({ model: scriptedModel(['Hello']), log })
    expect((await agent.run({ messages: say('Hi') }).result).text).toBe('Hello')
    await heard
    const { pool } = watchedPool(server.connectionString)
    const { rows } = await pool.query(
      'select count(*)::int as open from pg_stat_ssl join pg_stat_activity using (pid) where ssl and datname is not null',
    )
    expect(rows[0].open).toBeGreaterThan(0)
    await pool.end()
    await agent.close()
    await log.close()
  })

  it('fails with an unknown certificate', async () => {
    const log = createPostgresLog({
      connectionString: `${server.connectionString}?sslmode=verify-full`,
    })
    await expect(log.find('c')).rejects.toMatchObject({ code: 'log_failed' })
    await log.close()
  })
})
