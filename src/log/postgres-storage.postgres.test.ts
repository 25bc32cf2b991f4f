import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { ByrefError } from '../core/errors.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { watchedPool } from '../postgres/fixtures/watched-pool.ts'
import { claimed } from './fixtures/claimed.ts'
import { createPostgresLog } from './postgres-log.ts'

const chat = (id: string, content = id): ConversationEvent => {
  return { type: 'NEW_MESSAGE', payload: toMessage({ id, content }) }
}

/** A log in its own schema, the statements of its connections, and another connection. */
async function open(options: pg.PoolConfig = {}) {
  const { connectionString, schema } = newSchema()
  const watched = watchedPool(connectionString, options)
  const log = createPostgresLog({ pool: watched.pool, schema })
  await log.find('c')
  const beside = new pg.Client({ connectionString, options: `-c search_path=${schema}` })
  await beside.connect()
  const close = async (): Promise<void> => {
    await log.close()
    await watched.pool.end()
    await beside.end()
  }
  return { log, beside, schema, connectionString, close, watched }
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  )
  return error instanceof ByrefError ? error.code : error
}

describe('createPostgresLog', () => {
  it('appends in one statement, however many conversations there are', async () => {
    const { log, beside, watched, connectionString, schema, close } = await open()
    const step = async (id: string, after: number): Promise<string[]> => {
      const before = watched.sent.length
      const lease = { owner: 'o', ms: 60_000 }
      await log.append(id, [claimed(after), chat(`m${after}`)], { after, lease, debug: { m: 1 } })
      return watched.sent.slice(before).filter((text) => !text.includes('pg_notify'))
    }
    await step('c', 0)
    const [statement, ...more] = await step('c', 2)
    expect(more).toEqual([])
    await beside.query(`INSERT INTO conversations (namespace, id, created, updated)
      SELECT 'n' || n % 7, 'c' || n, n, n FROM generate_series(1, 5000) AS n`)
    expect(await step('c', 4)).toEqual([statement])
    // A log that has only found the conversation can append.
    const other = createPostgresLog({ connectionString, schema })
    await other.append('d', [claimed(0)])
    await log.find('d')
    expect(await step('d', 1)).toEqual([statement])
    await other.append('d', [claimed(3)], { after: 3 })
    await log.find('d')
    await log.find('c')
    expect(await step('c', 6)).toEqual([statement])
    await other.close()
    await close()
  })

  it('never scans a whole table', async () => {
    const { log, beside, watched, schema, connectionString, close } = await open()
    const lease = { owner: 'o', ms: 60_000 }
    log.subscribe(() => {})
    await log.append('c', [chat('needle')], { after: 0, lease, debug: { m: 1 } })
    await log.append('c', [{ type: 'MESSAGE_DELETED', messageId: 'needle' }], { after: 1, lease })
    await log.append('c', [claimed(1)], { after: 0 }).catch(() => {})
    await log.append('c', [], { lease })
    for (const options of [
      ...[{}, { allNamespaces: true }, { due: true }, { due: 'abandoned' as const }],
      ...[{ search: 'needle' }, { cursor: '5.5' }, { cursor: '5.5', allNamespaces: true }],
    ]) {
      await log.list(options)
    }
    await log.renew('c', lease)
    await log.read('c')
    await log.deleted('c')
    await log.debug('c', 'm')
    const lines = []
    for await (const line of log.export('c')) lines.push(line)
    await log.import(lines, { id: 'd' })
    await log.rename('d', 'x')
    await log.rename('d', null)
    await log.delete('d')
    const other = createPostgresLog({ connectionString, schema })
    await other.append('c', [claimed(2)])
    await other.close()
    const texts = new Set(
      watched.sent.filter((text) => /^\s*(WITH|SELECT|UPDATE|INSERT|DELETE)/.test(text)),
    )
    expect(texts.size).toBeGreaterThan(25)
    await beside.query('SET enable_seqscan = off')
    const { rows } = await beside.query('SHOW server_version_num')
    if (Number(rows[0].server_version_num) >= 160_000) {
      for (const text of texts) {
        const plan = await beside.query(`EXPLAIN (GENERIC_PLAN) ${text}`)
        const lines = plan.rows.map((row) => String(row['QUERY PLAN']))
        expect(
          lines.filter((line) => line.includes('Seq Scan')),
          text,
        ).toEqual([])
      }
    }
    await close()
  })

  it('uses no more connections than configured, and waits for none while it holds one', async () => {
    const { log, watched, close } = await open({ max: 1 })
    log.subscribe(() => {})
    const work = Array.from({ length: 40 }, async (_, n) => {
      const id = `c${n % 10}`
      await log.append(id, [claimed(n), chat(`m${n}`)])
      await log.append(id, [{ type: 'MESSAGE_DELETED', messageId: `m${n}` }])
      await log.rename(id, `${n}`)
      return log.list({ search: 'm1' })
    })
    await Promise.all(work)
    expect(watched.pool.totalCount).toBe(1)
    expect((await log.find('c1'))?.position).toBe(12)
    await close()
  })

  it('leaves no transaction open, whatever is rejected or fails', async () => {
    const { log, beside, schema, close } = await open()
    await log.append('c', [claimed(0)], { lease: { owner: 'a', ms: 60_000 } })
    await beside.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF new.event LIKE '%poison%' THEN
        RAISE EXCEPTION 'SECRET %', new.event USING ERRCODE = CASE WHEN new.event LIKE '%full%' THEN '53100' ELSE '22000' END;
      END IF; RETURN new; END $$`)
    await beside.query(
      'CREATE TRIGGER fail BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION fail()',
    )
    const told: unknown[] = []
    log.subscribe((change) => told.push(change))
    const lease = { owner: 'b', ms: 1 }
    const refused = await Promise.all([
      codeOf(log.append('c', [claimed(1)], { after: 0 })),
      codeOf(log.append('c', [claimed(1)], { after: 9 })),
      codeOf(log.append('c', [claimed(1)], { lease })),
      codeOf(log.append('c', [claimed('poison')])),
      codeOf(log.append('c', [claimed('poison')], { after: 1 })),
      codeOf(log.append('new', [claimed('poison full')])),
    ])
    expect(refused).toEqual([
      ...['log_conflict', 'conversation_not_found', 'lease_held'],
      ...['log_failed', 'log_failed', 'storage_full'],
    ])
    const error = await log.append('c', [claimed('poison')]).catch((reason) => reason)
    expect(error.message).not.toContain('SECRET')
    expect(error.cause.message).toContain('SECRET')
    expect(told).toEqual([])
    const idle = await beside.query(
      `SELECT count(*) AS n FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND query LIKE $1`,
      [`%${schema}%`],
    )
    expect(idle.rows).toEqual([{ n: '0' }])
    expect(await log.find('new')).toBeNull()
    expect(await log.append('c', [claimed(1)], { after: 1 })).toHaveLength(1)
    await close()
  })

  it('uses the clock of the database', async () => {
    const { log, close } = await open()
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 86_400_000)
    await log.append('c', [claimed(0)], { lease: { owner: 'a', ms: 60_000 } })
    const found = await log.find('c')
    clock.mockRestore()
    expect(found?.lease?.expiresIn).toBeGreaterThan(30_000)
    expect(Math.abs(Date.parse(found?.updatedAt ?? '') - now)).toBeLessThan(3_600_000)
    const taken = codeOf(log.append('c', [claimed(1)], { lease: { owner: 'b', ms: 1 } }))
    expect(await taken).toBe('lease_held')
    await close()
  })

  it('stores texts and names that PostgreSQL cannot store directly', async () => {
    const { log, close } = await open()
    const odd = ['\0', '\ud800', 'a\\b', '\\u0000', '%_\'"', 'x'.repeat(10_000), '🙂'.repeat(3_000)]
    const debug = Object.fromEntries(odd.map((id) => [id, { of: id }]))
    await log.append(
      'c',
      odd.map((id) => chat(id, `text of ${id}`)),
      { debug },
    )
    for (const id of odd) expect(await log.debug('c', id)).toEqual({ of: id })
    await log.append(
      'c',
      odd.map((messageId) => ({ type: 'MESSAGE_DELETED', messageId })),
    )
    expect((await log.deleted('c')).toSorted()).toEqual(odd.toSorted())
    for (const title of ['a\0b', 'back\\slash', '\\u0041']) {
      await log.rename('c', title)
      expect((await log.find('c'))?.title).toBe(title)
      expect((await log.list({ search: title })).conversations).toHaveLength(1)
    }
    const run: ConversationEvent = {
      type: 'RUN_STARTED',
      threadId: 'c',
      runId: '\0\ud800',
      messageIds: ['\0'],
      owner: 'o',
    }
    await log.append('c', [{ ...run, agent: 'an\0agent\\' }])
    expect(await log.find('c')).toMatchObject({ openRun: '\0\ud800', agent: 'an\0agent\\' })
    const lines = []
    for await (const line of log.export('c')) lines.push(line)
    await log.import(lines, { id: 'd' })
    expect(await log.find('d')).toMatchObject({
      title: '\\u0041',
      openRun: '\0\ud800',
      agent: 'an\0agent\\',
    })
    await close()
  })

  it('finds the same without a trigram index', async () => {
    const { log, beside, close } = await open()
    await beside.query('DROP INDEX records_words; DROP INDEX conversations_words')
    await log.append('a', [chat('1', 'the first of May')])
    await log.append('b', [chat('2', 'x'), chat('3', '100% OF it')])
    const found = async (search: string): Promise<string> => {
      const { conversations } = await log.list({ search })
      return conversations.map(({ id }) => id).join()
    }
    expect([await found('first of'), await found('0% of'), await found('0_ of')]).toEqual([
      'a',
      'b',
      '',
    ])
    await close()
  })

  it('leaves nothing behind of deleted conversations and failed imports', async () => {
    const { log, beside, close } = await open()
    await log.append(
      'c',
      Array.from({ length: 4_500 }, (_, n) => chat(`${n}`)),
      { debug: { 1: 1 } },
    )
    const lines = []
    for await (const line of log.export('c')) lines.push(line)
    await expect(log.import([...lines, 'no JSON'], { id: 'd' })).rejects.toMatchObject({
      code: 'bad_request',
    })
    await log.delete('c')
    const { rows } = await beside.query(`SELECT (SELECT count(*) FROM records) AS records,
      (SELECT count(*) FROM debug) AS debug, (SELECT count(*) FROM leftovers) AS leftovers`)
    expect(rows).toEqual([{ records: '0', debug: '0', leftovers: '0' }])
    // Left by a process that was killed during the work.
    await beside.query(`INSERT INTO leftovers VALUES (7777, 0);
      INSERT INTO records (conversation, position, at, event, sum) VALUES (7777, 1, 0, '{"type":"X"}', 0)`)
    await log.import([lines.at(0), lines.at(-1)].map(String), { id: 'd' })
    expect((await beside.query('SELECT FROM records')).rowCount).toBe(0)
    await close()
  })

  it('rejects tables of a newer version', async () => {
    const { log, beside, connectionString, schema, close } = await open()
    await log.create('c')
    await beside.query("UPDATE parts SET version = 99 WHERE part = 'log'")
    const late = createPostgresLog({ connectionString, schema })
    await expect(late.find('c')).rejects.toThrow(/version 99.*Update byref/)
    await late.close()
    expect(await log.find('c')).not.toBeNull()
    await close()
  })

  it('keeps the process alive until it is closed', async () => {
    const { connectionString, schema } = newSchema()
    const script = fileURLToPath(new URL('./fixtures/close-postgres-log.ts', import.meta.url))
    const child = spawn(process.execPath, [script, connectionString, schema], { stdio: 'pipe' })
    const said = child.stdout.toArray()
    const [status] = await once(child, 'exit')
    expect([status, String(await said)]).toEqual([0, 'closed\n'])
  })

  it('reports what to do if the database cannot be used, and never the password', async () => {
    const { connectionString, close, beside, schema } = await open()
    const url = new URL(connectionString)
    url.password = 'hunter2'
    const to = (change: (url: URL) => void): string => {
      const changed = new URL(url)
      change(changed)
      return changed.href
    }
    await beside.query(`CREATE ROLE "weak_${schema}" LOGIN`)
    const closing = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await once(closing, 'listening')
    const other = closing.address() as AddressInfo
    const wrong: [string, RegExp][] = [
      [to((at) => (at.port = '1')), /no server answers/],
      [to((at) => (at.pathname = '/nowhere')), /database does not exist.*createdb/],
      [to((at) => (at.username = 'nobody')), /user or the password/],
      [to((at) => (at.search = '?sslmode=require')), /does not use TLS/],
      [to((at) => (at.port = String(other.port))), /check that PostgreSQL answers/],
      [to((at) => (at.username = `weak_${schema}`)), /lacks permissions.*GRANT/],
    ]
    for (const [text, message] of wrong) {
      const log = createPostgresLog({ connectionString: text, schema: 'elsewhere' })
      const error = await log.find('c').catch((reason) => reason)
      expect(error).toMatchObject({ code: 'log_failed', message: expect.stringMatching(message) })
      expect(`${error.stack} ${JSON.stringify(error.cause)}`).not.toContain('hunter2')
      await log.close()
    }
    for (const text of ['hunter2', 'postgres://u:hunter2@[/x', 'http://u:hunter2@h/x']) {
      let error: unknown
      try {
        createPostgresLog({ connectionString: text })
      } catch (thrown) {
        error = thrown
      }
      expect(error).toMatchObject({ code: 'config_invalid' })
      expect((error as Error).cause).toBeUndefined()
      expect(String((error as Error).stack)).not.toContain('hunter2')
    }
    expect(() => createPostgresLog({ connectionString, schema: 'a"b' })).toThrow(/schema must be/)
    closing.close()
    await close()
  })
})
