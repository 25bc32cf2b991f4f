import { ByrefError } from '../../../errors.ts'

/** What a server refused, in words that say what to do. Without a key, the request was about the bucket itself. */
export function s3Error(
  error: unknown,
  { bucket, key }: { bucket: string; key?: string },
): unknown {
  if (error instanceof ByrefError || nameOf(error) === 'AbortError') return error
  const status = statusOf(error)
  const name = nameOf(error)
  const options = { cause: error }
  if (name === 'NoSuchBucket' || (status === 404 && key === undefined)) {
    return new ByrefError(
      'config_invalid',
      `There is no bucket "${bucket}" on the S3 server.`,
      options,
    )
  }
  if (status === 401 || status === 403 || name === 'CredentialsProviderError') {
    return new ByrefError(
      'config_invalid',
      `The S3 server refuses the keys for bucket "${bucket}" (${name}): check accessKeyId, secretAccessKey, region and what they may do.`,
      options,
    )
  }
  if (status === 507 || name === 'QuotaExceeded' || name === 'XMinioStorageFull') {
    return new ByrefError('storage_full', `Bucket "${bucket}" is full.`, options)
  }
  const reason = name + (status === null ? '' : ` ${status}`)
  return new ByrefError('storage_failed', `The S3 server failed (${reason}); try again.`, options)
}

/** Whether a copy was refused because one request cannot copy so much: 5 GiB on AWS. */
export function isTooLargeToCopy(error: unknown): boolean {
  return statusOf(error) === 400 && /^(InvalidRequest|EntityTooLarge)$/.test(nameOf(error))
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
