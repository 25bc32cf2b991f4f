import assert from 'node:assert/strict'
import { abortable } from '../assets/bodies/abortable.ts'
import type { BodyStore, ListedBody } from '../assets/bodies/body-store.ts'
import {
  assertBytes,
  assertCode,
  endless,
  failureOf,
  random,
  streamOf,
} from './asset-store/check.ts'
import type { TestFunction } from './conversation-log.ts'

const TYPE = { mime: 'image/png' }

/**
 * Tests for the contract of {@link BodyStore}.
 *
 * @param create Returns a new, empty body store. Called once per test.
 * @param test Your runner's `test` function.
 */
export function testBodyStore(
  create: () => BodyStore | Promise<BodyStore>,
  test: TestFunction,
): void {
  const check = (name: string, run: (bodies: BodyStore) => Promise<void>) =>
    test(name, async () => {
      const bodies = await create()
      await bodies.check?.()
      await run(bodies)
    })

  check('gives back bytes and streams of any size', async (bodies) => {
    for (const size of [1, 1000, 300_001, 9_000_000]) {
      const bytes = random(size)
      await bodies.put(`_/a/b${size}.png`, new Uint8Array(bytes), TYPE)
      await bodies.put(`_/a/s${size}.png`, streamOf(bytes, 70_001), TYPE)
      assertBytes(await read(bodies, `_/a/b${size}.png`, { end: size, size }), bytes)
      assertBytes(await read(bodies, `_/a/s${size}.png`, { end: size, size }), bytes)
    }
    assert.equal((await listed(bodies)).length, 8)
  })

  check('keeps a body without bytes', async (bodies) => {
    await bodies.put('_/a/empty', new Uint8Array(), TYPE)
    await bodies.put('_/a/nothing', streamOf(new Uint8Array(), 1), TYPE)
    const sizes = (await listed(bodies)).map(({ key, size }) => [key, size])
    assert.deepEqual(sizes.sort(), [
      ['_/a/empty', 0],
      ['_/a/nothing', 0],
    ])
  })

  check('reads ranges', async (bodies) => {
    const bytes = random(600_000)
    const size = bytes.byteLength
    await bodies.put('_/a/x', new Uint8Array(bytes), TYPE)
    for (const [start, end] of [
      [0, 1],
      [599_999, 600_000],
      [262_143, 262_146],
      [5, 500_000],
    ] as const) {
      assertBytes(await read(bodies, '_/a/x', { start, end, size }), bytes.slice(start, end))
    }
  })

  check('gives what there is of a body that is shorter than it should be', async (bodies) => {
    const bytes = random(1000)
    await bodies.put('_/a/x', new Uint8Array(bytes), TYPE)
    const reading = read(bodies, '_/a/x', { start: 100, end: 2000, size: 2000 })
    const found = await reading.catch((error: unknown) => {
      assertCode(error, 'storage_failed')
      return null
    })
    if (found) assertBytes(found, bytes.slice(100))
  })

  check('has nothing under another key', async (bodies) => {
    await bodies.put('_/a/x', random(5), TYPE)
    for (const key of ['_/a/y', '_/b/x', '_/a/x/y', 'x']) {
      assert.equal(await bodies.open(key, { start: 0, end: 5, size: 5 }), null)
      await bodies.delete(key)
    }
    assert.equal((await read(bodies, '_/a/x', { end: 5, size: 5 })).byteLength, 5)
  })

  check('removes a body once and for all', async (bodies) => {
    await bodies.put('_/a/x', random(5), TYPE)
    await bodies.put('_/a/y', random(5), TYPE)
    await bodies.delete('_/a/x')
    await bodies.delete('_/a/x')
    assert.equal(await bodies.open('_/a/x', { start: 0, end: 5, size: 5 }), null)
    assert.deepEqual(
      (await listed(bodies)).map(({ key }) => key),
      ['_/a/y'],
    )
  })

  check('lists what is below a prefix, with size and time', async (bodies) => {
    const before = Date.now()
    const keys = ['_/a/1', '_/a/2', '_/ab/3', 'tenant-0a/a/4', 'owner/5']
    for (const key of keys) await bodies.put(key, random(9), TYPE)
    const under = async (prefix: string) =>
      (await listed(bodies, prefix)).map(({ key }) => key).sort()
    assert.deepEqual(await under(''), [...keys].sort())
    assert.deepEqual(await under('_/'), ['_/a/1', '_/a/2', '_/ab/3'])
    assert.deepEqual(await under('_/a/'), ['_/a/1', '_/a/2'])
    assert.deepEqual(await under('owner/'), ['owner/5'])
    assert.deepEqual(await under('nobody/'), [])
    const day = 24 * 3_600_000
    for (const { size, putAt } of await listed(bodies)) {
      assert.equal(size, 9)
      assert.ok(Math.abs(putAt - before) < 3 * day, `${putAt} is milliseconds since 1970`)
    }
  })

  check('lists more than a page', async (bodies) => {
    const keys = Array.from({ length: 1100 }, (_, i) => `_/a/${i}`)
    for (let at = 0; at < keys.length; at += 100) {
      await Promise.all(
        keys.slice(at, at + 100).map((key) => bodies.put(key, Uint8Array.of(1), TYPE)),
      )
    }
    assert.deepEqual((await listed(bodies)).map(({ key }) => key).sort(), keys.sort())
  })

  check('rejects with what a stream failed with, or the signal', async (bodies) => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(random(100_000)),
      pull: (controller) => controller.error(new Error('the line was cut')),
    })
    await assert.rejects(bodies.put('_/a/x', broken, TYPE), /the line was cut/)
    const abort = new AbortController()
    const { stream } = endless(500, (pulled) => {
      if (pulled === 50) abort.abort(new Error('enough'))
    })
    const { signal } = abort
    const ended = stream.pipeThrough(new TransformStream(), { signal })
    await assert.rejects(bodies.put('_/a/y', ended, { ...TYPE, signal }))
  })

  check('rejects with the reason of the signal while a stream is silent', async (bodies) => {
    for (const count of [1, 200]) {
      const abort = new AbortController()
      const { signal } = abort
      const reason = new Error('nobody waits any more')
      const { stream, cancelled } = endless(count, (pulled) => {
        if (pulled === count) setImmediate(() => abort.abort(reason))
      })
      const putting = bodies.put(`_/a/${count}`, abortable(stream, signal), { ...TYPE, signal })
      assert.equal(await failureOf(putting), reason)
      assert.ok(cancelled(), 'the source was told')
    }
  })

  check('lets a read be dropped, begun or not', async (bodies) => {
    await bodies.put('_/a/x', random(1_000_000), TYPE)
    const range = { start: 0, end: 1_000_000, size: 1_000_000 }
    await (await bodies.open('_/a/x', range))?.cancel()
    const reader = (await bodies.open('_/a/x', range))?.getReader()
    assert.ok((await reader?.read())?.value)
    await reader?.cancel()
  })
}

async function listed(bodies: BodyStore, prefix = ''): Promise<ListedBody[]> {
  const found: ListedBody[] = []
  for await (const body of bodies.list(prefix)) found.push(body)
  return found
}

async function read(
  bodies: BodyStore,
  key: string,
  { start = 0, end, size }: { start?: number; end: number; size: number },
): Promise<Uint8Array> {
  const stream = await bodies.open(key, { start, end, size })
  assert.ok(stream, `there is a body ${key}`)
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
