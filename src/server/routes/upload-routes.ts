import { PassThrough, Readable } from 'node:stream'
import busboy from '@fastify/busboy'
import type { Context } from 'hono'
import type { z } from 'zod'
import type { Assets, ImportOptions } from '../../assets/assets-contract.ts'
import { webStream } from '../../assets/bodies/body-input.ts'
import { ByrefError } from '../../core/errors.ts'
import { uploaded, uploadedForm, uploadQuery } from '../../wire/assets.ts'
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
      answers: {
        201: uploaded.or(uploadedForm),
        207: uploadedForm,
        200: { types: ['text/event-stream'] },
      },
      errors: SAVE_ERRORS,
    },
    ({ c, query, agent }) => {
      const { assets } = agent()
      const { body, signal } = c.req.raw
      if (!body) throw new ByrefError('bad_request', 'The body of the request must be the file')
      const mime = c.req.header('content-type')
      if (mime?.toLowerCase().startsWith('multipart/form-data')) {
        const report = (error: unknown): void => reportFailure(c, error)
        return withProgress(
          c,
          (onProgress) => importForm(body, assets, { mime, signal, onProgress, report }),
          (form) => (isComplete(form) ? 201 : 207),
        )
      }
      const name = query.name || 'file'
      return withProgress(c, (onProgress) => {
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

/**
 * The type of a file. Undefined for the type that `curl --data-binary` sends by default, so that the type is detected.
 */
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

type UploadedForm = z.infer<typeof uploadedForm>

interface FormOptions extends Pick<ImportOptions, 'signal' | 'onProgress'> {
  mime: string
  /** Receives the failures of files. */
  report: (error: unknown) => void
}

/**
 * Saves the files of a form (RFC 7578) as they arrive. Other fields are ignored. If one of several files fails, the
 * others are saved nevertheless. The failure of the only file is thrown.
 */
async function importForm(
  body: ReadableStream<Uint8Array>,
  assets: Assets,
  { mime, signal, onProgress, report }: FormOptions,
): Promise<UploadedForm> {
  const found: { name: string; file: Readable; content: PassThrough; saved: Promise<Uploaded> }[] =
    []
  const form = newForm(mime)
  const ended = Promise.withResolvers<void>()
  const cut = new AbortController()
  form.on('file', (_field, file, fileName, _encoding, mimeType) => {
    const name = unescapeName(fileName ?? '') || 'file'
    const content = contentOf(file)
    const saved = importOne(assets, webStream(content), {
      name,
      mime: mimeType,
      by: 'user',
      signal: AbortSignal.any([cut.signal, ...(signal ? [signal] : [])]),
      onProgress,
    })
    saved.catch(() => content.destroy())
    found.push({ name, file, content, saved })
  })
  form.on('filesLimit', () => {
    ended.reject(new ByrefError('bad_request', `The form has more than ${MAX_FILES} files`))
  })
  form.on('error', (cause) => {
    const problem = new ByrefError('bad_request', 'The form is incomplete or malformed', { cause })
    // A file that is still arriving would count as complete.
    const last = found.at(-1)
    if (last && !last.file.readableEnded) last.content.destroy(problem)
    ended.reject(problem)
  })
  form.on('finish', () => ended.resolve())
  const source = Readable.fromWeb(body)
  // The client has disconnected, so nobody reads an answer.
  source.on('error', (cause) => {
    cut.abort(cause)
    ended.reject(cause)
  })
  source.pipe(form)
  const problem: unknown = await ended.promise.then(
    () => null,
    (error: unknown) => error,
  )
  source.destroy()
  const outcomes = await Promise.allSettled(found.map(({ saved }) => saved))
  cut.signal.throwIfAborted()
  const [only] = outcomes
  if (!only) throw problem ?? new ByrefError('bad_request', 'The form has no file')
  if (outcomes.length === 1 && only.status === 'rejected') throw only.reason
  const files = outcomes.map((outcome, index) => {
    if (outcome.status === 'fulfilled') return outcome.value
    report(outcome.reason)
    return { name: found[index]?.name ?? 'file', ...failureOf(outcome.reason) }
  })
  return problem === null ? { files } : { files, ...failureOf(problem) }
}

function isComplete({ files, error }: UploadedForm): boolean {
  return error === undefined && files.every((file) => 'asset' in file)
}

/**
 * Returns the content of a file in a form. If nobody reads it to its end, the rest is skipped, because the next file
 * follows.
 */
function contentOf(file: Readable): PassThrough {
  const content = new PassThrough()
  // The form reports this, too.
  file.on('error', () => {})
  file.pipe(content)
  content.on('close', () => file.resume())
  return content
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
 * Answers with the result of long work. A client that accepts `text/event-stream` gets events `progress`, and at the
 * end `done` with the answer, or `error`. The work continues when the client disconnects.
 */
export async function withProgress<T extends object>(
  c: Context,
  work: (onProgress?: OnProgress) => Promise<T>,
  statusOf: (result: T) => number = () => 201,
): Promise<AnyAnswer> {
  if (!c.req.header('accept')?.includes('text/event-stream')) {
    const result = await work()
    return jsonAnswer(result, statusOf(result))
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
