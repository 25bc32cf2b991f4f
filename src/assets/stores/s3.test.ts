import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { ByrefError } from '../../core/errors.ts'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import type { FullAssetStore, StoreVerified } from '../asset-store.ts'
import { sha256 } from '../bodies/digest.ts'
import { createS3Connector } from '../bodies/s3/connector.ts'
import { createAssets } from '../create-assets.ts'
import { type Fault, faultyTransport } from '../fixtures/s3-transport.ts'
import { memoryConnector } from '../fixtures/stores.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createS3AssetStore, type S3AssetStoreOptions } from './s3.ts'

const KEYS = { accessKeyId: 'key', secretAccessKey: 'secret-of-the-account' }
const code = (name: string) => expect.objectContaining({ code: name })

type Request = Parameters<Parameters<typeof faultyTransport>[0]>[0]

/** A store over the AWS SDK whose requests have these faults. */
function faulty(
  fault: (request: Request, count: number) => Fault | null = () => null,
  records: S3AssetStoreOptions['records'] = ':memory:',
) {
  const transport = faultyTransport(fault)
  const store = createS3AssetStore({
    bucket: 'b',
    records,
    endpoint: 'http://s3.example.com',
    requestHandler: transport.handler,
    ...KEYS,
  })
  return { ...transport, store, assets: createAssets({ store }) }
}

async function problems(store: FullAssetStore): Promise<StoreVerified[]> {
  const found: StoreVerified[] = []
  for await (const one of store.verify()) if (one.problem !== null) found.push(one)
  return found
}

const isBody = ({ path }: Request) => path.includes('/bodies/')

