import type { Stats } from 'node:fs'
import { nodeBuiltin } from '../../node-builtin.ts'

const fs = nodeBuiltin('node:fs')

// Without file handles, which cost more than a small file itself, and without the `promisify` of node:util, which would
// cost everybody who imports byref 4 MB of memory.

/** Opens a file or a folder; its descriptor. */
export function openFile(path: string, flags: string): Promise<number> {
  return answerOf((done) => fs.open(path, flags, done))
}

/** Writes `length` bytes from `at` on; how many it wrote. */
export function writeFile(
  fd: number,
  bytes: Uint8Array,
  { at, length }: { at: number; length: number },
): Promise<number> {
  return answerOf((done) => fs.write(fd, bytes, at, length, null, done))
}

export function closeFile(fd: number): Promise<void> {
  return answerOf((done) => fs.close(fd, done))
}

/** Resolves when the disk has the bytes of the file. */
export function syncData(fd: number): Promise<void> {
  return answerOf((done) => fs.fdatasync(fd, done))
}

/** Resolves when the disk has all of the file or folder. */
export function syncAll(fd: number): Promise<void> {
  return answerOf((done) => fs.fsync(fd, done))
}

export function statFile(fd: number): Promise<Stats> {
  return answerOf((done) => fs.fstat(fd, done))
}

type Done<T> = (error: Error | null | undefined, value?: T) => void

function answerOf<T>(call: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value as T)))
  })
}
