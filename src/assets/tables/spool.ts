import type { FileHandle } from 'node:fs/promises'
import { nodeBuiltin } from '../../node-builtin.ts'
import { copyBytes } from '../bodies/body.ts'
import { withStorageErrors } from '../bodies/durable.ts'

const { mkdtemp, open, rm } = nodeBuiltin('node:fs/promises')
const { tmpdir } = nodeBuiltin('node:os')
const { join } = nodeBuiltin('node:path')

/** Runs code that writes temporary files. @throws ByrefError `storage_full`, `storage_failed` if the disk fails */
export function withTemporaryFiles<T>(run: () => Promise<T>): Promise<T> {
  return withStorageErrors('Writing a temporary file', run)
}

/** Temporary bytes with random access. */
export interface Spooled {
  readonly size: number
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>
  /** Frees the bytes. */
  dispose(): Promise<void>
}

/** Temporary bytes that are written and then read. Few bytes stay in memory, more go to a temporary file. */
export interface Spool extends Spooled {
  append(bytes: Uint8Array): Promise<void>
}

const IN_MEMORY = 16 * 1024 * 1024
const CHUNK = 256 * 1024

/** Opens a written file; `dispose` frees it. */
export async function spoolOf(path: string, dispose: () => Promise<void>): Promise<Spooled> {
  const handle = await open(path, 'r')
  const { size, read } = await sourceOf(handle)
  return {
    size,
    read,
    stream: () => ReadableStream.from(chunksIn(size, read)),
    async dispose() {
      await handle.close()
      await dispose()
    },
  }
}

/** Opens a file for random access. */
export async function sourceOf(handle: FileHandle): Promise<Pick<Spooled, 'size' | 'read'>> {
  const { size } = await handle.stat()
  return { size, read: (start, end) => readFrom(handle, start, Math.min(end, size)) }
}

/** Creates an empty {@link Spool}. */
export function createSpool(): Spool {
  let memory: Uint8Array[] = []
  let size = 0
  let file: { folder: string; handle: FileHandle } | null = null

  async function toFile(): Promise<FileHandle> {
    if (file) return file.handle
    const folder = await mkdtemp(join(tmpdir(), 'byref-'))
    const handle = await open(join(folder, 'table'), 'wx+', 0o600)
    file = { folder, handle }
    for (const bytes of memory) await handle.appendFile(bytes)
    memory = []
    return handle
  }

  async function read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    if (!file) {
      if (memory.length > 1) memory = [Buffer.concat(memory)]
      return copyBytes((memory[0] ?? new Uint8Array()).subarray(start, end))
    }
    return readFrom(file.handle, start, Math.min(end, size))
  }

  return {
    get size() {
      return size
    },
    async append(bytes) {
      size += bytes.byteLength
      if (!file && size <= IN_MEMORY) memory.push(copyBytes(bytes))
      else await withTemporaryFiles(async () => (await toFile()).appendFile(bytes))
    },
    read,
    stream: () => ReadableStream.from(chunksIn(size, read)),
    async dispose() {
      memory = []
      if (!file) return
      await file.handle.close()
      await rm(file.folder, { recursive: true, force: true })
    },
  }
}

/** Writes a stream to a new file that only this user can read. */
export async function writeBody(stream: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    for await (const chunk of stream) await file.appendFile(chunk)
  } finally {
    await file.close()
  }
}

async function readFrom(
  handle: FileHandle,
  start: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Math.max(0, end - start))
  const { bytesRead } = await handle.read(bytes, 0, bytes.byteLength, start)
  return bytes.subarray(0, bytesRead)
}

async function* chunksIn(
  size: number,
  read: (start: number, end: number) => Promise<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < size; at += CHUNK) yield await read(at, Math.min(at + CHUNK, size))
}