describe('createS3AssetStore over a connector of your own', () => {
  let connector: ReturnType<typeof memoryConnector>
  const create = () => {
    connector = memoryConnector()
    return createS3AssetStore({ bucket: 'b', keyPrefix: 'p/', connector, records: ':memory:' })
  }
  const loseBodies = () => {
    for (const key of connector.objects.keys()) {
      if (key.includes('bodies/')) connector.objects.delete(key)
    }
  }
  testAssetStore(create, it, { loseBodies })

  it('stores long streams once, and nothing else', async () => {
    const connector = memoryConnector()
    const store = createS3AssetStore({
      bucket: 'b',
      keyPrefix: 'p/',
      connector,
      records: ':memory:',
    })
    const bytes = new Uint8Array(9_000_000).fill(7)
    const bodies = () => [...connector.objects.keys()].filter((key) => key.startsWith('p/bodies/'))
    for (let i = 0; i < 2; i++) {
      const { info } = await store.save(new Blob([bytes]).stream(), 'video/mp4')
      expect(info.size).toBe(9_000_000)
      expect(bodies()).toEqual([expect.stringMatching(/^p\/bodies\/_\/\w{4}\/\w+\.mp4$/)])
    }
    const half = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes)
        controller.error(new Error('cut'))
      },
    })
    await expect(store.save(half, 'video/mp4')).rejects.toThrow('cut')
    expect((await store.usage()).assets).toBe(2)
    expect(bodies()).toHaveLength(1)
  })

  it('reports what a connector threw', async () => {
    const connector = memoryConnector()
    const store = createS3AssetStore({
      bucket: 'b',
      records: ':memory:',
      connector: { ...connector, put: () => Promise.reject(new Error('kaputt')) },
    })
    await expect(store.save(new Uint8Array(1), 'image/png')).rejects.toThrow(/kaputt/)
    await expect(store.save(new Uint8Array(1), 'image/png')).rejects.toEqual(code('storage_failed'))
  })

  it('sweeps during an upload, whatever the grace period and clocks, and does not touch it', async () => {
    for (const clockMs of [0, -48 * 3_600_000, 48 * 3_600_000]) {
      const connector = memoryConnector({ clockMs })
      const records = sqliteRecords(':memory:')
      const other = createS3AssetStore({ bucket: 'b', connector, records })
      const sweeping = <A extends unknown[], R>(run: (...args: A) => Promise<R>) => {
        return async (...args: A) => {
          await other.sweep({ graceMs: 0 })
          const result = await run(...args)
          await other.sweep({ graceMs: 0 })
          return result
        }
      }
      const { put, get } = connector
      const store = createS3AssetStore({
        bucket: 'b',
        records,
        connector: { ...connector, put: sweeping(put), get: sweeping(get) },
      })
      const bytes = new Uint8Array(9_000_000).fill(7)
      const part = { digest: sha256('part'), bytes: Buffer.from('part') }
      const { assetId } = await store.save(new Blob([bytes]).stream(), 'video/mp4', {
        parts: [part],
      })
      expect((await store.get(assetId)).bytes).toHaveLength(9_000_000)
      expect(await problems(store)).toEqual([])
    }
  })

  it('ends a stalled read when it is cancelled or aborted, and sends no more requests', async () => {
    const connector = memoryConnector()
    const records = sqliteRecords(':memory:')
    const { assetId } = await createS3AssetStore({ bucket: 'b', connector, records }).save(
      Buffer.from('hello'),
      'text/plain',
    )
    let asked = 0
    let ended = 0
    const stall = () =>
      new ReadableStream<Uint8Array>({
        pull: () => new Promise(() => {}),
        cancel: () => void ended++,
      })
    const store = createS3AssetStore({
      bucket: 'b',
      records,
      connector: {
        ...connector,
        get: async (object) => {
          if (!object.key.includes('bodies/')) return connector.get(object)
          asked++
          return stall()
        },
      },
    })
    const cancelled = (await store.open(assetId))?.stream.getReader()
    const reading = cancelled?.read()
    await new Promise((go) => setTimeout(go, 10))
    await cancelled?.cancel()
    expect((await reading)?.done).toBe(true)
    const abort = new AbortController()
    const opened = await store.open(assetId, { signal: abort.signal })
    const aborted = opened?.stream.getReader().read()
    await new Promise((go) => setTimeout(go, 10))
    abort.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await new Promise((go) => setTimeout(go, 300))
    expect([asked, ended]).toEqual([2, 2])
  })

  it('does not treat a silent server as missing bodies', async () => {
    const connector = memoryConnector()
    let failure: Error | null = null
    const get: typeof connector.get = async (object) => {
      if (failure && object.key.includes('bodies/')) throw failure
      return connector.get(object)
    }
    const store = createS3AssetStore({
      bucket: 'b',
      connector: { ...connector, get },
      records: ':memory:',
    })
    await store.save(Buffer.from('body'), 'text/plain')
    for (const error of [
      new Error('the network is down'),
      new ByrefError('config_invalid', 'keys refused'),
    ]) {
      failure = error
      await expect(problems(store)).rejects.toThrow(error.message)
    }
    failure = null
    const key = [...connector.objects.keys()].find((one) => one.startsWith('bodies/')) ?? ''
    connector.objects.set(key, Buffer.from('bo'))
    expect((await problems(store)).map(({ problem }) => problem)).toEqual(['body_damaged'])
    connector.objects.delete(key)
    expect((await problems(store)).map(({ problem }) => problem)).toEqual(['body_missing'])
  })

  it('signs no URL that is valid longer than its asset', async ({ onTestFinished }) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    onTestFinished(() => void vi.useRealTimers())
    const connector = memoryConnector()
    const signed: number[] = []
    const signedUrl: typeof connector.signedUrl = async ({ expiresIn }) => {
      signed.push(expiresIn)
      return 'https://example.com/signed'
    }
    const store = createS3AssetStore({
      bucket: 'b',
      connector: { ...connector, signedUrl },
      records: ':memory:',
    })
    const save = (ms: number) =>
      store.save(Buffer.from('x'), 'text/plain', {
        expiresAt: new Date(Date.now() + ms).toISOString(),
      })
    const soon = await save(9_900)
    const late = await save(7_200_000)
    await store.urlFor(soon.assetId)
    await store.urlFor(soon.assetId, { expiresIn: 5 })
    await store.urlFor(late.assetId)
    expect(signed).toEqual([9, 5, 3600])
  })

  it('returns public URLs that escape any key', async () => {
    const store = createS3AssetStore({
      bucket: 'b',
      records: ':memory:',
      connector: memoryConnector(),
      keyPrefix: 'a b/ü?#%/',
      publicBaseUrl: 'https://cdn.example.com/x/',
    })
    const { assetId } = await store.save(Buffer.from('x'), 'text/plain')
    const url = new URL(await store.urlFor(assetId))
    expect(decodeURIComponent(url.pathname)).toMatch(/^\/x\/a b\/ü\?#%\/bodies\/_\/.*\.txt$/)
    expect(url.search + url.hash).toBe('')
  })
})

