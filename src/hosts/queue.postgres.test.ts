import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { watchedPool } from '../postgres/fixtures/watched-pool.ts'
import { createQueue, type HostQueue } from './queue.ts'

let place: ReturnType<typeof newSchema>
let queue: HostQueue
let sql: pg.Pool

beforeEach(() => {
  place = newSchema()
  sql = watchedPool(place.connectionString, { max: 1 }).pool
  queue = createQueue(place)
})

afterEach(async () => {
  await queue.close()
  await sql.end()
})

const due = { conversation: 'c', namespace: null, agent: null }
const all = { agents: [null], limit: 1, without: [] }

describe('createQueue', () => {
  it('returns unfinished jobs, even if it was used before maintenance starts', async () => {
    await queue.add([due])
    await queue.supervise()
    expect(await queue.take(all)).toMatchObject([due])
    expect(await queue.take(all)).toEqual([])
    const past = `UPDATE "${place.schema}".job SET started_on = started_on - interval '1 hour'`
    await sql.query(`${past} WHERE name = 'advance'`)
    await expect.poll(() => queue.take(all)).toMatchObject([due])
  })

  it('leaves out a conversation of an agent that no worker can have, such as an imported one', async () => {
    const odd = { conversation: 'odd', namespace: null, agent: 'two words' }
    await queue.add([odd, due])
    const query = (text: string, values: readonly unknown[]) => sql.query(text, [...values])
    await queue.enqueue(query, odd)
    expect(await queue.take(all)).toMatchObject([due])
  })

  it('reports what to do if its database cannot be used', async () => {
    const gone = Object.assign(new URL(place.connectionString), { pathname: '/not_there' }).href
    const wrong = createQueue({ connectionString: gone })
    const expected = {
      code: 'log_failed',
      message: expect.stringContaining('the database does not exist: create it'),
    }
    await expect(wrong.supervise()).rejects.toMatchObject(expected)
    await expect(wrong.add([due])).rejects.toMatchObject(expected)
    await expect(wrong.isWhole()).rejects.toMatchObject(expected)
    await wrong.close()
  })
})
