import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { FileStore } from '@tus/file-store'
import { Server as TusServer } from '@tus/server'
import { newId } from '../content/new-id.ts'
import { ByrefError } from '../errors.ts'
import { uploaded } from '../wire/assets.ts'
import type { Caller } from './caller.ts'
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

/** Takes uploads in pieces. A piece is on disk before it is answered; the server may end and start meanwhile. */
export function resumableUploads({ folder, maxBytes }: ResumableUploadsOptions): ResumableUploads {
  const store = new FileStore({ directory: folder, expirationPeriodInMilliseconds: KEEP_MS })
  const callers = new WeakMap<Request, Caller>()
  const tus = new TusServer({
    path: '/api/uploads',
    datastore: store,
    maxSize: maxBytes,
    relativeLocation: true,
    respectForwardedHeaders: false,
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
  const ready = mkdir(folder, { recursive: true })

  async function find(id: string) {
    if (!/^\w+$/.test(id)) return null
    return store.getUpload(id).catch(() => null)
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
      const upload = (await ofNamespace(id, caller.namespace)) ? await find(id) : null
      if (!upload) throw new ByrefError('not_found', 'There is no such upload')
      if (upload.offset !== upload.size) {
        throw new ByrefError(
          'asset_invalid',
          `The upload has ${upload.offset} of ${upload.size} bytes: send the rest first`,
        )
      }
      return withProgress(c, 201, async (onProgress) => {
        const file = Readable.toWeb(createReadStream(join(folder, id)))
        const made = await importOne(agent().assets, file as ReadableStream<Uint8Array>, {
          name: upload.metadata?.filename || 'file',
          mime: upload.metadata?.filetype ?? null,
          by: 'user',
          onProgress,
        })
        await store.remove(id)
        return made
      })
    },
  )

  return {
    async handle(request, caller) {
      await ready
      callers.set(request, caller)
      return tus.handleWeb(request)
    },
    routes: [asset],
  }
}
