import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Upload } from 'tus-js-client'
import { describe, expect, it } from 'vitest'
import { createClient } from '../client/create-client.ts'
import type { ImportProgress } from '../client/upload.ts'
import { refusal, token } from './fixtures/api.ts'
import { listening, temporary } from './fixtures/listening.ts'

interface Uploaded {
  asset: { assetId: string; name: string; mime: string; size: number; digest: string; ref: string }
}

type Cut = 'before' | 'after' | null

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('interrupted uploads', () => {
  it('continue with tus, even after a server restart, and become an asset once', async ({
    onTestFinished,
  }) => {
    const folder = temporary(onTestFinished)
    const bytes = randomBytes(3_000_000)
    const bearer = await token('member', 'team')
    const headers = { authorization: `Bearer ${bearer}` }
    const first = await listening(folder)
    const options = {
      chunkSize: 1_000_000,
      headers,
      metadata: { filename: 'large.bin', filetype: 'application/octet-stream' },
      retryDelays: null,
    }
    const begun = await new Promise<string>((resolve, reject) => {
      const upload = new Upload(bytes, {
        ...options,
        endpoint: `${first.url}/api/uploads`,
        onError: reject,
        onChunkComplete(_size, sent) {
          if (sent < 1_000_000) return
          void upload.abort().then(() => resolve(upload.url as string))
        },
      })
      upload.start()
    })
    await first.close()

    const second = await listening(folder)
    const uploadUrl = `${second.url}${new URL(begun, second.url).pathname}`
    const stranger = { authorization: `Bearer ${await token('member', 'other')}` }
    const spied = await fetch(uploadUrl, {
      method: 'HEAD',
      headers: { ...stranger, 'tus-resumable': '1.0.0' },
    })
    expect(spied.status).toBe(404)
    const tooEarly = await fetch(`${uploadUrl}/asset`, { method: 'POST', headers })
    expect(tooEarly.status).toBe(422)
    await new Promise<void>((resolve, reject) => {
      new Upload(bytes, {
        ...options,
        uploadUrl,
        onError: reject,
        onSuccess: () => resolve(),
      }).start()
    })
    const made = await fetch(`${uploadUrl}/asset`, { method: 'POST', headers })
    expect(made.status).toBe(201)
    const { asset } = (await made.json()) as Uploaded
    expect(asset).toMatchObject({
      name: 'large.bin',
      size: 3_000_000,
      digest: createHash('sha256').update(bytes).digest('hex'),
    })
    const again = await fetch(`${uploadUrl}/asset`, { method: 'POST', headers })
    expect([again.status, ((await again.json()) as Uploaded).asset]).toEqual([201, asset])
    const spiedAgain = await fetch(`${uploadUrl}/asset`, { method: 'POST', headers: stranger })
    expect(await refusal(spiedAgain)).toEqual({ status: 404, code: 'not_found' })
    expect(readdirSync(join(folder, 'uploads'))).toEqual([expect.stringMatching(/^answer-/)])
    await second.close()
  })

  it('of empty files become an empty file with tus', async ({ onTestFinished }) => {
    const { url, close } = await listening(temporary(onTestFinished))
    onTestFinished(close)
    const headers = { authorization: `Bearer ${await token('member', 'team')}` }
    const upload = await new Promise<string>((resolve, reject) => {
      const one = new Upload(Buffer.alloc(0), {
        endpoint: `${url}/api/uploads`,
        headers,
        metadata: { filename: 'empty.txt', filetype: 'text/plain' },
        retryDelays: null,
        onError: reject,
        onSuccess: () => resolve(one.url as string),
      })
      one.start()
    })
    const made = await fetch(`${new URL(upload, url)}/asset`, { method: 'POST', headers })
    expect(made.status).toBe(201)
    const { asset } = (await made.json()) as Uploaded
    expect(asset).toMatchObject({ name: 'empty.txt', size: 0 })
    const content = await fetch(`${url}/api/assets/${asset.assetId}/content`, { headers })
    expect([content.status, await content.text()]).toEqual([200, ''])
  })
})

