import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../core/events/events.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { chat, queued, runStarted } from '../testing/conversation-log/events.ts'
import { runMain } from './fixtures/run-main.ts'

const CLI = fileURLToPath(new URL('../cli.ts', import.meta.url))
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-'))
  await mkdir(join(folder, 'data'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const path = (): string => join(folder, 'data', 'conversations.sqlite')

async function byref(...args: string[]) {
  const { status, out, err } = await runMain('log', ...args, '--data', join(folder, 'data'))
  return { status, out, err }
}

async function fill(): Promise<void> {
  const log = createSqliteLog(path())
  await log.append('sound', [chat('a'), chat('line \u2028 separator')])
  const events: ConversationEvent[] = [
    queued('first'),
    runStarted('r', ['first']),
    queued('second'),
  ]
  await log.scoped('n').append('broken', [...events, chat('c'), chat('d')])
  await log.close()
}

async function fillLong(): Promise<void> {
  const log = createSqliteLog(path())
  await log.append(
    'long',
    Array.from({ length: 400 }, (_, i) => chat(`text ${i}`)),
  )
  await log.close()
}

function sql(text: string): void {
  const database = new DatabaseSync(path())
  database.exec(text)
  database.close()
}

describe('byref log', () => {
  it('verifies a log without errors, and reports that', async () => {
    await fill()
    expect(await byref('verify')).toEqual({
      status: 0,
      out: '',
      err: '2 conversations, 0 problems\n',
    })
  })

  it('deletes conversations: some, or all of a namespace', async () => {
    await fill()
    const unknown = 'byref: There is no conversation "other"\n1 conversation deleted\n'
    expect(await byref('rm', 'other', 'sound')).toEqual({ status: 1, out: 'sound\n', err: unknown })
    expect(await byref('rm', '--all')).toMatchObject({
      status: 2,
      err: expect.stringContaining('byref log rm --all --namespace <name>'),
    })
    expect((await byref('rm', '--all', '--namespace', 'other')).out).toBe('')
    expect((await byref('ls', '--namespace', 'n')).out).toContain('broken')
    expect(await byref('rm', '--all', '--namespace', 'n', '--json')).toEqual({
      status: 0,
      out: '{"id":"broken","namespace":"n"}\n',
      err: '1 conversation deleted\n',
    })
    expect((await byref('ls')).out).toBe('')
  })

  it('lists conversations, and copies one through a file', async () => {
    await fill()
    const file = join(folder, 'sound.jsonl')
    expect((await byref('export', 'sound', file)).status).toBe(0)
    expect(await byref('import', file, '--id', 'copy')).toEqual({
      status: 0,
      out: 'copy\n',
      err: '',
    })
    const { status, err } = await byref('import', file)
    expect([status, err]).toEqual([1, expect.stringContaining('exists')])
    const lines = (await byref('ls')).out.trimEnd().split('\n')
    const rows = lines.map((line) => line.split('\t'))
    expect(rows.map(([id]) => id).sort()).toEqual(['broken', 'copy', 'sound'])
    expect(rows.find(([id]) => id === 'broken')?.at(-1)).toBe('in n')
    const listed = (await byref('ls', '--namespace', 'n', '--json')).out
    expect(JSON.parse(listed)).toMatchObject({ id: 'broken', namespace: 'n' })
    // Into a folder that does not exist.
    await rm(join(folder, 'data'), { recursive: true })
    expect(await byref('import', file)).toEqual({ status: 0, out: 'sound\n', err: '' })
  })

  it('ends an open run in a copy, unless it is told to leave it open', async () => {
    await fill()
    const file = join(folder, 'open.jsonl')
    expect((await byref('export', 'broken', file, '--namespace', 'n')).status).toBe(0)
    await byref('import', file, '--id', 'copy')
    await byref('import', file, '--id', 'moved', '--resume')
    const log = createSqliteLog(path())
    const copy = { position: 8, openRun: null, queued: 0, status: 'failed' }
    expect(await log.find('copy')).toMatchObject(copy)
    expect((await log.read('copy', { after: 5 })).map(({ event }) => event)).toMatchObject([
      { type: 'RUN_ERROR', threadId: 'broken', runId: 'r', code: 'interrupted' },
      { type: 'RUN_STARTED', messageIds: ['second'] },
      { type: 'RUN_ERROR', code: 'interrupted' },
    ])
    expect(await log.find('moved')).toMatchObject({ position: 5, openRun: 'r', queued: 1 })
    await log.close()
  })

  it('rejects an option that the task ignores', async () => {
    await fill()
    const { status, err } = await byref('verify', '--dry-run')
    expect([status, err]).toEqual([2, expect.stringContaining('goes with byref log repair')])
  })

  it('reports damage, sets it aside, repairs it and keeps what it removes', async () => {
    await fill()
    sql(`UPDATE records SET event = replace(event, '"c"', '"x"') WHERE position = 4`)
    const verified = await byref('verify')
    expect(verified.status).toBe(1)
    expect(verified.out).toBe('damaged\tbroken\tat position 4\tits checksum is wrong\tin n\n')
    const damage = { position: 4, reason: 'its checksum is wrong' }
    const log = createSqliteLog(path())
    const own = log.scoped('n')
    expect(await own.find('broken')).toMatchObject({ damage, status: 'failed' })
    expect((await log.list({ due: true, allNamespaces: true })).conversations).toEqual([])

    const exported = await byref('export', 'broken', '--namespace', 'n')
    expect([exported.status, exported.out.trim().split('\n').length]).toEqual([1, 8])
    const intact = createSqliteLog(join(folder, 'intact.sqlite'))
    await intact.import([exported.out])
    const ended = { position: 6, openRun: null, queued: 0, status: 'failed' }
    expect(await intact.find('broken')).toMatchObject(ended)
    expect((await intact.read('broken', { after: 3 })).map(({ event }) => event)).toMatchObject([
      { type: 'RUN_ERROR', runId: 'r', code: 'conversation_damaged' },
      { type: 'RUN_STARTED', messageIds: ['second'] },
      { type: 'RUN_ERROR', code: 'conversation_damaged' },
    ])
    await intact.close()
    const dry = await byref('repair', '--dry-run')
    expect([dry.status, dry.out]).toEqual([1, expect.stringContaining('would remove 2 records')])
    expect(await own.find('broken')).toMatchObject({ damage })

    const repaired = await byref('repair', '--json')
    expect(repaired.status).toBe(0)
    expect(JSON.parse(repaired.out)).toMatchObject({ id: 'broken', damage, removed: 2 })
    const [copy = ''] = await readdir(join(folder, 'data', 'damaged'))
    const lines = (await readFile(join(folder, 'data', 'damaged', copy), 'utf8')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { byref: 'removed records', conversation: 'broken', namespace: 'n', damage },
      { position: 4, event: expect.stringContaining('"x"'), problem: 'its checksum is wrong' },
      { position: 5, event: expect.stringContaining('"d"'), problem: null },
    ])

    // The run does not continue by itself, because nobody knows what had been done.
    expect(await own.find('broken')).toMatchObject({ damage: null, openRun: null, queued: 0 })
    const events = (await own.read('broken', { after: 3 })).map(({ event }) => event)
    expect(events).toMatchObject([
      { type: 'RUN_ERROR', runId: 'r', code: 'conversation_damaged' },
      { type: 'RUN_STARTED', messageIds: ['second'] },
      { type: 'RUN_ERROR', message: expect.stringContaining('from position 4 on were damaged') },
    ])
    await log.close()
    expect((await byref('verify')).status).toBe(0)
    expect((await byref('repair')).err).toContain('0 conversations repaired')
  })

  it('rebuilds a damaged index, and removes none of the records that it misses', async () => {
    await fillLong()
    const database = new DatabaseSync(path(), { defensive: false })
    // The index loses its second half, and the table does not.
    database.exec(`
      CREATE TEMP TABLE kept AS SELECT * FROM records WHERE position > 200;
      DELETE FROM records WHERE position > 200;
      CREATE TEMP TABLE definition AS
        SELECT * FROM sqlite_schema WHERE name = 'records_by_position';
      PRAGMA writable_schema = ON;
      DELETE FROM sqlite_schema WHERE name = 'records_by_position';
      PRAGMA writable_schema = RESET;
      INSERT INTO records SELECT * FROM kept;
      PRAGMA writable_schema = ON;
      INSERT INTO sqlite_schema SELECT * FROM definition;
      PRAGMA writable_schema = RESET`)
    database.close()
    const verified = await byref('verify')
    expect([verified.status, verified.out]).toEqual([1, expect.stringMatching(/^file\t/)])
    const dry = await byref('repair', '--dry-run')
    expect(dry.err).toContain('its indexes are rebuilt first')
    const repaired = await byref('repair')
    expect(repaired.err).toContain('0 conversations repaired, 0 not repaired')
    expect(await byref('verify')).toMatchObject({ status: 0 })
    const log = createSqliteLog(path())
    expect(await log.read('long', { limit: 500 })).toHaveLength(400)
    await log.close()
  })

  it('removes nothing if an index cannot be rebuilt', async () => {
    await fillLong()
    const database = new DatabaseSync(path())
    const { pgoffset, pgsize } = Object(
      database
        .prepare(
          "SELECT pgoffset, pgsize FROM dbstat WHERE name = 'records_by_position' AND pagetype = 'leaf' ORDER BY pageno DESC",
        )
        .get(),
    )
    database.close()
    const bytes = await readFile(path())
    await writeFile(path(), bytes.fill(0, pgoffset, pgoffset + pgsize))
    const repaired = await byref('repair')
    expect([repaired.status, repaired.err]).toEqual([
      1,
      expect.stringContaining('so nothing was removed'),
    ])
    expect(existsSync(join(folder, 'data', 'damaged'))).toBe(false)
  })

  it('finds a wrong summary, rebuilds it, and restores sound conversations', async () => {
    await fill()
    sql(`UPDATE conversations SET state = 'wrong' WHERE id = 'sound'`)
    expect((await byref('verify', 'sound')).out).toContain('its summary does not match its records')
    expect((await byref('repair', 'sound')).out).toContain('removed 0 records')
    sql(`UPDATE conversations SET position = position - 1 WHERE id = 'sound'`)
    expect((await byref('verify', 'sound')).out).toContain('its summary does not match its records')
    expect((await byref('repair', 'sound')).out).toContain('removed 0 records')
    expect((await byref('verify', 'sound')).status).toBe(0)
    sql(`UPDATE conversations SET damage = '{"position":1,"reason":"mended by hand"}'`)
    const verified = await byref('verify')
    expect([verified.status, verified.out]).toEqual([0, expect.stringContaining('sound again')])
    const log = createSqliteLog(path())
    expect((await log.list({ due: true, allNamespaces: true })).conversations).toHaveLength(1)
    await log.close()
  })

  it('reports errors in a command', async () => {
    expect((await byref('verify')).err).toContain('There is no conversation log')
    await fill()
    expect((await byref('mend')).err).toContain('There is no byref log mend')
    expect((await byref('export')).err).toContain('byref log export <id> [file]')
    expect((await byref('import', '/no/such.jsonl')).err).toMatch(
      /^byref: Cannot read \/no\/such\.jsonl: ENOENT.*\n$/,
    )
    const missing = await byref('verify', 'nothing')
    expect([missing.status, missing.err]).toEqual([
      1,
      expect.stringContaining('no conversation "nothing"'),
    ])
    expect((await byref('--help')).out).toContain('byref log repair')
  })

  it('leaves no file where there is no conversation to export', async () => {
    await fill()
    const file = join(folder, 'export.jsonl')
    const missing = await byref('export', 'none', file)
    expect(missing.status).toBe(1)
    expect(missing.err).toContain('There is no conversation "none"')
    expect(await byref('export', 'sound', file)).toMatchObject({ status: 0, err: '' })
    expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(4)
  })

  it('leaves no part of an export under its name if it is killed', async () => {
    const log = createSqliteLog(path())
    for (let i = 0; i < 40; i++) {
      await log.append(
        'long',
        Array.from({ length: 1000 }, (_, n) => chat(`${i}.${n}`)),
      )
    }
    await log.close()
    const file = join(folder, 'long.jsonl')
    const args = [CLI, 'log', 'export', 'long', file, '--data', join(folder, 'data')]
    const child = spawn(process.execPath, args)
    const ended = once(child, 'close')
    await expect
      .poll(async () => (await readdir(folder)).join(' '), { interval: 2 })
      .toContain('long.jsonl')
    child.kill('SIGKILL')
    await ended
    const whole = existsSync(file) ? (await readFile(file, 'utf8')).split('\n').length : 40_003
    expect(whole).toBe(40_003)
  })

  it('does not overwrite a file with an export', async () => {
    await fill()
    const file = join(folder, 'mine.jsonl')
    await writeFile(file, 'mine')
    const { status, err } = await byref('export', 'sound', file)
    expect([status, err]).toEqual([1, `byref: ${file} exists: export to another file\n`])
    expect(await readFile(file, 'utf8')).toBe('mine')
  })
})
