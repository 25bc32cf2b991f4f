import { ByrefError } from '../../../errors.ts'

/** What a server refused, in words that say what to do. Without a key, the request was about the bucket itself. */
export function s3Error(
  error: unknown,
  { bucket, key, endpoint = 'AWS' }: { bucket: string; key?: string; endpoint?: string },
): unknown {
  if (error instanceof ByrefError || nameOf(error) === 'AbortError') return error
  const status = statusOf(error)
  const name = nameOf(error)
  const options = { cause: error }
  const server = `The S3 server (${endpoint})`
  if (name === 'NoSuchBucket' || (status === 404 && key === undefined)) {
    return new ByrefError('config_invalid', `${server} has no bucket "${bucket}".`, options)
  }
  if (status === 401 || status === 403 || name === 'CredentialsProviderError') {
    return new ByrefError(
      'config_invalid',
      `${server} refuses the keys for bucket "${bucket}" (${name}): check accessKeyId, secretAccessKey, region and what they may do.`,
      options,
    )
  }
  if (status === 507 || name === 'QuotaExceeded' || name === 'XMinioStorageFull') {
    return new ByrefError('storage_full', `Bucket "${bucket}" of ${endpoint} is full.`, options)
  }
  const reason = status === null ? systemCode(error) || name : `${name} ${status}`
  const message = `${server} failed with bucket "${bucket}" (${reason}); try again.`
  return new ByrefError('storage_failed', message, options)
}

/** The HTTP status of an error of the SDK, or null. */
export function statusOf(error: unknown): number | null {
  const meta = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata
  return meta?.httpStatusCode ?? null
}

/** The server's or the SDK's name for an error. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error)
}

/** What the network said, such as `ECONNREFUSED`. */
function systemCode(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}