describe('client.upload of a large file', () => {
  /** A client whose connections break as `breaks` says: before the request, or during the response. */
  function shaky(
    bearer: string,
    at: () => string,
    breaks: (request: { method: string; path: string; count: number }) => Cut | Promise<Cut>,
  ) {
    const seen: string[] = []
    const client = createClient({
      baseUrl: 'http://server',
      token: bearer,
      fetch: async (input, init) => {
        const path = String(input).replace('http://server', '')
        const method = init?.method ?? 'GET'
        seen.push(`${method} ${path.replace(/[\w-]{20,}/, ':id')}`)
        const cut = await breaks({ method, path, count: seen.length })
        if (cut === 'before') throw new TypeError('the line broke')
        const answer = await fetch(at() + path, init)
        if (cut === 'after') throw new TypeError('the line broke')
        return answer
      },
    })
    return { client, seen }
  }

  const pieces = { pieceBytes: 100_000, retryDelay: 1 }

  it('sends only the missing bytes after interruptions, and makes one asset', async ({
    onTestFinished,
  }) => {
    const folder = temporary(onTestFinished)
    const bytes = randomBytes(450_000)
    const bearer = await token('member', 'team')
    const server = await listening(folder)
    onTestFinished(server.close)
    const cuts = ['before', 'after', null, 'after', 'before', null, null, 'after', null] as const
    const patches: number[] = []
    let posts = 0
    const { client, seen } = shaky(
      bearer,
      () => server.url,
      ({ method, path }) => {
        if (method === 'PATCH') return cuts[patches.push(0) - 1] ?? null
        return path.endsWith('/asset') && posts++ === 0 ? 'after' : null
      },
    )
    const progress: number[] = []
    const { asset } = await client.upload(new File([bytes], 'två.bin'), {
      ...pieces,
      onProgress(fraction) {
        progress.push(fraction)
      },
    })
    expect(asset).toMatchObject({ name: 'två.bin', size: 450_000, digest: sha256(bytes) })
    expect([progress[0], progress.at(-1)]).toEqual([0, 1])
    expect(progress).toEqual(progress.toSorted((a, b) => a - b))
    expect(seen.filter((one) => one.startsWith('POST'))).toEqual([
      'POST /api/uploads',
      'POST /api/uploads/:id/asset',
      'POST /api/uploads/:id/asset',
    ])
    expect(await server.agent.scoped('team').assets.usage()).toMatchObject({ assets: 1 })
    expect(readdirSync(join(folder, 'uploads'))).toEqual([expect.stringMatching(/^answer-/)])
  })

  it('continues after a server restart', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const bytes = randomBytes(300_000)
    let server = await listening(folder)
    onTestFinished(() => server.close())
    let restarted: Promise<void> | null = null
    const restart = async () => {
      await server.close()
      server = await listening(folder)
    }
    const client = createClient({
      baseUrl: 'http://server',
      token: await token('member', 'team'),
      fetch: async (input, init) => {
        await restarted
        const answer = await fetch(String(input).replace('http://server', server.url), init)
        if (init?.method === 'PATCH') restarted ??= restart()
        return answer
      },
    })
    const { asset } = await client.upload(new Blob([bytes]), pieces)
    expect(restarted).not.toBeNull()
    expect(asset).toMatchObject({ digest: sha256(bytes) })
  })

  it('makes one asset, also if the server restarts before its answer arrives', async ({
    onTestFinished,
  }) => {
    const folder = temporary(onTestFinished)
    const bytes = randomBytes(250_000)
    let server = await listening(folder)
    onTestFinished(() => server.close())
    let restarts = 0
    const client = createClient({
      baseUrl: 'http://server',
      token: await token('member', 'team'),
      fetch: async (input, init) => {
        const answer = await fetch(String(input).replace('http://server', server.url), init)
        if (!String(input).endsWith('/asset') || restarts++ > 0) return answer
        await server.close()
        server = await listening(folder)
        throw new TypeError('the line broke')
      },
    })
    const { asset } = await client.upload(new Blob([bytes]), pieces)
    expect(asset).toMatchObject({ digest: sha256(bytes) })
    expect(restarts).toBe(2)
    const { assets } = server.agent.scoped('team')
    expect(await assets.usage()).toMatchObject({ assets: 1 })
    const [saved] = readdirSync(join(folder, 'uploads'))
    const id = saved?.replace('answer-', '') ?? ''
    const other = { authorization: `Bearer ${await token('member', 'other')}` }
    const spied = await fetch(`${server.url}/api/uploads/${id}/asset`, {
      method: 'POST',
      headers: other,
    })
    expect(await refusal(spied)).toEqual({ status: 404, code: 'not_found' })
  })

  it('starts again if the server has lost the upload', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const bytes = randomBytes(250_000)
    const server = await listening(folder)
    onTestFinished(server.close)
    const bearer = await token('member', 'team')
    const headers = { 'tus-resumable': '1.0.0', authorization: `Bearer ${bearer}` }
    const { client, seen } = shaky(
      bearer,
      () => server.url,
      async ({ method, path, count }) => {
        if (method !== 'PATCH' || count !== 3) return null
        await fetch(server.url + path, { method: 'DELETE', headers })
        return 'before'
      },
    )
    const upload = client.upload(new Blob([bytes]), pieces)
    expect((await upload).asset).toMatchObject({ digest: sha256(bytes) })
    expect(seen.filter((one) => one === 'POST /api/uploads')).toHaveLength(2)
  })

  it('leaves nothing when it is aborted, and reports the reason', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const server = await listening(folder)
    onTestFinished(server.close)
    const client = createClient({ baseUrl: server.url, token: await token('member', 'team') })
    const controller = new AbortController()
    const upload = client.upload(new Blob([randomBytes(450_000)]), {
      ...pieces,
      signal: controller.signal,
      onProgress: (fraction) => fraction > 0.3 && controller.abort(new Error('never mind')),
    })
    await expect(upload).rejects.toThrow('never mind')
    await expect.poll(() => readdirSync(join(folder, 'uploads'))).toEqual([])
    expect(await server.agent.scoped('team').assets.usage()).toMatchObject({ assets: 0 })
  })

  it('gives up without progress, and at once if it is rejected', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const server = await listening(folder, { limits: { uploadBytes: 1000 } })
    onTestFinished(server.close)
    const bearer = await token('member', 'team')
    const broken = shaky(
      bearer,
      () => server.url,
      () => 'before',
    )
    const file = new Blob([randomBytes(150_000)])
    await expect(broken.client.upload(file, pieces)).rejects.toMatchObject({ code: 'unreachable' })
    expect(broken.seen).toHaveLength(15)
    const { client, seen } = shaky(
      bearer,
      () => server.url,
      () => null,
    )
    await expect(client.upload(file, pieces)).rejects.toMatchObject({
      status: 413,
      code: 'asset_too_large',
    })
    expect(seen).toHaveLength(1)
  })

  it('reports the progress of the table import, and why there is no table', async ({
    onTestFinished,
  }) => {
    const folder = temporary(onTestFinished)
    const server = await listening(folder)
    onTestFinished(server.close)
    const client = createClient({ baseUrl: server.url, token: await token('member', 'team') })
    const rows = Array.from({ length: 60_000 }, (_, n) => `${n},city ${n % 7}`).join('\n')
    const told: ImportProgress[] = []
    const { table } = await client.upload(new File([`n,city\n${rows}`], 't.csv'), {
      ...pieces,
      onImport: (progress) => told.push(progress),
    })
    expect(table?.table?.rows).toBe(60_000)
    expect(told[0]).toMatchObject({ phase: 'reading' })
    const broken = new File([`a,b\n1,"open${'\nx'.repeat(100_000)}`], 'broken.csv')
    await expect(client.upload(broken, { ...pieces, onImport() {} })).rejects.toMatchObject({
      status: 422,
      code: 'table_invalid',
    })
    // Only the answer to the first upload is kept.
    expect(readdirSync(join(folder, 'uploads'))).toEqual([expect.stringMatching(/^answer-/)])
  })

  it('stops the table import when it is aborted, and leaves nothing', async ({
    onTestFinished,
  }) => {
    const failures: unknown[] = []
    const note = (error: unknown) => void failures.push(error)
    process.on('uncaughtExceptionMonitor', note)
    onTestFinished(() => void process.off('uncaughtExceptionMonitor', note))
    const folder = temporary(onTestFinished)
    const server = await listening(folder)
    onTestFinished(server.close)
    const client = createClient({ baseUrl: server.url, token: await token('member', 'team') })
    const rows = Array.from({ length: 400_000 }, (_, n) => `${n},"two\nlines"`).join('\n')
    const controller = new AbortController()
    const upload = client.upload(new File([`n,city\n${rows}`], 't.csv'), {
      signal: controller.signal,
      pieceBytes: 4_000_000,
      onImport: () => controller.abort(new Error('never mind')),
    })
    await expect(upload).rejects.toThrow('never mind')
    const { assets } = server.agent.scoped('team')
    await expect.poll(async () => (await assets.usage()).assets).toBe(0)
    await expect.poll(() => readdirSync(join(folder, 'uploads'))).toEqual([])
    expect(failures).toEqual([])
  })

  it('sends one request if the server does not accept pieces', async ({ onTestFinished }) => {
    const server = await listening(temporary(onTestFinished), { uploads: undefined })
    onTestFinished(server.close)
    const { client, seen } = shaky(
      await token('member', 'team'),
      () => server.url,
      () => null,
    )
    const { asset } = await client.upload(new Blob([randomBytes(150_000)]), pieces)
    expect(asset.size).toBe(150_000)
    expect(seen).toEqual(['POST /api/uploads', 'POST /api/assets?name=file'])
  })
})

