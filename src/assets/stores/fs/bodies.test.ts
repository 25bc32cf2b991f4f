import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newRecord } from '../../asset-record.ts'
import { sha256 } from '../../bodies/digest.ts'
import { nonce } from '../../nonce.ts'
import type { StoredRecord } from '../stored-record.ts'
import { holdBody, releaseBodies, removeUnheld, restoreBody } from './bodies.ts'
import { type FsSpace, fsLayout } from './layout.ts'

let root: string
let space: FsSpace
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'byref-'))
  space = fsLayout(root).space(null)
})
afterEach(() => rm(root, { recursive: true, force: true }))

// Every step takes a while, each another, so that savers and removers meet between all of them.
vi.mock('./durable.ts', async (original) => {
  const real = await original<typeof import('./durable.ts')>()
  const { linkFile, moveFile, removeFile } = real
  return {
    ...real,
    linkFile: slow(linkFile),
    moveFile: slow(moveFile),
    removeFile: slow(removeFile),
  }
})
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const readdir = (path: string) => real.readdir(path)
  return { ...real, readdir: slow(readdir) }
})

function slow<A extends unknown[], R>(run: (...args: A) => Promise<R>) {
  return async (...args: A): Promise<R> => {
    await pause(20)
    const result = await run(...args)
    await pause(20)
    return result
  }
}

/** Mostly short, now and then long, so that anything can overtake anything. */
function pause(most: number): Promise<void> {
  return new Promise((go) => setTimeout(go, Math.random() ** 3 * most))
}

/** A saver's own files for a body, and its record. */
async function prepare(
  body: string,
): Promise<{ record: StoredRecord; recordFile: string; bodyFile: string }> {
  const about = { digest: sha256(body), size: body.length }
  const record = { ...newRecord(about, 'text/plain', {}), holder: nonce() }
  const recordFile = join(root, `${record.holder}.record`)
  const bodyFile = join(root, `${record.holder}.body`)
  await Promise.all([writeFile(recordFile, ''), writeFile(bodyFile, body)])
  await mkdir(space.bodyFolder(about.digest), { recursive: true })
  return { record, recordFile, bodyFile }
}

async function hold(body: string): Promise<StoredRecord> {
  const { record, recordFile, bodyFile } = await prepare(body)
  const { holder } = record
  await holdBody(space, record, { record: recordFile, holder, body: bodyFile })
  return record
}

async function namesOf(digest: string): Promise<string[]> {
  const names = await readdir(space.bodyFolder(digest))
  return names.filter((name) => name.startsWith(digest)).map((name) => name.slice(64))
}

describe('holdBody and releaseBodies', () => {
  it('keep a body as long as somebody holds it', async () => {
    const first = await hold('a')
    const second = await hold('a')
    expect(await releaseBodies(space, first)).toEqual({ bodies: 0, bytes: 0 })
    expect(await readFile(space.body(first.digest), 'utf8')).toBe('a')
    expect(await releaseBodies(space, second)).toEqual({ bodies: 1, bytes: 1 })
    expect(await namesOf(first.digest)).toEqual([])
  })

  it.each([1, 2, 3])(
    'leave exactly what is held, with %i removers and a saver',
    async (removers) => {
      const rounds = Array.from({ length: 200 }, async (_, round) => {
        const body = `body ${round}`
        const held = await Promise.all(Array.from({ length: removers }, () => hold(body)))
        const saving = pause(60).then(() => hold(body))
        await Promise.all(held.map((record) => pause(30).then(() => releaseBodies(space, record))))
        const { digest, holder } = await saving
        expect((await namesOf(digest)).sort()).toEqual(['', `.${holder}.ref`])
        expect(await readFile(space.body(digest), 'utf8')).toBe(body)
        const other = await hold(body)
        await Promise.all([other, await saving].map((record) => releaseBodies(space, record)))
        expect(await namesOf(digest)).toEqual([])
      })
      await Promise.all(rounds)
    },
    30_000,
  )

  it('keep a body whose remover was overtaken by a saver', async () => {
    // The remover has moved the body aside and is killed; the saver comes before and after.
    for (const order of ['ref first', 'ref after'] as const) {
      const body = `body ${order}`
      const digest = sha256(body)
      const first = await hold(body)
      const saver = order === 'ref first' ? await hold(body) : null
      await rm(space.ref(digest, first.holder))
      const aside = `${space.body(digest)}.${nonce()}.trash`
      await writeFile(aside, body)
      await rm(space.body(digest))
      const holder = saver ?? (await hold(body))
      expect(await removeUnheld(space, digest)).toBe(false)
      expect(await namesOf(digest)).toEqual(['', `.${holder.holder}.ref`].sort())
      expect(await readFile(space.body(digest), 'utf8')).toBe(body)
    }
  })

  it('remove what a killed remover left aside, when nobody needs it', async () => {
    const { digest, holder } = await hold('x')
    await writeFile(`${space.body(digest)}.${nonce()}.trash`, 'x')
    await rm(space.ref(digest, holder))
    await removeUnheld(space, digest)
    expect(await namesOf(digest)).toEqual([])
  })

  it('remove the public name that a killed remover left', async () => {
    const record = await hold('x')
    const { digest, holder } = record
    await writeFile(space.publicName(digest, 'text/plain'), 'x')
    await rm(space.body(digest))
    await rm(space.ref(digest, holder))
    expect(await removeUnheld(space, digest)).toBe(false)
    expect(await namesOf(digest)).toEqual([])
  })

  it('put a body back for whoever reads it', async () => {
    const { digest, holder } = await hold('x')
    await writeFile(`${space.body(digest)}.${nonce()}.trash`, 'x')
    await rm(space.body(digest))
    expect(await restoreBody(space, digest)).toBe(true)
    expect((await namesOf(digest)).sort()).toEqual(['', `.${holder}.ref`])
    expect(await restoreBody(space, digest)).toBe(false)
  })
})
