import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { defined } from '../../core/defined.ts'
import type { BodyStore } from './body-store.ts'

/** The part of a Cloudflare R2 binding that byref needs. A Worker has the binding in its environment. */
export interface R2Bucket {
  head(key: string): Promise<unknown>
  get(
    key: string,
    options: { range: { offset: number; length: number } },
  ): Promise<{ body: ReadableStream<Uint8Array> } | null>
  put(key: string, body: Uint8Array, options: R2PutOptions): Promise<unknown>
  createMultipartUpload(key: string, options: R2PutOptions): Promise<R2Upload>
  delete(key: string): Promise<void>
  list(options: { prefix: string; cursor?: string }): Promise<R2Listed>
}

/** Options of an object in R2. */
export interface R2PutOptions {
  httpMetadata: { contentType: string }
}

/** An upload in parts. All parts but the last have the same size. */
export interface R2Upload {
  uploadPart(number: number, bytes: Uint8Array): Promise<R2Part>
  complete(parts: R2Part[]): Promise<unknown>
  abort(): Promise<void>
}

/** A part that was uploaded. */
export interface R2Part {
  partNumber: number
  etag: string
}

/** A page of objects. */
export interface R2Listed {
  objects: { key: string; size: number; uploaded: Date }[]
  truncated: boolean
  cursor?: string
}

/** Options of {@link r2Bodies}. */
export interface R2BodiesOptions {
  /** The binding of the bucket, such as `env.MEDIA`. */
  bucket: R2Bucket
  /** The prefix of every key, such as `assets/`. */
  keyPrefix?: string
}

const OPTIONS: OptionTable<R2BodiesOptions> = {
  bucket: is.required(is.having('the binding of an R2 bucket', 'put', 'get', 'list')),
  keyPrefix: is.string,
}

/** Size of a part in bytes. R2 accepts smaller parts only at the end. */
const PART = 5 * 1024 * 1024

/**
 * Stores bodies in a bucket of Cloudflare R2, below `bodies/`, by the binding of a Worker. Streams are uploaded in
 * parts of 5 MiB, so memory stays small.
 */
export function r2Bodies(options: R2BodiesOptions): BodyStore {
  const { bucket, keyPrefix = '' } = checkOptions('r2Bodies', options, OPTIONS)
  const folder = `${keyPrefix}bodies/`
  return {
    name: 'r2',

    async check() {
      await bucket.head(`${folder}check`)
    },

    async put(key, body, { mime, signal }) {
      const about = { httpMetadata: { contentType: mime } }
      if (body instanceof Uint8Array) await bucket.put(folder + key, body, about)
      else await putStream({ bucket, key: folder + key, about }, body, signal)
    },

    async open(key, { start, end }) {
      const found = await bucket.get(folder + key, {
        range: { offset: start, length: end - start },
      })
      return found?.body ?? null
    },

    delete: (key) => bucket.delete(folder + key),

    async *list(prefix) {
      let cursor: string | undefined
      do {
        const page: R2Listed = await bucket.list(defined({ prefix: folder + prefix, cursor }))
        for (const { key, size, uploaded } of page.objects) {
          yield { key: key.slice(folder.length), size, putAt: uploaded.getTime() }
        }
        cursor = page.truncated ? page.cursor : undefined
      } while (cursor !== undefined)
    },
  }
}

/** Uploads a stream in parts. A stream of one part is put in one piece. */
async function putStream(
  { bucket, key, about }: { bucket: R2Bucket; key: string; about: R2PutOptions },
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let upload: R2Upload | undefined
  const done: R2Part[] = []
  try {
    for await (const { bytes, isLast } of partsOf(body)) {
      signal?.throwIfAborted()
      if (isLast && !upload) {
        await bucket.put(key, bytes, about)
        return
      }
      upload ??= await bucket.createMultipartUpload(key, about)
      done.push(await upload.uploadPart(done.length + 1, bytes))
    }
    signal?.throwIfAborted()
    await upload?.complete(done)
  } catch (error) {
    await upload?.abort().catch(() => {})
    throw error
  }
}

async function* partsOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ bytes: Uint8Array; isLast: boolean }> {
  let chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.byteLength
    while (length > PART) {
      const all = Buffer.concat(chunks)
      yield { bytes: all.subarray(0, PART), isLast: false }
      const rest = all.subarray(PART)
      chunks = [rest]
      length = rest.byteLength
    }
  }
  yield { bytes: Buffer.concat(chunks), isLast: true }
}
