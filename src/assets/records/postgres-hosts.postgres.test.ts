import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { mixed } from '../../../scripts/torture/mixed.ts'
import { newSchema } from '../../postgres/fixtures/schemas.ts'
import { watchedPool } from '../../postgres/fixtures/watched-pool.ts'
import { createAssets } from '../create-assets.ts'
import { createStore } from '../stores/create-store.ts'
import { memoryBodies } from '../stores/memory.ts'
import { postgresRecords } from './postgres-records.ts'

function start(script: string, ...options: string[]): ChildProcess {
  const path = fileURLToPath(new URL(`../fixtures/${script}`, import.meta.url))
  return spawn(process.execPath, [path, ...options], { stdio: ['pipe', 'pipe', 'inherit'] })
}

async function said(child: ChildProcess): Promise<string> {
  return child.stdout ? String((await once(child.stdout, 'data'))[0]).trim() : ''
}

describe('postgresRecords, with other hosts', () => {
  it('enforces a quota exactly, with any number of concurrent saves', async () => {
    const { connectionString, schema } = newSchema()
    const hosts = [1, 2].map(() =>
      start('add-to-postgres.ts', connectionString, schema, '20', `${25 * 1024 + 100}`),
    )
    const saved = await Promise.all(hosts.map(said))
    expect(saved.map(Number).reduce((sum, count) => sum + count, 0)).toBe(25)
    const records = postgresRecords({ connectionString, schema })
    expect(await records.usage('n', Date.now())).toEqual({ assets: 25, bytes: 25 * 1024 })
    expect(
      (await records.list('n', { after: null, limit: 100, now: Date.now() })).entries,
    ).toHaveLength(25)
    await records.close()
  })

  it('lets one host sweep at a time, and another when the first one is gone', async () => {
    const { connectionString, schema } = newSchema()
    const records = postgresRecords({ connectionString, schema })
    const store = createStore({ records, bodies: memoryBodies() })
    const assets = createAssets({ store })
    const old = { createdAt: '2020-01-01T00:00:00.000Z' }
    const { assetId } = await store.save(new Uint8Array([1, 2, 3]), 'image/png', old)
    const host = start('hold-in-postgres.ts', connectionString, schema, 'sweep of null')
    expect(await said(host)).toBe('begun')
    expect(await assets.sweep({ referenced: [] })).toMatchObject({ deleted: [], elsewhere: true })
    expect((await assets.sweep({ referenced: [], dryRun: true })).deleted).toEqual([assetId])
    host.kill('SIGKILL')
    await once(host, 'exit')
    await expect
      .poll(async () => (await assets.sweep({ referenced: [] })).deleted)
      .toEqual([assetId])
    expect(await records.exclusive?.('sweep of null', async () => 'done')).toBe('done')
    await store.close?.()
  })

  it('contains exactly what exists after two hosts saved, removed and swept at once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'byref-mixed-'))
    const place = { folder, postgres: newSchema() }
    const report = await mixed({ operations: 300, processes: 2, place })
    expect(report.saved).toBeGreaterThan(0)
    expect(report.deleted).toBeGreaterThan(0)
    await rm(folder, { recursive: true })
  })

  it('never scans a whole table, and leaves no transaction open', async () => {
    const { connectionString, schema } = newSchema()
    const { pool, sent } = watchedPool(connectionString)
    const records = postgresRecords({ pool, schema })
    const store = createStore({ records, bodies: memoryBodies() })
    const now = Date.now()
    const { assetId } = await store.save(new Uint8Array([1]), 'image/png')
    await expect(
      store.save(new Uint8Array([2]), 'image/png', { quota: { assets: 1, bytes: 9 } }),
    ).rejects.toMatchObject({ code: 'quota_exceeded' })
    await store.list()
    await store.usage()
    await records.expired(now, 9)
    await records.held(['k'])
    await store.delete(assetId)
    const beside = new pg.Client({ connectionString })
    await beside.connect()
    const idle = await beside.query(
      `SELECT query FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND query LIKE $1`,
      [`%${schema}%`],
    )
    expect(idle.rows).toEqual([])
    await beside.query('SET enable_seqscan = off')
    const { rows } = await beside.query('SHOW server_version_num')
    const texts = new Set(
      sent.filter((text) => /^\s*(WITH|SELECT|UPDATE|INSERT|DELETE)/.test(text)),
    )
    expect(texts.size).toBeGreaterThan(10)
    for (const text of Number(rows[0].server_version_num) >= 160_000 ? texts : []) {
      // One row it has, once.
      if (text.includes('assets_self')) continue
      const plan = await beside.query(`EXPLAIN (GENERIC_PLAN) ${text}`)
      const lines = plan.rows.map((row) => String(row['QUERY PLAN']))
      expect(
        lines.filter((line) => line.includes('Seq Scan')),
        text,
      ).toEqual([])
    }
    await beside.end()
    await store.close?.()
    await pool.end()
  })
})
