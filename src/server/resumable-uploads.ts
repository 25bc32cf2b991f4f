import { createReadStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { FileStore } from '@tus/file-store'
import { Server as TusServer, type Upload } from '@tus/server'
import type { Assets, ImportOptions } from '../assets/assets-contract.ts'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import { newId } from '../core/new-id.ts'
import { uploaded } from '../wire/assets.ts'
import type { Caller } from './caller.ts'
import { failureOf } from './error-response.ts'
import { type Route, route } from './route.ts'
import { importOne, SAVE_ERRORS } from './routes/uploads.ts'
import { withProgress } from './routes/with-progress.ts'

/** Uploads that go on where they were cut off, by the tus protocol 1.0 (tus.io/protocols/resumable-upload). */
export interface ResumableUploads {
  /** Answers a request below `/api/uploads`. */
  handle(request: Request, caller: Caller): Promise<Response>
  /** Makes an asset of an upload that is complete. */
  routes: Route[]
}

/** Where parts of files wait, and how large a file may be. */
export interface ResumableUploadsOptions {
  folder: string
  maxBytes: number
}

/** How long a part that nobody goes on with is kept. */
const KEEP_MS = 24 * 60 * 60 * 1000

/** How often those that are older are looked for. */
const SWEEP_MS = 60 * 60 * 1000

/** Answers that are kept for who asks again since the first answer was lost. */
const MOST_ANSWERS = 1000

type Made = Awaited<ReturnType<typeof importOne>>

/** Takes uploads in pieces. A piece is on disk before it is answered; the server may end and start meanwhile. */
export function resumableUploads({ folder, maxBytes }: ResumableUploadsOptions): ResumableUploads {
  const callers = new WeakMap<Request, Caller>()
  let opened: { store: FileStore; tus: TusServer } | null = null

  /** Opens the folder with the first request. It makes the folder first: a `FileStore` that cannot make it ends the process. */
  function open() {
    if (opened) return opened
    mkdirSync(folder, { recursive: true })
    const store = new FileStore({ directory: folder, expirationPeriodInMilliseconds: KEEP_MS })
    const tus = new TusServer({
      path: '/api/uploads',
      datastore: store,
      maxSize: maxBytes,
      relativeLocation: true,
      respectForwardedHeaders: false,
      // Who may ask from elsewhere is said by the server, for all of it.
      allowedOrigins: [],
      namingFunction: () => newId(),
      onUploadCreate: async (request, { metadata }) => {
        const caller = callers.get(request as Request)
        return { metadata: { ...metadata, namespace: caller?.namespace ?? null } }
      },
      onIncomingRequest: async (request, id) => {
        if (request.method === 'POST') return
        const caller = callers.get(request as Request)
        if (!(await ofNamespace(id, caller?.namespace ?? null))) {
          throw { status_code: 404, body: 'There is no such upload\n' }
        }
      },
    })
    opened = { store, tus }
    return opened
  }

  const answers = new Map<string, Promise<Made>>()
  /** Of assets that are being made, by the upload's id. */
  const making = new Map<string, AbortController>()
  let swept = 0

  async function sweep(): Promise<void> {
    if (Date.now() - swept < SWEEP_MS) return
    swept = Date.now()
    // One that another process has just removed is as good as removed here.
    const { store } = open()
    await store.deleteExpired().catch(() => {})
  }

  async function find(id: string): Promise<Upload | null> {
    if (!/^\w+$/.test(id)) return null
    return open()
      .store.getUpload(id)
      .catch(() => null)
  }

  async function ofNamespace(id: string, namespace: string | null): Promise<boolean> {
    const upload = await find(id)
    return upload !== null && (upload.metadata?.namespace ?? null) === namespace
  }

  const asset = route(
    {
      method: 'post',
      path: '/api/uploads/:uploadId/asset',
      summary: 'Make an asset of an upload that is complete (tus)',
      role: 'member',
      answers: { 201: uploaded, 200: { types: ['text/event-stream'] } },
      errors: ['not_found', ...SAVE_ERRORS],
    },
    async ({ c, caller, param, agent }) => {
      const id = param('uploadId')
      const key = `${caller.namespace ?? ''}\n${id}`
      const known = answers.get(key)
      if (known) return withProgress(c, 201, () => known)
      const upload = (await ofNamespace(id, caller.namespace)) ? await find(id) : null
      if (!upload) throw new ByrefError('not_found', 'There is no such upload')
      if (upload.offset !== upload.size) {
        throw new ByrefError(
          'asset_invalid',
          `The upload has ${upload.offset} of ${upload.size} bytes: send the rest first`,
        )
      }
      return withProgress(c, 201, (onProgress) => {
        const made = answers.get(key) ?? make(agent().assets, upload, onProgress)
        answers.set(key, made)
        made.catch(() => answers.delete(key))
        for (const oldest of answers.keys()) if (answers.size > MOST_ANSWERS) answers.delete(oldest)
        return made
      })
    },
  )

  async function make(
    assets: Assets,
    { id, metadata }: Upload,
    onProgress: ImportOptions['onProgress'],
  ): Promise<Made> {
    const controller = new AbortController()
    making.set(id, controller)
    try {
      const file = Readable.toWeb(createReadStream(join(folder, id)))
      const made = await importOne(assets, file as ReadableStream<Uint8Array>, {
        name: metadata?.filename || 'file',
        mime: metadata?.filetype ?? null,
        by: 'user',
        onProgress,
        signal: controller.signal,
      })
      await open().store.remove(id)
      return made
    } finally {
      making.delete(id)
    }
  }

  /** Who takes an upload back wants no asset of it either. */
  async function stopMaking(request: Request, { namespace }: Caller): Promise<void> {
    const id = new URL(request.url).pathname.split('/').at(-1) ?? ''
    const controller = making.get(id)
    if (!controller || !(await ofNamespace(id, namespace ?? null))) return
    controller.abort(new ByrefError('not_found', 'The upload was taken back'))
  }

  return {
    async handle(request, caller) {
      await sweep()
      callers.set(request, caller)
      if (request.method === 'DELETE') await stopMaking(request, caller)
      return inOurShape(await open().tus.handleWeb(request))
    },
    routes: [asset],
  }
}

const CODES: Readonly<Record<number, ByrefErrorCode>> = {
  404: 'not_found',
  410: 'not_found',
  413: 'asset_too_large',
}

/** What tus refuses as all errors are told; its clients look at the status and the headers alone. */
async function inOurShape(answer: Response): Promise<Response> {
  if (answer.status < 400) return answer
  const { status } = answer
  const text = (await answer.text()).trim()
  const cause =
    status < 500 ? new ByrefError(CODES[status] ?? 'bad_request', text) : new Error(text)
  const headers = new Headers(answer.headers)
  headers.delete('content-length')
  return Response.json(failureOf(cause), { status, headers })
}
