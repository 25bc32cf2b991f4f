import { createReadStream, createWriteStream, mkdirSync } from 'node:fs'
import { readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FileStore } from '@tus/file-store'
import { Server as TusServer, type Upload } from '@tus/server'
import type { Assets, ImportOptions } from '../assets/assets-contract.ts'
import { webStream } from '../assets/bodies/body-input.ts'
import { ifExists, withStorageErrors } from '../assets/bodies/durable.ts'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import { newId } from '../core/new-id.ts'
import { setRecent } from '../core/recent.ts'
import { scopedKey } from '../log/conversation-log.ts'
import { uploaded } from '../wire/assets.ts'
import type { Caller } from './caller.ts'
import { failureOf } from './error-response.ts'
import { type Call, type Route, route } from './route.ts'
import { importOne, SAVE_ERRORS, withProgress } from './routes/upload-routes.ts'

/** How long an unfinished upload, and the answer to a finished one, is kept, in milliseconds. */
const KEEP_MS = 24 * 60 * 60 * 1000

/** Time between two searches for expired uploads, in milliseconds. */
const SWEEP_MS = 60 * 60 * 1000

/** Maximum number of answers that are kept in memory. */
const MAX_ANSWERS = 1000

/** The prefix of the name of an answer's file. The rest is the id of the upload. */
const ANSWER = 'answer-'

/** Codes of an upload that is deleted, because it would be rejected again. */
const REJECTED = new Set<ByrefErrorCode>([
  'asset_invalid',
  'asset_too_large',
  'quota_exceeded',
  'table_invalid',
])

/** The server's data about a request. */
interface UploadRequest {
  caller: Caller
  /** Why the request failed. */
  error?: unknown
}

type Imported = Awaited<ReturnType<typeof importOne>>

/**
 * Uploads that continue where they were interrupted, by the tus protocol 1.0 (tus.io/protocols/resumable-upload). A
 * piece is on disk before it is answered, so the server may restart in the middle.
 */
export class ResumableUploads {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #requests = new WeakMap<Request, UploadRequest>()
  readonly #answers = new Map<string, Promise<Imported>>()
  /** Running imports, by upload id. */
  readonly #imports = new Map<string, AbortController>()
  #opened: { store: FileStore; tus: TusServer } | null = null
  #sweptAt = 0
  #sweeping: Promise<void> = Promise.resolve()

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /**
   * Answers a request below `/api/uploads`.
   *
   * @throws ByrefError `storage_full`, `storage_failed` if the disk fails
   */
  async handle(request: Request, caller: Caller): Promise<Response> {
    return withStorageErrors('Storing the upload', async () => {
      const { tus } = this.#open()
      await this.sweep()
      const known: UploadRequest = { caller }
      this.#requests.set(request, known)
      if (request.method === 'DELETE') await this.#stopImport(request, caller)
      const answer = await tus.handleWeb(request)
      if (answer.status >= 500) throw known.error
      return withErrorBody(answer)
    })
  }

  /** Deletes expired uploads and answers, unless it did so within the last hour. It never rejects. */
  sweep(): Promise<void> {
    if (Date.now() - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = Date.now()
      this.#sweeping = this.#deleteExpired()
    }
    return this.#sweeping
  }

  /** Returns the route that makes an asset of a complete upload. */
  route(): Route {
    return route(
      'POST /api/uploads/:uploadId/asset',
      {
        role: 'member',
        summary: 'Make an asset of a complete upload (tus)',
        answers: { 201: uploaded, 200: { types: ['text/event-stream'] } },
        errors: ['not_found', ...SAVE_ERRORS],
      },
      (call) => this.#makeAsset(call),
    )
  }

