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

/** Options of {@link s3Bodies}: a bucket; without a `connector`, also the options of {@link createS3Connector}. */
export interface S3BodiesOptions extends S3ConnectorOptions {
  bucket: string
  connector?: S3Connector
  /** What every key starts with, such as `assets/`. */
  keyPrefix?: string
  /** Where the bucket is public, such as `https://cdn.example.com`: URLs are below it, instead of signed ones. */
  publicBaseUrl?: string
}

export const S3_OPTIONS: OptionTable<S3BodiesOptions> = {
  ...CONNECTOR_OPTIONS,
  bucket: is.required(is.string),
  connector: is.having('a connector, such as createS3Connector(…)', 'put', 'get'),
  ...is.all(is.string, 'keyPrefix', 'publicBaseUrl'),
}

/**
 * Bodies in a bucket of any S3-compatible server, below `bodies/`. They stream both ways; a download that is cut goes on
 * where it stopped.
 */
export function s3Bodies(options: S3BodiesOptions): BodyStore {
  checkOptions('s3Bodies', options, S3_OPTIONS)
  const { bucket, connector: own, keyPrefix = '', publicBaseUrl, ...server } = options
  const { timeoutMs = 30_000 } = server
  const connector = checkedConnector(own ?? createS3Connector(server))
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
