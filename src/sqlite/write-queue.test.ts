import { describe, expect, it } from 'vitest'
import { writeQueue } from './write-queue.ts'

function sqliteError(errcode: number): Error {
  const errstr = `SQLite error ${errcode}`
  return Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errcode, errstr })
}

const FULL = 13
const IO_ERROR = 10

/** The results of two concurrent writes if opening the file fails with these errors. The last one repeats. */
async function codesOf(errors: number[]): Promise<unknown[]> {
  const write = writeQueue({
    open() {
      throw sqliteError(errors.length > 1 ? Number(errors.shift()) : Number(errors[0]))
    },
    owner: { path: 'log.sqlite', what: 'conversation log', failed: 'log_failed' },
    busyTimeoutMs: 10,
    backOff: async () => {},
  })
  const settled = await Promise.allSettled([write(() => 1), write(() => 2)])
  return settled.map((one) => one.status === 'rejected' && one.reason.code)
}

describe('writeQueue', () => {
  it('rejects every write if the disk has no room to open the file', async () => {
    expect(await codesOf([FULL])).toEqual(['storage_full', 'storage_full'])
    expect(await codesOf([IO_ERROR, FULL])).toEqual(['storage_full', 'storage_full'])
  })
})
