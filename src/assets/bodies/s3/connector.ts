import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { checkOptions, is, type OptionTable } from '../../../core/check-options.ts'
import { ByrefError } from '../../../core/errors.ts'
import { inBackground } from '../../../core/in-background.ts'
import { onAbort, unlessAborted } from '../../../core/on-abort.ts'
import { optionalPeer } from '../../../optional-peer.ts'
import { osCode } from '../durable.ts'

/** An object in a bucket. */
export interface S3Object {
  bucket: string
  key: string
}

/** An object in a listing; `modifiedAt` is in milliseconds since 1970, by the server's clock. */
export interface S3Listed {
  key: string
  size: number
  modifiedAt: number
}

/**
 * The requests that bodies in a bucket need. `createS3Connector` makes a connector over the AWS SDK; write your own for
 * another client. Methods may reject with a `ByrefError`; any other error becomes `storage_failed`.
 */
export interface S3Connector {
  /** Rejects if the bucket cannot be used. */
  check(bucket: string): Promise<void>
  /** Writes an object. */
  put(
    object: S3Object & { body: Uint8Array; contentType: string; signal?: AbortSignal },
  ): Promise<void>
  /** Writes an object of unknown length. If the stream fails, nothing of it remains. */
  putStream(
    object: S3Object & {
      body: ReadableStream<Uint8Array>
      contentType: string
      signal?: AbortSignal
    },
  ): Promise<void>
  /** Exactly the bytes `start` (inclusive) to `end` (exclusive) of an object; null if there is no such object. */
  get(
    object: S3Object & { start?: number; end?: number; signal?: AbortSignal },
  ): Promise<ReadableStream<Uint8Array> | null>
  /** Removes an object; no error if there is none. */
  delete(object: S3Object): Promise<void>
  /** At most 1,000 objects whose keys start with `prefix`, sorted by key, after the key `after`. */
  list(query: {
    bucket: string
    prefix: string
    after?: string
  }): Promise<{ objects: S3Listed[]; more: boolean }>
  /** Aborts uploads in parts. Absent: their parts stay until a lifecycle rule of the bucket removes them. */
  abortUploads?(uploads: OldUploads): Promise<void>
  /** Returns a URL that lets anybody read the object for a while. */
  signedUrl(object: S3Object & { expiresIn: number; contentType?: string }): Promise<string>
}

/** Uploads below `prefix` that began before a time, in milliseconds since 1970 by the server's clock. */
export interface OldUploads {
  bucket: string
  prefix: string
  before: number
}

/** Options of {@link createS3Connector}. */
export interface S3ConnectorOptions {
  /** The server's URL. Default: `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` of the environment, or else AWS. */
  endpoint?: string
  /** Default: `AWS_REGION` of the environment, or else `us-east-1`. */
  region?: string
  /** Default: the SDK looks for keys in the environment, the profile and the instance. */
  accessKeyId?: string
  secretAccessKey?: string
  /** For temporary keys. */
  sessionToken?: string
  /** Puts the bucket in the path instead of the host name. Default: true, except for AWS. */
  forcePathStyle?: boolean
  /**
   * Maximum number of attempts of a request if the server fails or refuses connections. Default: 6, with growing pauses
   * of two to three seconds altogether. After a timeout, a request is repeated only once.
   */
  maxAttempts?: number
  /** Maximum time that a server may be silent, in milliseconds. Default: 30,000. */
  timeoutMs?: number
  /** The SDK's `requestHandler`, for a proxy or a transport of your own. */
  requestHandler?: object
}

export const CONNECTOR_OPTIONS: OptionTable<S3ConnectorOptions> = {
  endpoint: is.checked('a URL, such as https://s3.example.com', isWebUrl),
  ...is.all(is.string, 'region', 'accessKeyId', 'secretAccessKey', 'sessionToken'),
  forcePathStyle: is.boolean,
  maxAttempts: is.count,
  timeoutMs: is.positive,
  requestHandler: is.anything,
}

function isWebUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value)
}

const FOR_S3 = 'The s3 backend'
const PART = 8 * 1024 * 1024
const PARTS_AT_ONCE = 3

type Sdk = typeof import('@aws-sdk/client-s3')
type Client = InstanceType<Sdk['S3Client']>

/**
 * Creates a connector over the AWS SDK, for any S3-compatible server. Its packages are loaded with the first request.
 */
