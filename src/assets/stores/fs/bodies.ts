import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { bodiesOf } from '../../asset-record.ts'
import { nonce } from '../../nonce.ts'
import { linkFile, moveFile, osCode, removeFile } from './durable.ts'
import type { FsSpace } from './layout.ts'
import type { FsRecord } from './records.ts'

/**
 * How processes that know nothing of each other share bodies. Whoever needs a body first creates its ref, then makes
 * sure that the body is there. Whoever removes one first moves the body aside, then looks for refs again and puts it
 * back if there are some. In whatever order those four steps meet, a body with a ref ends up in its place.
 *
 * Gives true if the body is the given file now, false if there was one.
 */
export async function holdBody(
  space: FsSpace,
  digest: string,
  files: {
    /** Becomes the ref. */
    record: string
    holder: string
    /** Becomes the body, unless there is one. */
    body: string
  },
): Promise<boolean> {
  await linkFile(files.record, space.ref(digest, files.holder))
  return linkFile(files.body, space.body(digest))
}

/** Gives up everything that the record holds, and removes the bodies that nobody holds now. */
export async function releaseBodies(
  space: FsSpace,
  record: FsRecord,
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
 * was seen aside.
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
    const aside = (await namesOf(space, digest)).filter(isTrash)
    if (aside.length === 0) return false
    if (await isHeld(space, digest)) continue
    for (const name of aside) await removeFile(join(space.bodyFolder(digest), name))
    for (const name of await namesOf(space, digest)) {
      if (isPublicName(name)) await removeFile(join(space.bodyFolder(digest), name))
    }
    return moved
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

async function isHeld(space: FsSpace, digest: string): Promise<boolean> {
  return (await namesOf(space, digest)).some((name) => name.endsWith('.ref'))
}

async function namesOf(space: FsSpace, digest: string): Promise<string[]> {
  try {
    const names = await readdir(space.bodyFolder(digest))
    return names.filter((name) => name.startsWith(`${digest}.`))
  } catch (error) {
    if (osCode(error) === 'ENOENT') return []
    throw error
  }
}

function isTrash(name: string): boolean {
  return name.endsWith('.trash')
}

function isPublicName(name: string): boolean {
  return !name.endsWith('.ref') && !isTrash(name)
}