describe('pieces of uploads', () => {
  it('fail alone if their folder cannot be written', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const file = join(folder, 'file')
    writeFileSync(file, 'where a folder belongs')
    const { url, close } = await listening(folder, { uploads: join(file, 'uploads') })
    onTestFinished(close)
    const headers = { authorization: `Bearer ${await token('member')}`, 'tus-resumable': '1.0.0' }
    const create = { method: 'POST', headers: { ...headers, 'upload-length': '9' } }
    const answer = await fetch(`${url}/api/uploads`, create)
    expect(await refusal(answer)).toEqual({ status: 503, code: 'storage_failed' })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  it('that cannot be stored are logged with the cause', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const logged: Record<string, unknown>[] = []
    const log = { info() {}, error: (entry: Record<string, unknown>) => void logged.push(entry) }
    const { url, close } = await listening(folder, { log })
    onTestFinished(close)
    const headers = { authorization: `Bearer ${await token('member')}`, 'tus-resumable': '1.0.0' }
    const create = () =>
      fetch(`${url}/api/uploads`, { method: 'POST', headers: { ...headers, 'upload-length': '9' } })
    const made = await create()
    const { pathname } = new URL(made.headers.get('location') ?? '', url)
    const info = join(folder, 'uploads', `${pathname.split('/').at(-1)}.json`)
    rmSync(info)
    mkdirSync(info)
    const unreadable = await fetch(url + pathname, { method: 'DELETE', headers })
    expect(await refusal(unreadable)).toEqual({ status: 503, code: 'storage_failed' })
    rmSync(join(folder, 'uploads'), { recursive: true })
    writeFileSync(join(folder, 'uploads'), 'where a folder belongs')
    expect(await refusal(await create())).toEqual({ status: 503, code: 'storage_failed' })
    expect(logged).toMatchObject([
      { err: { code: 'storage_failed', cause: { code: 'EISDIR' } }, path: pathname },
      { err: { code: 'storage_failed', cause: { code: 'EEXIST' } }, path: '/api/uploads' },
    ])
  })

  it('are rejected at once if the disk has no space for them', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const uploadBytes = Number.MAX_SAFE_INTEGER
    const { url, close } = await listening(folder, { limits: { uploadBytes } })
    onTestFinished(close)
    const answer = await fetch(`${url}/api/uploads`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await token('member')}`,
        'tus-resumable': '1.0.0',
        'upload-length': String(uploadBytes),
      },
    })
    expect(await refusal(answer)).toEqual({ status: 507, code: 'storage_full' })
    expect(readdirSync(join(folder, 'uploads'))).toEqual([])
  })

  it.skipIf(!existsSync('/dev/full'))(
    'are deleted when they fill the disk, so that there is space for other data',
    async ({ onTestFinished }) => {
      const folder = temporary(onTestFinished)
      const { url, close } = await listening(folder, { log: { info() {}, error() {} } })
      onTestFinished(close)
      const headers = { authorization: `Bearer ${await token('member')}`, 'tus-resumable': '1.0.0' }
      const made = await fetch(`${url}/api/uploads`, {
        method: 'POST',
        headers: { ...headers, 'upload-length': '9' },
      })
      const { href } = new URL(made.headers.get('location') ?? '', url)
      const file = join(folder, 'uploads', href.split('/').at(-1) ?? '')
      rmSync(file)
      symlinkSync('/dev/full', file)
      const piece = await fetch(href, {
        method: 'PATCH',
        headers: {
          ...headers,
          'upload-offset': '0',
          'content-type': 'application/offset+octet-stream',
        },
        body: 'some data',
      })
      expect(await refusal(piece)).toEqual({ status: 507, code: 'storage_full' })
      expect(readdirSync(join(folder, 'uploads'))).toEqual([])
      expect((await fetch(href, { method: 'HEAD', headers })).status).toBe(404)
    },
  )

  it('are logged with who sent them', async ({ onTestFinished }) => {
    const logged: Record<string, unknown>[] = []
    const log = { info: (entry: Record<string, unknown>) => void logged.push(entry), error() {} }
    const { url, close } = await listening(temporary(onTestFinished), { log })
    onTestFinished(close)
    const bearer = await token('member', 'team')
    const headers = { authorization: `Bearer ${bearer}`, 'tus-resumable': '1.0.0' }
    await fetch(`${url}/api/uploads`, {
      method: 'POST',
      headers: { ...headers, 'upload-length': '9' },
    })
    expect(logged).toMatchObject([{ path: '/api/uploads', subject: 'member of team' }])
  })

  it('are removed after a day if the upload is abandoned, when a server starts', async ({
    onTestFinished,
  }) => {
    const folder = temporary(onTestFinished)
    const uploads = join(folder, 'uploads')
    mkdirSync(uploads)
    for (const [id, hours] of [
      ['old', 25],
      ['young', 23],
    ] as const) {
      const created = new Date(Date.now() - hours * 3_600_000).toISOString()
      writeFileSync(join(uploads, id), 'half')
      writeFileSync(
        join(uploads, `${id}.json`),
        JSON.stringify({ id, size: 9, offset: 0, metadata: {}, creation_date: created }),
      )
      writeFileSync(join(uploads, `answer-${id}`), '{}')
      utimesSync(join(uploads, `answer-${id}`), new Date(created), new Date(created))
    }
    const { close } = await listening(folder)
    onTestFinished(close)
    const left = () => readdirSync(uploads).sort()
    await expect.poll(left).toEqual(['answer-young', 'young', 'young.json'])
  })

  it('are rejected with the usual error format, and for pages of other origins', async ({
    onTestFinished,
  }) => {
    const { url, close } = await listening(temporary(onTestFinished), {
      limits: { uploadBytes: 1000 },
    })
    onTestFinished(close)
    const headers = { authorization: `Bearer ${await token('member')}`, 'tus-resumable': '1.0.0' }
    const create = (length: string) =>
      fetch(`${url}/api/uploads`, {
        method: 'POST',
        headers: { ...headers, 'upload-length': length },
      })
    expect(await refusal(await create('1001'))).toEqual({ status: 413, code: 'asset_too_large' })
    expect(await refusal(await create('x'))).toEqual({ status: 400, code: 'bad_request' })
    const made = await create('1000')
    expect([made.status, made.headers.get('access-control-allow-origin')]).toEqual([201, null])
  })
})
