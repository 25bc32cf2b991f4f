import { describe, expect, it } from 'vitest'
import { createMemoryLog } from '../log/memory-log.ts'
import { createPostgresLog } from '../log/postgres-log.ts'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { play, playMany } from './fixtures/on-every-log.ts'

describe('agents on PostgreSQL', () => {
  it('run a conversation as on every other log', async () => {
    const log = createPostgresLog(newSchema())
    expect(await play(log)).toEqual(await play(createMemoryLog()))
    await log.close()
  })

  it('all finish, 100 at once over four connections', async () => {
    const log = createPostgresLog({ ...newSchema(), maxConnections: 4 })
    const { texts, standing } = await playMany(log, 100)
    expect(texts).toEqual(texts.map((_, i) => `${i}`))
    expect(standing).toEqual(['idle null'])
    await log.close()
  })
})
