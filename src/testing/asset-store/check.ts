import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { FullAssetStore, StoreOptions, StoreSaveOptions } from '../../assets/asset-store.ts'
import { ByrefError } from '../../core/errors.ts'

/** Adds a test of the contract. */
export type Check = (
  name: string,
  run: (store: FullAssetStore, loseBodies: () => Promise<unknown>) => Promise<void>,
) => void

/** Checks that every body of a namespace is what its digest says. */
export async function assertSound(
  store: FullAssetStore,
  options: StoreOptions = {},
): Promise<void> {
  for await (const found of store.verify(options)) assert.equal(found.problem, null)
}

/** Checks that no method knows the asset. */
export async function assertUnknown(
  store: FullAssetStore,
  assetId: string,
  options: StoreSaveOptions,
): Promise<void> {
  assert.equal(await store.info(assetId, options), null)
  assert.equal(await store.open(assetId, { ...options, keep: true }), null)
  assert.equal(await store.object(assetId, 0, options), null)
  await rejects(store.get(assetId, options), 'asset_not_found')
  await rejects(store.urlFor(assetId, options), 'asset_not_found')
  await rejects(store.urlFor(assetId, { ...options, inline: true }), 'asset_not_found')
  assert.equal(await store.delete(assetId, options), false)
}

/** The bytes of a body, or of a part of it. */
export async function read(
  store: FullAssetStore,
  assetId: string,
  options: Parameters<FullAssetStore['open']>[1] = {},
): Promise<Uint8Array> {
  const opened = await store.open(assetId, { ...options, keep: true })
  assert.ok(opened, `asset ${assetId} is known`)
  const bytes = new Uint8Array(await new Response(opened.stream).arrayBuffer())
  assert.equal(bytes.byteLength, opened.end - opened.start)
  return bytes
}

/** Checks that something fails with a code. */
export async function rejects(promise: Promise<unknown>, code: string): Promise<void> {
  const error = await failureOf(promise)
  // Whether that is allowed depends on the store.
  if (isUnsupported(error) && code !== 'asset_unsupported') throw error
  assertCode(error, code)
}

/** What something failed with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  assert.fail('it should have failed')
}

/** Whether a store says that it cannot do something. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof ByrefError && error.code === 'asset_unsupported'
}

/** Checks that an error is byref's, with a code. */
export function assertCode(error: unknown, code: string): void {
  assert.ok(error instanceof ByrefError, `a ByrefError, not ${error}`)
  assert.equal(error.code, code)
}

/** Checks that a store holds nothing. */
export async function assertEmpty(store: FullAssetStore): Promise<void> {
  assert.deepEqual(await store.list(), { records: [], next: null })
  assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
  await assertSound(store)
}

/** A stream of `count` kilobytes that then neither goes on nor ends; tells how much was read, and if it was cancelled. */
export function endless(count: number, onPull: (pulled: number) => void = () => {}) {
  let pulled = 0
  let cancelled = false
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (pulled >= count) return new Promise<void>(() => {})
        onPull(++pulled)
        controller.enqueue(random(1000))
      },
      cancel() {
        cancelled = true
        return new Promise<void>(() => {})
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, pulled: () => pulled, cancelled: () => cancelled }
}

/** Compares without printing megabytes. */
export function assertBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.byteLength, expected.byteLength)
  assert.ok(Buffer.from(actual).equals(expected), 'the bytes are the same')
}

/** SHA-256 in lower-case hex. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Bytes that nobody has seen. */
export function random(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

export function streamOf(bytes: Uint8Array, chunk: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close()
      controller.enqueue(bytes.slice(at, at + chunk))
      at += chunk
    },
  })
}
