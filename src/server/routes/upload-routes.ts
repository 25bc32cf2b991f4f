import { Readable } from 'node:stream'
import busboy from '@fastify/busboy'
import type { Context } from 'hono'
import type { z } from 'zod'
import type { Assets, ImportOptions } from '../../assets/assets-contract.ts'
import { ByrefError } from '../../core/errors.ts'
import { uploaded, uploadedFiles, uploadQuery } from '../../wire/assets.ts'
import { failureOf } from '../error-response.ts'
import { namedFrame } from '../events/channel.ts'
import { type AnyAnswer, jsonAnswer, reportFailure } from '../pipeline.ts'
import { publicInfo } from '../public-info.ts'
import { type Route, route } from '../route.ts'

/** Codes of saving a file. */
export const SAVE_ERRORS = [
  'asset_invalid',
  'asset_too_large',
  'quota_exceeded',
  'storage_full',
  'table_invalid',
] as const

type Uploaded = z.infer<typeof uploaded>

/** Uploads in one request: a file as the body, or several as a form. */
export const uploadRoutes: readonly Route[] = [
  route(
    'POST /api/assets',
    {
      role: 'member',
      summary: 'Upload a file as the body, or several as multipart/form-data',
      query: uploadQuery,
      takes: ['*/*', 'multipart/form-data'],
      answers: { 201: uploaded.or(uploadedFiles), 200: { types: ['text/event-stream'] } },
      errors: SAVE_ERRORS,
    },
    ({ c, query, agent }) => {
      const { assets } = agent()
      const { body, signal } = c.req.raw
      if (!body) throw new ByrefError('bad_request', 'The body of the request must be the file')
      const mime = c.req.header('content-type')
      if (mime?.toLowerCase().startsWith('multipart/form-data')) {
        return withProgress(c, 201, async (onProgress) => ({
          files: await importForm(body, assets, { mime, signal, onProgress }),
        }))
      }
      const name = query.name || 'file'
      return withProgress(c, 201, (onProgress) => {
        return importOne(assets, body, {
          name,
          mime: declaredType(mime),
          by: 'user',
          signal,
          onProgress,
        })
      })
    },
  ),
]

/** The type of a file. Undefined for the type that `curl --data-binary` sends by default, so that the type is detected. */
function declaredType(mime: string | undefined): string | undefined {
  const isForm = mime?.toLowerCase().startsWith('application/x-www-form-urlencoded')
  return isForm ? undefined : mime
}

/** Saves one file, and its table or workbook. */
export async function importOne(
  assets: Assets,
  body: ReadableStream<Uint8Array>,
  options: ImportOptions,
): Promise<Uploaded> {
  const { asset, table, workbook } = await assets.importFile(body, options)
  return {
    asset: publicInfo(asset),
    table: table && publicInfo(table),
    workbook: workbook && publicInfo(workbook),
  }
}

/** Maximum number of files in one form. */
const MAX_FILES = 100

/** Saves the files of a form (RFC 7578) as they arrive. Other fields are ignored. */
async function importForm(
  body: ReadableStream<Uint8Array>,
  assets: Assets,
  { mime, signal, onProgress }: { mime: string } & Pick<ImportOptions, 'signal' | 'onProgress'>,
): Promise<Uploaded[]> {
  const done: Promise<Uploaded>[] = []
  const form = newForm(mime)
  const ended = Promise.withResolvers<void>()
  const failure = new AbortController()
  form.on('file', (_field, file, fileName, _encoding, mimeType) => {
    const saved = importOne(assets, Readable.toWeb(file) as ReadableStream<Uint8Array>, {
      name: unescapeName(fileName ?? '') || 'file',
      mime: mimeType,
      by: 'user',
      signal: AbortSignal.any([failure.signal, ...(signal ? [signal] : [])]),
      onProgress,
    })
    // The first failure ends the form.
    saved.catch((error: unknown) => {
      file.resume()
      ended.reject(error)
    })
    done.push(saved)
  })
  form.on('filesLimit', () => {
    ended.reject(new ByrefError('bad_request', `The form has more than ${MAX_FILES} files`))
  })
  form.on('error', (cause) => {
    ended.reject(new ByrefError('bad_request', 'The form is incomplete or malformed', { cause }))
  })
  form.on('finish', () => ended.resolve())
  const source = Readable.fromWeb(body)
  source.on('error', (cause) => ended.reject(cause))
  source.pipe(form)
  try {
    await ended.promise
    if (done.length === 0) throw new ByrefError('bad_request', 'The form has no file')
    return await Promise.all(done)
  } catch (error) {
    // A file that is still arriving would count as complete.
    failure.abort(error)
    throw error
  } finally {
    source.destroy()
  }
}

/**
 * Unescapes a file name in a form. Browsers escape quotes and line breaks (html.spec.whatwg.org, multipart/form-data).
 */
function unescapeName(name: string): string {
  return name.replace(/%(22|0d|0a)/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}

function newForm(mime: string) {
  try {
    return new busboy.Busboy({
      headers: { 'content-type': mime },
      limits: { files: MAX_FILES, fields: 100, fieldSize: 10_000, headerPairs: 100 },
    })
  } catch (cause) {
    throw new ByrefError('bad_request', 'The content-type of the form has no boundary', { cause })
  }
}

type OnProgress = NonNullable<ImportOptions['onProgress']>

/** Minimum time between two progress events, in milliseconds. */
const INTERVAL_MS = 200

/**
 * Answers with the result of long work. A client that accepts `text/event-stream` gets events `progress`, and at the end
 * `done` with the answer, or `error`. The work continues when the client disconnects.
 */
export async function withProgress<T extends object>(
  c: Context,
  status: number,
  work: (onProgress?: OnProgress) => Promise<T>,
): Promise<AnyAnswer> {
  if (!c.req.header('accept')?.includes('text/event-stream')) {
    return jsonAnswer(await work(), status)
  }
  c.header('content-type', 'text/event-stream')
  c.header('cache-control', 'no-cache, no-transform')
  let sentAt = 0
  let isClosed = false
  return c.body(
    new ReadableStream<Uint8Array>({
      cancel() {
        isClosed = true
      },
      async start(controller) {
        const send = (event: string, data: object): void => {
          if (!isClosed) controller.enqueue(namedFrame(event, data))
        }
        const onProgress: OnProgress = (progress) => {
          const now = Date.now()
          if (now - sentAt < INTERVAL_MS) return
          sentAt = now
          send('progress', progress)
        }
        try {
          send('done', await work(onProgress))
        } catch (error) {
          reportFailure(c, error)
          send('error', failureOf(error))
        }
        if (!isClosed) controller.close()
      },
    }),
  )
}