export function createS3Connector(given: S3ConnectorOptions): S3Connector {
  checkOptions('createS3Connector', given, CONNECTOR_OPTIONS)
  const options = withEnvironment(given)
  let loaded: Promise<{ sdk: Sdk; client: Client }> | undefined

  function load() {
    loaded ??= optionalPeer('@aws-sdk/client-s3', FOR_S3).then((sdk) => ({
      sdk,
      client: new sdk.S3Client(clientConfig(options)),
    }))
    return loaded
  }

  async function request<T>(
    { bucket, key, signal }: { bucket: string; key?: string; signal?: AbortSignal },
    run: (sdk: Sdk, client: Client) => Promise<T>,
  ): Promise<T> {
    const { sdk, client } = await load()
    try {
      // The SDK's own pauses ignore the signal.
      return await unlessAborted(signal, () => run(sdk, client))
    } catch (error) {
      signal?.throwIfAborted()
      throw s3Error(error, { bucket, key, endpoint: options.endpoint })
    }
  }

  return {
    check: (bucket) =>
      request({ bucket }, async (sdk, client) => {
        await client.send(new sdk.HeadBucketCommand({ Bucket: bucket }))
      }),

    put: ({ bucket, key, body, contentType, signal }) =>
      request({ bucket, key, signal }, async (sdk, client) => {
        const input = { Bucket: bucket, Key: key, Body: body, ContentType: contentType }
        await client.send(new sdk.PutObjectCommand(input), { abortSignal: signal })
      }),

    putStream: (object) => request(object, async (_sdk, client) => uploadStream(client, object)),

    get: (object) => request(object, async (sdk, client) => getRange(sdk, client, object)),

    delete: ({ bucket, key }) =>
      request({ bucket, key }, async (sdk, client) => {
        await orNull(client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key })))
      }),

    list: ({ bucket, prefix, after }) =>
      request({ bucket }, async (sdk, client) => {
        const query = { Bucket: bucket, Prefix: prefix, StartAfter: after }
        const found = await client.send(new sdk.ListObjectsV2Command(query))
        const objects = (found.Contents ?? []).map(({ Key = '', Size = 0, LastModified }) => ({
          key: Key,
          size: Size,
          modifiedAt: LastModified?.getTime() ?? 0,
        }))
        return { objects, more: found.IsTruncated ?? false }
      }),

    abortUploads: (uploads) =>
      request(uploads, async (sdk, client) => abortUploads(sdk, client, uploads)),

    signedUrl: ({ bucket, key, expiresIn, contentType }) =>
      request({ bucket, key }, async (sdk, client) => {
        const { getSignedUrl } = await optionalPeer('@aws-sdk/s3-request-presigner', FOR_S3)
        const command = new sdk.GetObjectCommand({
          Bucket: bucket,
          Key: key,
          ResponseContentType: contentType,
        })
        return getSignedUrl(client, command, { expiresIn })
      }),
  }
}

async function uploadStream(
  client: Client,
  { bucket, key, body, contentType, signal }: Parameters<S3Connector['putStream']>[0],
): Promise<void> {
  const { Upload } = await optionalPeer('@aws-sdk/lib-storage', FOR_S3)
  const upload = new Upload({
    client,
    params: { Bucket: bucket, Key: key, Body: body, ContentType: contentType },
    partSize: PART,
    queueSize: PARTS_AT_ONCE,
    leavePartsOnError: false,
  })
  const abort = () => inBackground('Aborting an upload', upload.abort())
  const forget = signal && onAbort(signal, abort)
  await upload.done().finally(forget)
}

/** Aborts old uploads page by page. */
async function abortUploads(
  sdk: Sdk,
  client: Client,
  { bucket, prefix, before }: OldUploads,
): Promise<void> {
  const list = { Bucket: bucket, Prefix: prefix }
  let page = await client.send(new sdk.ListMultipartUploadsCommand(list))
  for (;;) {
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (!Initiated || Initiated.getTime() > before) continue
      const upload = { Bucket: bucket, Key, UploadId }
      await orNull(client.send(new sdk.AbortMultipartUploadCommand(upload)))
    }
    if (!page.IsTruncated) return
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page
    const query = { ...list, KeyMarker, UploadIdMarker }
    page = await client.send(new sdk.ListMultipartUploadsCommand(query))
  }
}

async function getRange(
  sdk: Sdk,
  client: Client,
  { bucket, key, start = 0, end, signal }: Parameters<S3Connector['get']>[0],
): Promise<ReadableStream<Uint8Array> | null> {
  const last = end === undefined ? '' : end - 1
  const Range = start === 0 && end === undefined ? undefined : `bytes=${start}-${last}`
  const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: key, Range })
  const found = await orNull(client.send(command, { abortSignal: signal }))
  if (!found?.Body) return null
  const stream = found.Body.transformToWebStream() as ReadableStream<Uint8Array>
  if (Range === undefined || found.ContentRange?.startsWith(`bytes ${start}-`)) return stream
  stream.cancel().catch(() => {})
  throw new ByrefError('storage_failed', 'The S3 server returned other bytes than were requested.')
}

/** Returns the options with the server and the region of the environment, which the command line uses, too. */
function withEnvironment(options: S3ConnectorOptions): S3ConnectorOptions {
  const { env } = process
  const name = env.AWS_ENDPOINT_URL_S3 ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL'
  const { endpoint = env[name] || undefined, region = env.AWS_REGION || undefined } = options
  if (endpoint !== undefined && !isWebUrl(endpoint)) {
    throw new ByrefError(
      'config_invalid',
      `${name} must be a URL, such as https://s3.example.com, not "${endpoint}"`,
    )
  }
  return { ...options, endpoint, region }
}

