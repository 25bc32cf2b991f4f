import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { FullAssetStore, StoreOptions, StoreSaveOptions } from '../../assets/asset-store.ts'
import { ByrefError } from '../../core/errors.ts'

/** Adds a test of the contract. */
export type Check = (
  name: string,
  run: (store: FullAssetStore, loseBodies: () => Promise<unknown>) => Promise<void>,
) => void

/** Checks that every body of a namespace matches its digest. */
export async function assertSound(
  store: FullAssetStore,
  options: StoreOptions = {},
): Promise<void> {
  for await (const found of store.verify(options)) assert.equal(found.problem, null)
}

/** Checks that no method finds the asset. */
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

/** Returns the bytes of a body, or of a part of it. */
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
  // Some stores allow it, and others do not.
  if (isUnsupported(error) && code !== 'asset_unsupported') throw error
  assertCode(error, code)
}

/** Returns the error of something that must fail. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  assert.fail('it should have failed')
}

/** Whether an error means that a store does not support something. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof ByrefError && error.code === 'asset_unsupported'
}

/** Checks that an error is one of byref's, with this code. */
export function assertCode(error: unknown, code: string): void {
  assert.ok(error instanceof ByrefError, `a ByrefError, not ${error}`)
  assert.equal(error.code, code)
}

/** Checks that a store is empty. */
export async function assertEmpty(store: FullAssetStore): Promise<void> {
  assert.deepEqual(await store.list(), { records: [], next: null })
  assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
  await assertSound(store)
}

/** A stream of `count` kilobytes that then stalls. Reports how much was read, and whether it was cancelled. */
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

/** Returns the SHA-256 in lower-case hex. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns new random bytes. */
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
