import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newRecord } from './asset-record.ts'
import { sha256 } from './digest.ts'
import { holdBody, releaseBodies, removeUnheld, restoreBody } from './fs-bodies.ts'
import { type FsSpace, fsLayout } from './fs-layout.ts'
import type { FsRecord } from './fs-records.ts'
import { nonce } from './nonce.ts'

let root: string
let space: FsSpace
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'byref-'))
  space = fsLayout(root).space(null)
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** A saver's own files for a body, and its record. */
async function prepare(
  body: string,
): Promise<{ record: FsRecord; recordFile: string; bodyFile: string }> {
  const about = { digest: sha256(body), size: body.length }
  const record = { ...newRecord(about, 'text/plain', {}), holder: nonce() }
  const recordFile = join(root, `${record.holder}.record`)
  const bodyFile = join(root, `${record.holder}.body`)
  await Promise.all([writeFile(recordFile, ''), writeFile(bodyFile, body)])
  await mkdir(space.bodyFolder(about.digest), { recursive: true })
  return { record, recordFile, bodyFile }
}

async function hold(body: string): Promise<FsRecord> {
  const { record, recordFile, bodyFile } = await prepare(body)
  const { holder, digest } = record
  await holdBody(space, digest, { record: recordFile, holder, body: bodyFile })
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

  it('leave exactly what is held, however savers and removers meet', async () => {
    for (let round = 0; round < 150; round++) {
      const body = `body ${round}`
      const digest = sha256(body)
      const kept = await Promise.all(
        Array.from({ length: 6 }, async (_, i) => {
          for (let again = 0; again <= i % 3; again++) {
            const record = await hold(body)
            if (i === round % 7 && again === 0) return record
            await releaseBodies(space, record)
          }
          return null
        }),
      )
      const holders = kept.filter((record) => record !== null)
      expect((await namesOf(digest)).sort()).toEqual(
        holders.length > 0 ? ['', ...holders.map(({ holder }) => `.${holder}.ref`)].sort() : [],
      )
      if (holders.length > 0) expect(await readFile(space.body(digest), 'utf8')).toBe(body)
    }
  })

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

  it('put a body back for whoever reads it', async () => {
    const { digest, holder } = await hold('x')
    await writeFile(`${space.body(digest)}.${nonce()}.trash`, 'x')
    await rm(space.body(digest))
    expect(await restoreBody(space, digest)).toBe(true)
    expect((await namesOf(digest)).sort()).toEqual(['', `.${holder}.ref`])
    expect(await restoreBody(space, digest)).toBe(false)
  })
})
