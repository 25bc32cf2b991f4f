import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { bodiesOf } from '../../asset-record.ts'
import { nonce } from '../../nonce.ts'
import type { StoredRecord } from '../stored-record.ts'
import { linkFile, moveFile, namesIn, osCode, removeFile, sizeOf } from './durable.ts'
import type { FsSpace } from './layout.ts'

/**
 * How processes that know nothing of each other share bodies. Whoever needs a body first creates its ref, then makes
 * sure that the body is there. Whoever removes one first moves the body aside, then looks for refs again and puts it
 * back if there are some. In whatever order those four steps meet, a body with a ref ends up in its place.
 *
 * Gives true if the body is the given file now, false if there was one. One that is damaged, as its size tells, is
 * replaced.
 */
export async function holdBody(
  space: FsSpace,
  { digest, size }: { digest: string; size: number },
  files: {
    /** Becomes the ref. */
    record: string
    holder: string
    /** Becomes the body, unless there is one. */
    body: string
  },
): Promise<boolean> {
  const body = space.body(digest)
  await linkFile(files.record, space.ref(digest, files.holder))
  if (await linkFile(files.body, body)) return true
  const found = await sizeOf(body)
  if (found === null || found === size) return false
  await removeAll((await namesOf(space, digest)).filter(isPublicName), space, digest)
  await rename(files.body, body)
  return true
}

/** Gives up everything that the record holds, and removes the bodies that nobody holds now. */
export async function releaseBodies(
  space: FsSpace,
  record: StoredRecord,
): Promise<{ bodies: number; bytes: number }> {
  const freed = { bodies: 0, bytes: 0 }
  for (const { digest, size } of bodiesOf(record)) {
    await removeFile(space.ref(digest, record.holder))
    if (!(await removeUnheld(space, digest))) continue
    freed.bodies++
    freed.bytes += size
  }
  return freed
}

/**
 * Removes the body if no ref holds it; true if it did. Whatever is aside is only removed when no ref was there after it
 * was seen aside. The names that URLs have go before it, so that none can outlive it.
 */
export async function removeUnheld(space: FsSpace, digest: string): Promise<boolean> {
  for (;;) {
    if (await isHeld(space, digest)) {
      if (!(await restoreBody(space, digest))) return false
      // Whoever held it may have let go meanwhile, and found nothing to remove.
      continue
    }
    const trash = join(space.bodyFolder(digest), `${digest}.${nonce()}.trash`)
    const moved = await moveFile(space.body(digest), trash)
    const names = await namesOf(space, digest)
    const aside = names.filter(isTrash)
    const published = names.filter(isPublicName)
    if (aside.length + published.length === 0) return false
    if (await isHeld(space, digest)) continue
    await removeAll(published, space, digest)
    if (await isHeld(space, digest)) await publishAgain(published, space, digest)
    else {
      await removeAll(aside, space, digest)
      return moved
    }
  }
}

/** Puts a body back that is aside, if there is a ref that needs it; false if there was none to put back. */
export async function restoreBody(space: FsSpace, digest: string): Promise<boolean> {
  let restored = false
  for (const name of (await namesOf(space, digest)).filter(isTrash)) {
    const trash = join(space.bodyFolder(digest), name)
    try {
      await linkFile(trash, space.body(digest))
      await removeFile(trash)
      restored = true
    } catch (error) {
      if (osCode(error) !== 'ENOENT') throw error
    }
  }
  return restored
}

async function removeAll(names: string[], space: FsSpace, digest: string): Promise<void> {
  for (const name of names) await removeFile(join(space.bodyFolder(digest), name))
}

/** A save came in between and may have made the same names: they are its own. */
async function publishAgain(names: string[], space: FsSpace, digest: string): Promise<void> {
  await restoreBody(space, digest)
  for (const name of names) {
    try {
      await linkFile(space.body(digest), join(space.bodyFolder(digest), name))
    } catch (error) {
      if (osCode(error) !== 'ENOENT') throw error
    }
  }
}

async function isHeld(space: FsSpace, digest: string): Promise<boolean> {
  return (await namesOf(space, digest)).some((name) => name.endsWith('.ref'))
}

async function namesOf(space: FsSpace, digest: string): Promise<string[]> {
  const names = await namesIn(space.bodyFolder(digest))
  return names.filter((name) => name.startsWith(`${digest}.`))
}

function isTrash(name: string): boolean {
  return name.endsWith('.trash')
}

function isPublicName(name: string): boolean {
  return !name.endsWith('.ref') && !isTrash(name)
}
