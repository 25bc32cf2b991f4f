import { checkOptions, is, type OptionTable } from '../../check-options.ts'
import { ByrefError } from '../../errors.ts'
import type { BodyStore } from './body-store.ts'
import {
  CONNECTOR_OPTIONS,
  createS3Connector,
  type S3Connector,
  type S3ConnectorOptions,
} from './s3/connector.ts'
import { checkedConnector } from './s3/errors.ts'
import { streamResumed } from './s3/stream-resumed.ts'

/** A bucket; without a `connector`, also the options of {@link createS3Connector}. */
export interface S3BucketOptions extends S3ConnectorOptions {
  bucket: string
  connector?: S3Connector
  /** What every key starts with, such as `assets/`. */
  keyPrefix?: string
}

/** Options of {@link s3Bodies}. */
export interface S3BodiesOptions extends S3BucketOptions {
  /** Where the bucket is public, such as `https://cdn.example.com`: URLs are below it, instead of signed ones. */
  publicBaseUrl?: string
}

export const BUCKET_OPTIONS: OptionTable<S3BucketOptions> = {
  ...CONNECTOR_OPTIONS,
  bucket: is.required(is.string),
  connector: is.having('a connector, such as createS3Connector(…)', 'put', 'get'),
  keyPrefix: is.string,
}
export const S3_OPTIONS: OptionTable<S3BodiesOptions> = {
  ...BUCKET_OPTIONS,
  publicBaseUrl: is.string,
}

/** The connector of a bucket. */
export function connectorOf(options: S3BodiesOptions): S3Connector {
  const { bucket: _, connector, keyPrefix: __, publicBaseUrl: ___, ...own } = options
  return connector ?? createS3Connector(own)
}

/**
 * Bodies in a bucket of any S3-compatible server, below `bodies/`. They stream both ways; a download that is cut goes on
 * where it stopped.
 */
export function s3Bodies(options: S3BodiesOptions): BodyStore {
  const { bucket, keyPrefix = '', publicBaseUrl, timeoutMs = 30_000 } = options
  checkOptions('s3Bodies', options, S3_OPTIONS)
  const connector = checkedConnector(connectorOf(options))
  const folder = `${keyPrefix}bodies/`
  const at = (key: string) => ({ bucket, key: folder + key })

  return {
    name: 's3',
    check: () => connector.check(bucket),

    async put(key, body, { mime, signal }) {
      const object = { ...at(key), contentType: mime, signal }
      if (body instanceof Uint8Array) await connector.put({ ...object, body })
      else await connector.putStream({ ...object, body })
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
        throw new ByrefError('asset_not_found', 'The body went from the bucket.')
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

    async urlFor(key, { mime, expiresIn }) {
      if (publicBaseUrl === undefined) {
        return connector.signedUrl({ ...at(key), expiresIn, contentType: mime })
      }
      const path = (folder + key).split('/').map(encodeURIComponent).join('/')
      return `${publicBaseUrl.replace(/\/+$/, '')}/${path}`
    },
  }
}
