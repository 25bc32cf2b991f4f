import type { FileHandle } from 'node:fs/promises'
import { checkOptions, is } from '../../core/check-options.ts'
import { inBackground } from '../../core/in-background.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { BodyRange, BodyStore, ListedBody } from './body-store.ts'
import { createFile, osCode, removeFile, withStorageErrors, writeDurable } from './durable.ts'
import { closeFile, openFile, syncAll } from './file-descriptor.ts'

const { mkdir, open, readdir, stat } = nodeBuiltin('node:fs/promises')
const { dirname, join, relative, resolve, sep } = nodeBuiltin('node:path')

/** Options of {@link fsBodies}. */
export interface FsBodiesOptions {
  /** Where the folder is published, such as `https://cdn.example.com/assets`: `urlFor` then gives URLs below it. */
  baseUrl?: string
}

const READ_SIZE = 256 * 1024

/**
 * Bodies as files below a folder, each under its key. A body is on the disk, with its name, when `put` resolves; many that
 * come at once share the syncs of their folder. Nothing is made before the first `put`: a folder on a full or read-only disk can
 * be read. Any number of processes may share it.
 */
export function fsBodies(folder: string, options: FsBodiesOptions = {}): BodyStore {
  checkOptions('fsBodies', options, { baseUrl: is.string })
  const root = resolve(folder)
  const baseUrl = options.baseUrl?.replace(/\/+$/, '')
  const folders = createFolderMaker()
  const pathOf = (key: string) => join(root, key)

  /** Somebody may have removed the folder since it was made. */
  async function create(path: string): Promise<number> {
    await folders.ensure(dirname(path))
    try {
      return await createFile(path)
    } catch (error) {
      if (osCode(error) !== 'ENOENT') throw error
    }
    folders.forget()
    await folders.ensure(dirname(path))
    return createFile(path)
  }

  /** Each folder once, for all that ask at once. */
  const syncTogether = together<string>((paths) => {
    const syncs = new Map([...new Set(paths)].map((path) => [path, syncFolder(path)]))
    return Promise.allSettled(paths.map((path) => syncs.get(path)))
  })

  /** Files that come at once, and then their folders. */
  const putTogether = together<{ path: string; body: Uint8Array }>(async (files) => {
    const writing = files.map(async ({ path, body }) => {
      await writeDurable({ fd: await create(path), path }, body)
    })
    await Promise.allSettled(writing)
    return Promise.allSettled(
      files.map(async ({ path }, i) => {
        await writing[i]
        await syncTogether(dirname(path))
      }),
    )
  })

  async function* filesIn(path: string): AsyncGenerator<ListedBody> {
    for (const entry of await entriesOf(path)) {
      const below = join(path, entry.name)
      if (entry.isDirectory()) yield* filesIn(below)
      else {
        const found = await statOf(below)
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
        if (body instanceof Uint8Array) return putTogether({ path, body })
        await writeDurable({ fd: await create(path), path }, body, signal)
        await syncTogether(dirname(path))
      }),

    open: (key, range) =>
      withStorageErrors('Reading an asset', async () => {
        const file = await openIfThere(pathOf(key))
        return file && streamFile(file, range)
      }),

    delete: (key) =>
      withStorageErrors('Removing an asset', async () => {
        await removeFile(pathOf(key))
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
    const buffer = new Uint8Array(Math.min(READ_SIZE, end - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, at)
    at += bytesRead
    if (bytesRead === 0) await file.close()
    return bytesRead === 0 ? null : buffer.subarray(0, bytesRead)
  }
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const chunk = await withStorageErrors('Reading an asset', next)
          if (chunk) controller.enqueue(chunk)
          else controller.close()
        } catch (error) {
          await file.close()
          throw error
        }
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  )
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function entriesOf(path: string) {
  try {
    return await readdir(path, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function statOf(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return osCode(error) === 'ENOENT' || osCode(error) === 'ENOTDIR'
}

const MAX_KNOWN_FOLDERS = 20_000

/** Waits until the disk has the names in a folder. */
async function syncFolder(path: string): Promise<void> {
  let folder: number
  try {
    folder = await openFile(path, 'r')
  } catch (error) {
    // Windows cannot open a folder, and needs no sync of one; a folder that we may not read is not ours.
    if (/^(EISDIR|EPERM|EACCES)$/.test(osCode(error) ?? '')) return
    throw error
  }
  try {
    await syncAll(folder)
  } catch (error) {
    if (osCode(error) !== 'EINVAL' && osCode(error) !== 'EPERM') throw error
  } finally {
    await closeFile(folder)
  }
}

/** Makes folders, each looked after once. */
interface FolderMaker {
  /** Makes a folder and those above it, and waits until the disk has their names. */
  ensure(path: string): Promise<void>
  /** Somebody removed folders: each is looked after again. */
  forget(): void
}

/** A maker whose list of folders is bounded. */
function createFolderMaker(): FolderMaker {
  const made = new Map<string, Promise<void>>()

  async function make(path: string): Promise<void> {
    const parent = dirname(path)
    try {
      await mkdir(path)
    } catch (error) {
      if (osCode(error) === 'ENOENT' && parent !== path) {
        // It was never made, or somebody removed it.
        made.delete(parent)
        await ensure(parent)
        return make(path)
      }
      if (osCode(error) !== 'EEXIST') throw error
    }
    await syncFolder(parent)
  }

  function ensure(path: string): Promise<void> {
    const known = made.get(path)
    if (known) return known
    if (made.size > MAX_KNOWN_FOLDERS) made.clear()
    const making = make(path)
    made.set(path, making)
    making.catch(() => made.delete(path))
    return making
  }

  return { ensure, forget: () => made.clear() }
}

interface Waiting<T> {
  item: T
  done(): void
  failed(error: unknown): void
}

/**
 * Gathers what comes while `run` is under way, and gives it to the next: many that come at once share what they have in
 * common. `run` gives what became of each.
 */
function together<T>(
  run: (items: T[]) => Promise<PromiseSettledResult<unknown>[]>,
): (item: T) => Promise<void> {
  let waiting: Waiting<T>[] = []
  let isRunning = false

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      await settle(group)
    }
    isRunning = false
  }

  /** Never rejects: whoever waits in the group hears what went wrong, and the next group has its turn. */
  async function settle(group: typeof waiting): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item))
      for (const [i, { done, failed }] of group.entries()) {
        const result = results[i]
        if (result?.status === 'rejected') failed(result.reason)
        else done()
      }
    } catch (error) {
      for (const { failed } of group) failed(error)
    }
  }

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed })
      if (isRunning) return
      isRunning = true
      queueMicrotask(() => inBackground('Writing bodies', work()))
    })
}