  /** Opens the folder at its first use. A `FileStore` that cannot make its folder would end the process. */
  #open(): { store: FileStore; tus: TusServer } {
    if (this.#opened) return this.#opened
    mkdirSync(this.#folder, { recursive: true })
    const store = fileStore(this.#folder)
    const namespaceOf = (request: Request) => this.#requests.get(request)?.caller.namespace ?? null
    const tus = new TusServer({
      path: '/api/uploads',
      datastore: store,
      maxSize: this.#maxBytes,
      relativeLocation: true,
      respectForwardedHeaders: false,
      // The server sets the CORS headers of all its routes.
      allowedOrigins: [],
      namingFunction: () => newId(),
      onUploadCreate: async (request, { metadata, size = 0 }) => {
        await requireSpace(this.#folder, size)
        return { metadata: { ...metadata, namespace: namespaceOf(request as Request) } }
      },
      onIncomingRequest: async (request, id) => {
        if (request.method === 'POST') return
        if (await this.#find(id, namespaceOf(request as Request))) return
        throw { status_code: 404, body: 'This upload does not exist\n' }
      },
      onResponseError: (request, error) => {
        const known = this.#requests.get(request as Request)
        if (known) known.error = error instanceof Error ? error : new Error(error.body.trim())
        return undefined
      },
    })
    this.#opened = { store, tus }
    return this.#opened
  }

  /** Returns an upload of a namespace, or null. @throws ByrefError `storage_failed` if the disk fails */
  async #find(id: string, namespace: string | null): Promise<Upload | null> {
    if (!/^\w+$/.test(id)) return null
    // For the store, every file that cannot be read is missing.
    const read = () => ifExists(readFile(join(this.#folder, `${id}.json`)))
    if ((await withStorageErrors('Reading the upload', read)) === null) return null
    const { store } = this.#open()
    const upload = await store.getUpload(id).catch(() => null)
    return (upload?.metadata?.namespace ?? null) === namespace ? upload : null
  }

  async #makeAsset({ c, caller, param, agent }: Call<undefined, undefined>) {
    const id = param('uploadId')
    const key = scopedKey(caller.namespace, id)
    const known = this.#answers.get(key) ?? (await this.#savedAnswer(id, caller.namespace))
    if (known) return withProgress(c, async () => known)
    const upload = await this.#find(id, caller.namespace)
    if (!upload) throw new ByrefError('not_found', 'This upload does not exist')
    if (upload.offset !== upload.size) {
      throw new ByrefError(
        'asset_invalid',
        `The upload has ${upload.offset} of ${upload.size} bytes: send the rest first`,
      )
    }
    return withProgress(c, (onProgress) => {
      const made = this.#answers.get(key) ?? this.#import(agent().assets, upload, onProgress)
      setRecent(this.#answers, key, made, MAX_ANSWERS)
      made.catch(() => this.#answers.delete(key))
      return made
    })
  }

  async #import(
    assets: Assets,
    { id, metadata }: Upload,
    onProgress: ImportOptions['onProgress'],
  ): Promise<Imported> {
    const controller = new AbortController()
    this.#imports.set(id, controller)
    try {
      const file = webStream(createReadStream(join(this.#folder, id)))
      const made = await importOne(assets, file, {
        name: metadata?.filename || 'file',
        mime: metadata?.filetype ?? null,
        by: 'user',
        onProgress,
        signal: controller.signal,
      })
      const answer = { namespace: metadata?.namespace ?? null, made }
      // Without the stored answer, a client that has not received it would upload the file again.
      await writeFile(join(this.#folder, ANSWER + id), JSON.stringify(answer)).catch(() => {})
      await this.#open().store.remove(id)
      return made
    } catch (error) {
      if (error instanceof ByrefError && REJECTED.has(error.code)) {
        const { store } = this.#open()
        await store.remove(id).catch(() => {})
      }
      throw error
    } finally {
      this.#imports.delete(id)
    }
  }

  /** Returns the answer to an upload that is an asset, also after a restart. Null if there is none. */
  async #savedAnswer(id: string, namespace: string | null): Promise<Imported | null> {
    if (!/^\w+$/.test(id)) return null
    try {
      const answer = JSON.parse(await readFile(join(this.#folder, ANSWER + id), 'utf8'))
      return answer.namespace === namespace ? answer.made : null
    } catch {
      return null
    }
  }

  async #deleteExpired(): Promise<void> {
    const deleteUploads = async () => this.#open().store.deleteExpired()
    // Another process may have removed the same upload.
    await Promise.allSettled([deleteUploads(), this.#deleteExpiredAnswers()])
  }

  async #deleteExpiredAnswers(): Promise<void> {
    const names = await readdir(this.#folder)
    for (const file of names.filter((name) => name.startsWith(ANSWER))) {
      const path = join(this.#folder, file)
      if (Date.now() - (await stat(path)).mtimeMs > KEEP_MS) await rm(path, { force: true })
    }
  }

  /** A client that deletes its upload no longer wants an asset of it. */
  async #stopImport(request: Request, { namespace }: Caller): Promise<void> {
    const id = new URL(request.url).pathname.split('/').at(-1) ?? ''
    const controller = this.#imports.get(id)
    if (!controller || !(await this.#find(id, namespace))) return
    controller.abort(new ByrefError('not_found', 'The upload was deleted'))
  }
}

/** Returns a store that reports why the disk failed, and keeps no upload that fills it. */
function fileStore(folder: string): FileStore {
  const store = new FileStore({
    directory: folder,
    expirationPeriodInMilliseconds: KEEP_MS,
  })
  const declare = store.declareUploadLength.bind(store)
  store.declareUploadLength = async (id, size) => {
    await requireSpace(folder, size)
    return declare(id, size)
  }
  // The store's own method hides why the disk failed.
  store.write = async (body, id, offset) => {
    const file = createWriteStream(join(folder, id), { flags: 'r+', start: offset })
    try {
      await withStorageErrors('Storing the upload', () => pipeline(body, file))
    } catch (error) {
      const isFull = error instanceof ByrefError && error.code === 'storage_full'
      if (isFull) await store.remove(id).catch(() => {})
      throw error
    }
    return offset + file.bytesWritten
  }
  return store
}

/** @throws ByrefError `storage_full` if the disk of a folder has no space for this many bytes */
async function requireSpace(folder: string, size: number): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder)
  // Some network file systems report no sizes.
  if (blocks === 0 || size <= bavail * bsize) return
  throw new ByrefError(
    'storage_full',
    `The disk has no space for ${size} bytes of uploads. Free some space.`,
  )
}

const CODES: Readonly<Record<number, ByrefErrorCode>> = {
  404: 'not_found',
  410: 'not_found',
  413: 'asset_too_large',
}

/** Gives an error of the tus server the body of all errors. Its clients read only the status and the headers. */
async function withErrorBody(answer: Response): Promise<Response> {
  if (answer.status < 400) return answer
  const { status } = answer
  const cause = new ByrefError(CODES[status] ?? 'bad_request', (await answer.text()).trim())
  const headers = new Headers(answer.headers)
  headers.delete('content-length')
  return Response.json(failureOf(cause), { status, headers })
}
