import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { unlessAborted } from '../../core/on-abort.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { inTime } from './abortable.ts'
import { type ByteRange, cancelBody, pullStream } from './body.ts'
import type { BodyStore } from './body-store.ts'
import {
  CONNECTOR_OPTIONS,
  createS3Connector,
  type S3Connector,
  type S3ConnectorOptions,
} from './s3/connector.ts'

const { setTimeout: pause } = nodeBuiltin('node:timers/promises')

/** Options of {@link s3Bodies}: a bucket. Without a `connector`, also the options of {@link createS3Connector}. */
export interface S3BodiesOptions extends S3ConnectorOptions {
  bucket: string
  connector?: S3Connector
  /** The prefix of every key, such as `assets/`. */
  keyPrefix?: string
  /**
   * The URL of a public bucket, such as `https://cdn.example.com`. `urlFor` then gives URLs below it, instead of signed
   * ones.
   */
  publicBaseUrl?: string
}

export const S3_OPTIONS: OptionTable<S3BodiesOptions> = {
  ...CONNECTOR_OPTIONS,
  bucket: is.required(is.string),
  connector: is.having('a connector, such as createS3Connector(…)', 'put', 'get'),
  ...is.all(is.string, 'keyPrefix', 'publicBaseUrl'),
}

/**
 * Stores bodies in a bucket of any S3-compatible server, below `bodies/`. Bodies stream both ways. An interrupted
 * download continues where it stopped.
 */
export function s3Bodies(options: S3BodiesOptions): BodyStore {
  checkOptions('s3Bodies', options, S3_OPTIONS)
  const { bucket, connector: own, keyPrefix = '', publicBaseUrl, ...server } = options
  const { timeoutMs = 30_000 } = server
  const connector = own ?? createS3Connector(server)
  const folder = `${keyPrefix}bodies/`
  const at = (key: string) => ({ bucket, key: folder + key })

  return {
    name: 's3',
    check: () => connector.check(bucket),

    async put(key, body, { mime, signal }) {
      const object = { ...at(key), contentType: mime, signal }
      try {
        if (body instanceof Uint8Array) await connector.put({ ...object, body })
        else await connector.putStream({ ...object, body })
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      }
    },

    async open(key, { start, end, size, signal }) {
      const openAt = (offset: number, ended?: AbortSignal) => {
        const range = offset === 0 && end === size ? {} : { start: offset, end }
        return connector.get({ ...at(key), ...range, signal: ended })
      }
      const first = await openAt(start, signal)
      if (!first) return null
      const goOn = async (offset: number, ended: AbortSignal) => {
        const found = await openAt(offset, ended)
        if (found) return found
        throw new ByrefError('asset_not_found', 'The body was removed from the bucket.')
      }
      return streamResumed(first, goOn, { start, end, timeoutMs })
    },

    delete: (key) => connector.delete(at(key)),

    async *list(prefix) {
      let after: string | undefined
      for (;;) {
        const page = await connector.list({ bucket, prefix: folder + prefix, after })
        for (const { key, size, modifiedAt } of page.objects) {
          yield { key: key.slice(folder.length), size, putAt: modifiedAt }
        }
        after = page.objects.at(-1)?.key
        if (!page.more || after === undefined) return
      }
    },

    removeUnfinished: async (before) =>
      connector.abortUploads?.({ bucket, prefix: folder, before }),

    async urlFor(key, { mime, expiresIn }) {
      if (publicBaseUrl === undefined) {
        return connector.signedUrl({ ...at(key), expiresIn, contentType: mime })
      }
      const path = (folder + key).split('/').map(encodeURIComponent).join('/')
      return `${publicBaseUrl.replace(/\/+$/, '')}/${path}`
    },
  }
}

const ATTEMPTS = 5

/** Opens a body at an offset. */
type OpenAt = (offset: number, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>

/**
 * Streams the bytes from `start` to `end`, beginning with the stream `first`. If the connection is lost, or nothing
 * arrives for `timeoutMs`, `open` continues where it stopped, after a growing pause. After five attempts without
 * progress it fails with the last error. Cancelling the stream ends all of this at once.
 */
function streamResumed(
  first: ReadableStream<Uint8Array>,
  open: OpenAt,
  options: ByteRange & { timeoutMs: number },
): ReadableStream<Uint8Array> {
  const ended = new AbortController()
  const chunks = readResumed(first, open, { ...options, signal: ended.signal })
  return pullStream(
    async () => (await chunks.next()).value ?? null,
    async (reason) => {
      ended.abort(reason)
      cancelBody(first, reason)
      await chunks.return(undefined)
    },
  )
}

async function* readResumed(
  first: ReadableStream<Uint8Array>,
  open: OpenAt,
  options: ByteRange & { timeoutMs: number; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { start, end, timeoutMs, signal } = options
  let next: ReadableStream<Uint8Array> | null = first
  let offset = start
  let failures = 0
  while (offset < end) {
    try {
      const stream = next ?? (await unlessAborted(signal, () => open(offset, signal)))
      next = null
      for await (const chunk of withoutPauses(stream, timeoutMs, signal)) {
        if (chunk.byteLength === 0) continue
        offset += chunk.byteLength
        if (offset > end)
          throw new ByrefError('storage_failed', 'The server sent more bytes than requested.')
        failures = 0
        yield new Uint8Array(chunk)
      }
      if (offset < end) throw new ByrefError('storage_failed', 'The connection ended early.')
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ByrefError && error.code !== 'storage_failed') throw error
      if (++failures >= ATTEMPTS || offset > end) throw error
      await pause(50 * 2 ** failures * (0.5 + Math.random() / 2), undefined, { signal })
    }
  }
}

/** Yields the chunks of a stream. Fails if none arrives for `timeoutMs`. */
async function* withoutPauses(
  stream: ReadableStream<Uint8Array>,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const next = await unlessAborted(signal, () =>
        inTime('Reading the body', timeoutMs, () => reader.read()),
      )
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: a stalled stream may never report that it has ended.
    reader.cancel().catch(() => {})
  }
}
