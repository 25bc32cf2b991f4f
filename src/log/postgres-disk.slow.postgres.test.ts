import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { chat } from '../testing/conversation-log/events.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createPostgresLog } from './postgres-log.ts'

const NOBODY = 65534
const folder = mkdtempSync(join(tmpdir(), 'byref-full-'))
const isMounted =
  process.getuid?.() === 0 &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder]).status === 0
const filler = join(folder, 'filler')
const tablespace = `tiny_${process.pid}`
const { connectionString, schema } = newSchema()
// Everything that these connections create is on the small disk.
const place = {
  connectionString: `${connectionString}?options=-c%20default_tablespace%3D${tablespace}`,
  schema,
}

async function admin(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

describe.skipIf(!isMounted)('createPostgresLog on a full disk', () => {
  beforeAll(async () => {
    const data = join(folder, 'data')
    mkdirSync(data)
    chownSync(data, NOBODY, NOBODY)
    chownSync(folder, NOBODY, NOBODY)
    writeFileSync(filler, randomBytes(2_500_000))
    await admin(`CREATE TABLESPACE ${tablespace} LOCATION '${data}'`)
  })

  afterAll(async () => {
    await admin(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`, `DROP TABLESPACE ${tablespace}`)
    spawnSync('umount', [folder])
  })

  it('stores nothing of a rejected append, reads existing records, and works again when there is room', async () => {
    const log = createPostgresLog(place)
    const answers = Array.from({ length: 5 }, () => 'Fine.')
    const agent = createAgent({ model: scriptedModel(answers), log })
    const stored: string[] = []
    let error: unknown = null
    for (let n = 0; n < 200 && error === null; n++) {
      const text = randomBytes(40_000).toString('base64')
      const appended = log.append('c', [chat(text)])
      await appended.then(
        () => stored.push(text),
        (reason) => {
          error = reason
        },
      )
    }
    expect(error).toMatchObject({ code: 'storage_full' })
    const content = randomBytes(60_000).toString('base64')
    const message = { id: 'm', role: 'user', content }
    await expect(agent.send('d', message)).rejects.toMatchObject({ code: 'storage_full' })
    const texts = (await log.read('c')).map(({ event }) =>
      event.type === 'NEW_MESSAGE' ? event.payload.id : null,
    )
    expect(texts).toEqual(stored)
    expect((await log.list()).conversations.map(({ id }) => id)).toContain('c')

    rmSync(filler)
    await log.append('c', [chat('again')])
    expect(await log.find('c')).toMatchObject({ position: stored.length + 1, damage: null })
    const run = agent.run({ conversation: 'd', messages: [message] })
    expect((await run.result).text).toBe('Fine.')
    await agent.close()
    await log.close()
  })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))
