import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

/** A request as the AWS SDK hands it to its transport. */
interface TransportRequest {
  method: string
  path: string
  query: Record<string, string | undefined>
  headers: Record<string, string>
  body?: unknown
}

interface TransportResponse {
  statusCode: number
  headers: Record<string, string>
  body: Readable
}

/** What goes wrong with a request: a status, a connection that breaks, or an answer that is cut after some bytes. */
export type Fault = number | 'refused' | 'silent' | { cutAfter: number }

/**
 * A transport for the AWS SDK that answers from memory, as an S3 server would, and fails as `fault` says. It knows what
 * the store asks for: objects, ranges, copies, lists and uploads in parts.
 */
export function faultyTransport(fault: (request: TransportRequest, count: number) => Fault | null) {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Map<number, Buffer>>()
  const requests: TransportRequest[] = []

  async function handle(request: TransportRequest): Promise<{ response: TransportResponse }> {
    requests.push(request)
    const what = fault(request, requests.length)
    if (what === 'refused') {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    }
    if (what === 'silent') {
      throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ETIMEDOUT' })
    }
    if (typeof what === 'number') return { response: answer(what, errorXml(what)) }
    const response = await serve(request)
    if (what) response.body = cut(response.body, what.cutAfter)
    return { response }
  }

  async function serve({ method, path, query, headers, body }: TransportRequest) {
    const key = decodeURIComponent(path.replace(/^\/[^/]+\/?/, ''))
    if (key === '') return query['list-type'] ? list(query) : answer(200)
    if (method === 'POST' && query.uploads !== undefined) {
      uploads.set('upload', new Map())
      return answer(200, xml('InitiateMultipartUploadResult', '<UploadId>upload</UploadId>'))
    }
    if (method === 'POST') {
      const parts = [...(uploads.get('upload') ?? [])].sort(([a], [b]) => a - b)
      objects.set(key, Buffer.concat(parts.map(([, bytes]) => bytes)))
      return answer(200, xml('CompleteMultipartUploadResult', '<ETag>"x"</ETag>'))
    }
    if (method === 'PUT' && headers['x-amz-copy-source']) {
      const source = decodeURIComponent(headers['x-amz-copy-source']).replace(/^\/?[^/]+\//, '')
      const found = objects.get(source)
      if (!found) return answer(404, errorXml(404))
      objects.set(key, found)
      return answer(200, xml('CopyObjectResult', '<ETag>"x"</ETag>'))
    }
    if (method === 'PUT') {
      const bytes = await bytesOf(body)
      if (query.partNumber) uploads.get('upload')?.set(Number(query.partNumber), bytes)
      else if (headers['if-none-match'] && objects.has(key)) return answer(412, errorXml(412))
      else objects.set(key, bytes)
      return answer(200, '', { etag: `"${createHash('md5').update(bytes).digest('hex')}"` })
    }
    if (method === 'DELETE') {
      objects.delete(key)
      return answer(204)
    }
    const bytes = objects.get(key)
    if (!bytes) return answer(404, method === 'HEAD' ? '' : errorXml(404))
    return ranged(method, bytes, headers.range)
  }

  function list(query: TransportRequest['query']): TransportResponse {
    const { prefix = '', 'start-after': after = '', 'max-keys': max = '1000' } = query
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, Number(max)).map((key) => {
      const size = objects.get(key)?.byteLength
      const time = new Date().toISOString()
      return `<Contents><Key>${key}</Key><Size>${size}</Size><LastModified>${time}</LastModified></Contents>`
    })
    const more = `<IsTruncated>${keys.length > page.length}</IsTruncated>`
    return answer(200, xml('ListBucketResult', more + page.join('')))
  }

  return { objects, requests, handler: { handle, destroy() {} } }
}

function ranged(method: string, bytes: Buffer, range: string | undefined): TransportResponse {
  const found = /^bytes=(\d+)-(\d*)$/.exec(range ?? '')
  const start = Number(found?.[1] ?? 0)
  const end = found?.[2] ? Number(found[2]) + 1 : bytes.byteLength
  const part = bytes.subarray(start, end)
  const headers = {
    'content-length': String(part.byteLength),
    'last-modified': new Date().toUTCString(),
  }
  const body = method === 'HEAD' ? Readable.from([]) : Readable.from(chunks(part))
  return { statusCode: found ? 206 : 200, headers, body }
}

function* chunks(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.byteLength; at += 50_000) yield bytes.subarray(at, at + 50_000)
}

function cut(body: Readable, after: number): Readable {
  return Readable.from(
    (async function* () {
      let sent = 0
      for await (const chunk of body) {
        if (sent + chunk.byteLength > after) {
          yield chunk.subarray(0, after - sent)
          throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
        }
        sent += chunk.byteLength
        yield chunk
      }
    })(),
  )
}

function answer(statusCode: number, text = '', headers: Record<string, string> = {}) {
  const body = Readable.from(text === '' ? [] : [Buffer.from(text)])
  const type = { 'content-type': 'application/xml' }
  return {
    statusCode,
    headers: { ...type, 'content-length': String(text.length), ...headers },
    body,
  }
}

function errorXml(status: number): string {
  const code = {
    403: 'SignatureDoesNotMatch',
    404: 'NoSuchKey',
    503: 'SlowDown',
    507: 'QuotaExceeded',
  }
  const name = code[status as keyof typeof code] ?? 'InternalError'
  return `<?xml version="1.0"?><Error><Code>${name}</Code><Message>no</Message></Error>`
}

function xml(name: string, content: string): string {
  return `<?xml version="1.0"?><${name}>${content}</${name}>`
}

async function bytesOf(body: unknown): Promise<Buffer> {
  if (body === undefined || body === null) return Buffer.alloc(0)
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body)
  const all: Buffer[] = []
  for await (const chunk of body as AsyncIterable<Uint8Array>) all.push(Buffer.from(chunk))
  return Buffer.concat(all)
}
