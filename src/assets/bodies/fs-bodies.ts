import type { FileHandle } from 'node:fs/promises'
import { checkOptions, is } from '../../core/check-options.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { pullStream } from './body.ts'
import type { BodyRange, BodyStore, ListedBody } from './body-store.ts'
import { ifExists, osCode, withStorageErrors, writeDurable } from './durable.ts'

const { mkdir, open, readdir, stat, unlink } = nodeBuiltin('node:fs/promises')
const { dirname, join, relative, resolve, sep } = nodeBuiltin('node:path')

/** Options of {@link fsBodies}. */
export interface FsBodiesOptions {
  /**
   * The URL at which the folder is published, such as `https://cdn.example.com/assets`. `urlFor` then gives URLs below
   * it.
   */
  baseUrl?: string
}

const READ_SIZE = 256 * 1024

/**
 * Stores bodies as files below a folder, each under its key. When `put` resolves, a body and its name are on the disk.
 * Concurrent puts share the syncs of their folder. Nothing is created before the first `put`, so a folder on a full or
 * read-only disk can be read. Any number of processes may share the folder.
 */
export function fsBodies(folder: string, options: FsBodiesOptions = {}): BodyStore {
  checkOptions('fsBodies', options, { baseUrl: is.string })
  const root = resolve(folder)
  const baseUrl = options.baseUrl?.replace(/\/+$/, '')
  const folders = new FolderMaker()
  const pathOf = (key: string) => join(root, key)

  /** Tries twice, because another process may have removed the folder since it was created. */
  async function create(path: string): Promise<FileHandle> {
    await folders.ensure(dirname(path))
    try {
      return await open(path, 'wx')
    } catch (error) {
      if (osCode(error) !== 'ENOENT') throw error
    }
    folders.forget()
    await folders.ensure(dirname(path))
    return open(path, 'wx')
  }

  /** Syncs each folder once for all puts that wait for it. */
  const syncOnce = batching<string>((paths) => {
    const syncs = new Map([...new Set(paths)].map((path) => [path, syncFolder(path)]))
    return paths.map((path) => syncs.get(path))
  })

  /** Writes files that arrive together, and then syncs their folders. */
  const putBytes = batching<{ path: string; body: Uint8Array }>((files) => {
    const writing = files.map(async ({ path, body }) => {
      await writeDurable(await create(path), path, body)
    })
    const written = Promise.allSettled(writing)
    return files.map(async ({ path }, i) => {
      await written
      await writing[i]
      await syncOnce(dirname(path))
    })
  })

  async function* filesIn(path: string): AsyncGenerator<ListedBody> {
    for (const entry of (await ifExists(readdir(path, { withFileTypes: true }))) ?? []) {
      const below = join(path, entry.name)
      if (entry.isDirectory()) yield* filesIn(below)
      else {
        const found = await ifExists(stat(below))
        const key = relative(root, below).split(sep).join('/')
        if (found) yield { key, size: found.size, putAt: found.mtimeMs }
      }
    }
  }

  return {
    name: 'fs',

    put: (key, body, { signal }) =>
      withStorageErrors('Saving an asset', async () => {
        const path = pathOf(key)
        if (body instanceof Uint8Array) return putBytes({ path, body })
        await writeDurable(await create(path), path, body, signal)
        await syncOnce(dirname(path))
      }),

    open: (key, range) =>
      withStorageErrors('Reading an asset', async () => {
        const file = await ifExists(open(pathOf(key), 'r'))
        return file && streamFile(file, range)
      }),

    delete: (key) =>
      withStorageErrors('Removing an asset', async () => {
        await ifExists(unlink(pathOf(key)))
      }),

    async *list(prefix) {
      yield* filesIn(pathOf(prefix))
    },

    ...(baseUrl !== undefined && { urlFor: async (key) => `${baseUrl}/${key}` }),
  }
}

function streamFile(file: FileHandle, { start, end }: BodyRange): ReadableStream<Uint8Array> {
  let at = start
  async function next(): Promise<Uint8Array | null> {
    try {
      const buffer = new Uint8Array(Math.min(READ_SIZE, end - at))
      const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, at)
      at += bytesRead
      if (bytesRead > 0) return buffer.subarray(0, bytesRead)
    } catch (error) {
      await file.close()
      throw error
    }
    await file.close()
    return null
  }
  return pullStream(
    () => withStorageErrors('Reading an asset', next),
    () => file.close(),
  )
}

/** Waits until the names in a folder are on the disk. */
async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle
  try {
    folder = await open(path, 'r')
  } catch (error) {
    // Windows cannot open a folder, and does not need to sync it. A folder that we may not read belongs to somebody
    // else.
    if (/^(EISDIR|EPERM|EACCES)$/.test(osCode(error) ?? '')) return
    throw error
  }
  try {
    await folder.sync()
  } catch (error) {
    if (osCode(error) !== 'EINVAL' && osCode(error) !== 'EPERM') throw error
  } finally {
    await folder.close()
  }
}

const MAX_KNOWN_FOLDERS = 20_000

/** Creates folders and remembers which ones it has created. */
class FolderMaker {
  readonly #made = new Map<string, Promise<void>>()

  /** Creates a folder and its parents, and waits until their names are on the disk. */
  ensure(path: string): Promise<void> {
    const known = this.#made.get(path)
    if (known) return known
    if (this.#made.size > MAX_KNOWN_FOLDERS) this.#made.clear()
    const making = this.#make(path)
    this.#made.set(path, making)
    making.catch(() => this.#made.delete(path))
    return making
  }

  /** Forgets the created folders, because some were removed. `ensure` then checks each folder again. */
  forget(): void {
    this.#made.clear()
  }

  async #make(path: string): Promise<void> {
    const parent = dirname(path)
    try {
      await mkdir(path)
    } catch (error) {
      if (osCode(error) === 'ENOENT' && parent !== path) {
        this.#made.delete(parent)
        await this.ensure(parent)
        return this.#make(path)
      }
      if (osCode(error) !== 'EEXIST') throw error
    }
    await syncFolder(parent)
  }
}

/**
 * Returns a function that resolves when `start` has processed an item. Items that come during a batch wait for the next
 * one, which has all of them.
 */
function batching<T>(
  start: (items: readonly T[]) => (Promise<void> | undefined)[],
): (item: T) => Promise<void> {
  let waiting: T[] = []
  let next: Promise<(Promise<void> | undefined)[]> | null = null
  let last: Promise<unknown> = Promise.resolve()

  function startNext() {
    const items = waiting
    waiting = []
    next = null
    const running = start(items)
    last = Promise.allSettled(running)
    return running
  }

  return async (item) => {
    const place = waiting.push(item) - 1
    next ??= last.then(startNext)
    const batch = await next
    await batch[place]
  }
}