describe('createS3AssetStore over the AWS SDK', () => {
  testAssetStore(() => faulty().store, it)

  it('survives an outage of a second, even during many saves', async () => {
    let since = 0
    const { store } = faulty(({ method, path }) => {
      if (method !== 'PUT' || !path.includes('/bodies/')) return null
      since ||= Date.now()
      return Date.now() - since < 1_000 ? 'refused' : null
    })
    const saving = Array.from({ length: 120 }, (_, i) =>
      store.save(Buffer.from(`${i}`), 'text/plain'),
    )
    await Promise.all(saving)
    expect((await store.usage()).assets).toBe(120)
  })

  it('does not wait for the server when the save is aborted', async () => {
    const abort = new AbortController()
    let tries = 0
    const { store } = faulty((request) => {
      if (!isBody(request) || request.method !== 'PUT') return null
      if (++tries === 2) abort.abort(new Error('enough'))
      return 503
    })
    const { signal } = abort
    for (const body of [Buffer.from('x'), new Blob([new Uint8Array(70_000)]).stream()]) {
      const saving = store.save(body, 'text/plain', { signal })
      await expect(saving).rejects.toThrow('enough')
    }
    expect(tries).toBe(2)
    expect((await store.usage()).assets).toBe(0)
  })

  it('resumes a download that was cut', async () => {
    const bytes = Buffer.alloc(1_000_000, 'abcdefghij')
    let cuts = 0
    const { assets, requests } = faulty(({ method, path }) =>
      method === 'GET' && path.includes('/bodies/') && cuts++ < 6 ? { cutAfter: 120_000 } : null,
    )
    const { ref } = await assets.save(bytes, 'text/plain')
    const { stream } = await assets.open(ref)
    expect(Buffer.from(await new Response(stream).arrayBuffer()).equals(bytes)).toBe(true)
    const ranges = requests.filter(isBody).flatMap(({ headers }) => headers.range ?? [])
    expect(ranges).toContain('bytes=120000-999999')
    const { stream: part } = await assets.open(ref, { start: 10, end: 500_010 })
    const got = Buffer.from(await new Response(part).arrayBuffer())
    expect(got.equals(bytes.subarray(10, 500_010))).toBe(true)
  })

  it('has time limits, for a response and within one', async () => {
    const bytes = Buffer.alloc(300_000, 'x')
    let stalls = 0
    const records = sqliteRecords(':memory:')
    const { store, objects } = faulty(() => null, records)
    const { assetId } = await store.save(bytes, 'text/plain')
    const server = createServer((request, response) => {
      const key = decodeURIComponent((request.url ?? '').replace(/^\/b\/?/, '').split('?')[0] ?? '')
      const body = objects.get(key)
      if (key === '' && request.method === 'HEAD') return response.end()
      if (!body) return
      const range = /bytes=(\d+)-/.exec(request.headers.range ?? '')
      const rest = body.subarray(Number(range?.[1] ?? 0))
      const from = body.byteLength - rest.byteLength
      response.writeHead(range ? 206 : 200, {
        'content-length': rest.byteLength,
        ...(range && {
          'content-range': `bytes ${from}-${body.byteLength - 1}/${body.byteLength}`,
        }),
      })
      if (key.includes('bodies') && stalls++ < 2) response.write(rest.subarray(0, 70_000))
      else response.end(rest)
    })
    await new Promise<void>((go) => server.listen(0, '127.0.0.1', go))
    const { port } = server.address() as AddressInfo
    try {
      const place = { bucket: 'b', records, endpoint: `http://127.0.0.1:${port}`, ...KEYS }
      // Long enough for a busy machine, where any response may be late.
      const patient = createS3AssetStore({ ...place, timeoutMs: 500 })
      expect((await patient.get(assetId)).bytes.byteLength).toBe(300_000)
      expect(stalls).toBeGreaterThan(2)
      const hasty = createS3AssetStore({ ...place, timeoutMs: 100, maxAttempts: 1 })
      await expect(hasty.save(Buffer.from('new'), 'text/plain')).rejects.toEqual(
        code('storage_failed'),
      )
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('repeats a request only once if the server is silent', async () => {
    const { store, requests } = faulty((request) => (isBody(request) ? 'silent' : null))
    const saving = store.save(Buffer.from('x'), 'text/plain')
    await expect(saving).rejects.toThrow('ETIMEDOUT')
    await expect(saving).rejects.toEqual(code('storage_failed'))
    expect(requests.filter(isBody)).toHaveLength(2)
  })

  it('says that a session has expired, also when the server answers without a body', async () => {
    const server = createServer((_, response) => response.writeHead(400).end())
    await new Promise<void>((go) => server.listen(0, '127.0.0.1', go))
    const { port } = server.address() as AddressInfo
    try {
      const connector = createS3Connector({ endpoint: `http://127.0.0.1:${port}`, ...KEYS })
      await expect(connector.check('b')).rejects.toEqual(code('config_invalid'))
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it.each(['127.0.0.1:9', 'localhost:9000', 's3.example.com'])(
    'rejects the endpoint %s',
    (endpoint) => {
      const expected = expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringContaining('endpoint must be a URL, such as https://s3.example.com'),
      })
      expect(() => createS3Connector({ endpoint, ...KEYS })).toThrow(expected)
      const s3 = { bucket: 'b', records: ':memory:', endpoint, ...KEYS }
      expect(() => createAssets({ config: { backend: 's3', s3 } })).toThrow(expected)
    },
  )

  it('uploads streams of unknown length in parts, each with retries', async () => {
    let failures = 0
    const { assets, requests } = faulty(({ query }) =>
      query.partNumber && failures++ < 2 ? 503 : null,
    )
    const bytes = new Uint8Array(20_000_000).fill(3)
    const info = await assets.save(new Blob([bytes]).stream(), 'video/mp4')
    expect(info.size).toBe(20_000_000)
    expect(new Set(requests.flatMap(({ query }) => query.partNumber ?? [])).size).toBe(3)
    expect((await assets.get(info.ref)).bytes.byteLength).toBe(20_000_000)
  })

  it('sweeps the parts of an upload that was interrupted a day ago', async () => {
    const { store, uploads } = faulty()
    uploads.set('interrupted', new Map())
    await store.sweep({ graceMs: 0 })
    expect([...uploads.keys()]).toEqual(['interrupted'])
    await store.sweep({ now: Date.now() + 25 * 3_600_000 })
    expect([...uploads.keys()]).toEqual([])
  })

  it('sweeps bodies if the server cannot list uploads, and says so', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { store, requests } = faulty(({ query }) => (query.uploads !== undefined ? 501 : null))
    await store.sweep()
    expect(requests.some(({ query }) => query.uploads !== undefined)).toBe(true)
    const message = expect.stringContaining('Parts of interrupted uploads were not removed')
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ message }))
    warn.mockRestore()
  })

  it('says that a body is damaged if it is shorter than it should be', async () => {
    const { store, objects } = faulty()
    const { assetId } = await store.save(Buffer.from('0123456789'), 'text/plain')
    for (const key of objects.keys()) if (key.endsWith('.txt')) objects.set(key, Buffer.from('01'))
    await expect(store.get(assetId)).rejects.toThrow('is damaged: it is shorter than it should be')
  })

  it('takes the server, the region and the keys from the environment', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://localhost:9000')
    vi.stubEnv('AWS_REGION', 'eu-west-1')
    const connector = createS3Connector(KEYS)
    const url = new URL(await connector.signedUrl({ bucket: 'b', key: 'k', expiresIn: 60 }))
    expect(url.origin + url.pathname).toBe('http://localhost:9000/b/k')
    expect(url.searchParams.get('X-Amz-Credential')).toContain('/eu-west-1/s3/')
    vi.stubEnv('AWS_ENDPOINT_URL', 'localhost:9000')
    expect(() => createS3Connector(KEYS)).toThrow(
      'AWS_ENDPOINT_URL must be a URL, such as https://s3.example.com, not "localhost:9000"',
    )
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:9')
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE', 'HOME']) {
      vi.stubEnv(name, name === 'HOME' ? '/nowhere' : undefined)
    }
    await expect(createS3Connector({}).check('b')).rejects.toThrow(
      'There are no keys for bucket "b" of http://127.0.0.1:9: set accessKeyId',
    )
    vi.unstubAllEnvs()
  })

  it('rejects bytes of another range than requested', async () => {
    const { store } = faulty(({ path, headers }) =>
      path.includes('/bodies/') && headers.range ? 'whole' : null,
    )
    const { assetId } = await store.save(Buffer.from('0123456789'), 'text/plain')
    const opened = await store.open(assetId, { start: 2, end: 5 })
    await expect(new Response(opened?.stream).text()).rejects.toEqual(code('storage_failed'))
  })

  it('does not treat a rejected part as a missing bucket', async () => {
    const { store } = faulty(({ query }) =>
      query.partNumber ? { status: 404, name: 'NoSuchUpload' } : null,
    )
    const saving = store.save(new Blob([new Uint8Array(20_000_000)]).stream(), 'video/mp4')
    await expect(saving).rejects.toThrow('NoSuchUpload 404')
    await expect(saving).rejects.toEqual(code('storage_failed'))
  })

  it('needs no server for what it can answer locally', async () => {
    const connector = createS3Connector({ endpoint: 'http://s3.example.com', ...KEYS })
    const url = new URL(await connector.signedUrl({ bucket: 'b', key: 'k/ö', expiresIn: 60 }))
    expect(url.origin + url.pathname).toBe('http://s3.example.com/b/k/%C3%B6')
    expect(url.searchParams.get('X-Amz-Expires')).toBe('60')
    const aws = createS3Connector({ region: 'eu-west-1', sessionToken: 'token', ...KEYS })
    const signed = new URL(await aws.signedUrl({ bucket: 'bucket', key: 'k', expiresIn: 60 }))
    expect(signed.hostname).toBe('bucket.s3.eu-west-1.amazonaws.com')
    expect(signed.searchParams.get('X-Amz-Security-Token')).toBe('token')
  })

  // Each waits for a retry of the SDK, so they run concurrently.
  describe.concurrent('with temporary failures', () => {
    it('retries when the server fails, is slow, or does not respond', async () => {
      for (const what of [500, 503, 'refused', 'silent'] as const) {
        const failed = new Set<string>()
        const { assets } = faulty(({ method, path }) => {
          const once = `${method} ${path}`
          if (failed.has(once)) return null
          failed.add(once)
          return what
        })
        const { ref } = await assets.save(Buffer.from('hello'), 'text/plain')
        expect(await assets.resolve(ref)).toBe('hello')
        expect(failed.size).toBe(3)
      }
    })

    it('gives up in the end, with an error that says so, and stores nothing', async () => {
      const { assets, objects } = faulty((request) => (isBody(request) ? 500 : null))
      const saving = assets.save(Buffer.from('hello'), 'text/plain')
      await expect(saving).rejects.toEqual(code('storage_failed'))
      await expect(saving).rejects.toThrow(/InternalError 500/)
      expect([...objects.keys()]).toEqual([])
    })

    it('gives up on a download that never progresses', async () => {
      const { assets } = faulty(({ method, path }) =>
        method === 'GET' && path.includes('/bodies/') ? { cutAfter: 0 } : null,
      )
      const { ref } = await assets.save(Buffer.from('hello'), 'text/plain')
      await expect(assets.get(ref)).rejects.toEqual(code('storage_failed'))
    })

    it('reports what the server rejects, without a secret', async () => {
      for (const [fault, name, words] of [
        [403, 'config_invalid', /keys for bucket "b" \(SignatureDoesNotMatch\)/],
        [
          { status: 400, name: 'ExpiredToken' },
          'config_invalid',
          /keys .* \(ExpiredToken\).*sessionToken/,
        ],
        [507, 'storage_full', /The bucket is full/],
        [{ status: 404, name: 'NoSuchBucket' }, 'config_invalid', /no bucket "b"/],
        ['refused', 'storage_failed', /bucket "b" \(ECONNREFUSED\)/],
        [500, 'storage_failed', /bucket "b" \(InternalError 500\)/],
      ] as const) {
        const { assets } = faulty(() => fault)
        const failing = assets.save(Buffer.from('x'), 'text/plain')
        await expect(failing).rejects.toEqual(code(name))
        await expect(failing).rejects.toThrow(words)
        // Clients see the message of storage_full.
        const hasHost = name !== 'storage_full'
        const { message } = await failing.catch((error) => error)
        expect(message.includes('http://s3.example.com')).toBe(hasHost)
        await expect(failing).rejects.not.toThrow(/secret-of-the-account/)
      }
    })

    it('sweeps a body that was written but whose response was lost', async () => {
      let broken = true
      const { store } = faulty((request) =>
        broken && request.method === 'PUT' && isBody(request) ? 'lost' : null,
      )
      const saving = store.save(Buffer.from('x'), 'text/plain', { assetId: 'mine' })
      await expect(saving).rejects.toEqual(code('storage_failed'))
      expect((await store.list()).records).toEqual([])
      broken = false
      await store.save(Buffer.from('x'), 'text/plain', { assetId: 'mine' })
      const swept = await store.sweep({ now: Date.now() + 48 * 3_600_000 })
      expect(swept).toMatchObject({ assets: 0, bodies: 1 })
      expect(Buffer.from((await store.get('mine')).bytes).toString()).toBe('x')
    })
  })
})
