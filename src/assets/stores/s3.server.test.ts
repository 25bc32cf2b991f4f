import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SwiftServer, startSwift } from '../../../test/swift/start-swift.ts'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import { createAssets } from '../create-assets.ts'
import { createS3AssetStore, type S3AssetStoreOptions } from './s3.ts'

const swift: SwiftServer | null = await startSwift()
const bucket = 'byref-tests'
let count = 0

function options(more: Partial<S3AssetStoreOptions> = {}): S3AssetStoreOptions {
  const { endpoint, region, accessKeyId, secretAccessKey } = swift as SwiftServer
  const keyPrefix = `test-${count++}/`
  const server = { endpoint, region, accessKeyId, secretAccessKey }
  return { bucket, keyPrefix, records: ':memory:', ...server, ...more }
}

describe.skipIf(!swift)('createS3AssetStore on OpenStack Swift', () => {
  beforeAll(async () => {
    const { endpoint, region, accessKeyId, secretAccessKey } = swift as SwiftServer
    const credentials = { accessKeyId, secretAccessKey }
    const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true })
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
  })
  afterAll(() => swift?.stop())

  testAssetStore(
    () => createS3AssetStore(options()),
    (name, run) => it(name, run, 60_000),
  )

  it('streams a body of unknown length in parts, and reads ranges of it', async () => {
    const assets = createAssets({ store: createS3AssetStore(options()) })
    const size = 11 * 1024 * 1024 + 7
    const info = await assets.save(numbers(size), 'video/mp4')
    expect(info.size).toBe(size)
    const { stream } = await assets.open(info.ref, { start: size - 8 })
    const last = new Uint8Array(await new Response(stream).arrayBuffer())
    expect([...last]).toEqual([...numberBytes(size - 8, 8)])
    const again = await assets.save(numbers(size), 'video/mp4')
    expect(again.digest).toBe(info.digest)
    expect((await assets.usage()).bytes).toBe(size)
    for await (const found of assets.verify()) expect(found.problem).toBe(null)
  })

  it('returns signed URLs that anybody can fetch, with the type and without the keys', async () => {
    const assets = createAssets({ store: createS3AssetStore(options()) })
    const info = await assets.save(Buffer.from('%PDF-1.4 hello'), 'application/pdf')
    const url = await assets.urlFor(info.ref)
    expect(url).not.toContain('testing')
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/pdf')
    expect(await response.text()).toBe('%PDF-1.4 hello')
    const forged = new URL(url)
    forged.searchParams.set('X-Amz-Signature', '0'.repeat(64))
    expect((await fetch(forged)).status).toBe(403)
  })

  it('prefers inline, then a public URL, then a signed one', async () => {
    const store = createS3AssetStore(options({ publicBaseUrl: 'https://cdn.example.com/' }))
    const assets = createAssets({ store })
    const { ref } = await assets.save(Buffer.from('x'), 'text/plain')
    expect(await assets.urlFor(ref, { inline: true })).toBe('data:text/plain;base64,eA==')
    expect(await assets.urlFor(ref)).toMatch(
      /^https:\/\/cdn\.example\.com\/test-\d+\/bodies\/_\/\w{4}\/\w+\.txt$/,
    )
  })

  it('reports wrong keys, a missing bucket and an unreachable server', async () => {
    const refused = createS3AssetStore(options({ secretAccessKey: 'wrong' }))
    await expect(refused.ready()).rejects.toMatchObject({ code: 'config_invalid' })
    await expect(refused.save(new Uint8Array(3), 'image/png')).rejects.toThrow(/keys/)
    const missing = createS3AssetStore(options({ bucket: 'not-there' }))
    await expect(missing.ready()).rejects.toThrow(/no bucket "not-there"/)
    const nobody = createS3AssetStore(options({ endpoint: 'http://127.0.0.1:9', maxAttempts: 2 }))
    await expect(nobody.ready()).rejects.toMatchObject({ code: 'storage_failed' })
  })
})

function numberBytes(start: number, length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, i) => (start + i) % 251)
}

function numbers(size: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= size) return controller.close()
      const length = Math.min(300_000, size - at)
      controller.enqueue(numberBytes(at, length))
      at += length
    },
  })
}