function clientConfig(options: S3ConnectorOptions) {
  const { endpoint, region = 'us-east-1', accessKeyId, secretAccessKey, sessionToken } = options
  const { maxAttempts = 6, timeoutMs = 30_000, requestHandler } = options
  const ofAws =
    endpoint === undefined || /\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname)
  return {
    endpoint,
    region,
    forcePathStyle: options.forcePathStyle ?? !ofAws,
    retryStrategy: createRetries(maxAttempts),
    // Other servers do not know the SDK's own checksums; every body is verified by its SHA-256 anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED' as const,
    responseChecksumValidation: 'WHEN_REQUIRED' as const,
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && {
        credentials: { accessKeyId, secretAccessKey, sessionToken },
      }),
    requestHandler: (requestHandler as S3ClientConfig['requestHandler']) ?? {
      connectionTimeout: Math.min(timeoutMs, 5_000),
      requestTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
  }
}

async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket') return null
    throw error
  }
}

type RetryStrategy = Exclude<S3ClientConfig['retryStrategy'], undefined>

const FIRST_PAUSE_MS = 100

/**
 * Retries each request by itself, with pauses that double. The SDK's own strategy has one budget for all requests, so
 * an outage that meets many saves at once would end all of them.
 */
function createRetries(maxAttempts: number): RetryStrategy {
  return {
    acquireInitialRetryToken: async () => tokenAfter(0, 0),

    async refreshRetryTokenForRetry(token: S3RetryToken, { error, errorType }) {
      const retries = token.getRetryCount() + 1
      const timeouts = token.timeouts + (isTimeout(error) ? 1 : 0)
      const mayPass = errorType === 'TRANSIENT' || errorType === 'THROTTLING'
      if (mayPass && retries < maxAttempts && timeouts <= 1) return tokenAfter(retries, timeouts)
      throw new Error('No attempts are left.')
    },

    recordSuccess() {},
  }
}

type S3RetryToken = ReturnType<typeof tokenAfter>

/**
 * Returns the SDK's token for the next attempt. Pauses are jittered, so that requests that failed together are not
 * repeated together.
 *
 * @param timeouts How many attempts ended because the server was silent.
 */
function tokenAfter(retries: number, timeouts: number) {
  const pause =
    retries === 0 ? 0 : FIRST_PAUSE_MS * 2 ** (retries - 1) * (0.7 + Math.random() * 0.3)
  return { timeouts, getRetryCount: () => retries, getRetryDelay: () => pause }
}

/** Returns whether the server was silent. The SDK gives lost connections the same name. */
function isTimeout(error: unknown): boolean {
  return nameOf(error) === 'TimeoutError' && !LOST_CONNECTION.has(osCode(error) ?? '')
}

const LOST_CONNECTION: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

/**
 * Converts an error of the server to one that says what to do. Without a key, the request was about the bucket itself.
 */
function s3Error(
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
  if (name === 'CredentialsProviderError') {
    return new ByrefError(
      'config_invalid',
      `There are no keys for bucket "${bucket}" of ${endpoint}: set accessKeyId and secretAccessKey, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
      options,
    )
  }
  if (status === 401 || status === 403 || WRONG_KEYS.has(name) || `${name} ${status}` === NO_BODY) {
    return new ByrefError(
      'config_invalid',
      `${server} rejects the keys for bucket "${bucket}" (${name}): check accessKeyId, secretAccessKey, sessionToken and region, or the AWS_* variables, and the permissions of the keys.`,
      options,
    )
  }
  if (status === 507 || name === 'QuotaExceeded' || name === 'XMinioStorageFull') {
    return new ByrefError('storage_full', 'The bucket is full. Free some space.', options)
  }
  if (status === 416) {
    const problem = 'it is shorter than it should be; run "byref assets verify"'
    // Without a cause, models and clients may read it.
    return new ByrefError('storage_failed', `The body "${key}" is damaged: ${problem}.`)
  }
  const reason = status === null ? (osCode(error) ?? name) : `${name} ${status}`
  const message = `${server} failed with bucket "${bucket}" (${reason}); try again.`
  return new ByrefError('storage_failed', message, options)
}

/** The names of errors about keys that have the status 400, or none. */
const WRONG_KEYS: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidToken',
])

/** How the SDK describes the same errors if the response has no body, as to `HEAD`. */
const NO_BODY = 'Unknown 400'

/** Returns the HTTP status of an error of the SDK, or null. */
function statusOf(error: unknown): number | null {
  const meta = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata
  return meta?.httpStatusCode ?? null
}

/** Returns the server's or the SDK's name for an error. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error)
}
