import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Assets } from '../assets-contract.ts'
import { withStorageErrors } from '../bodies/durable.ts'
import { createAssets } from '../create-assets.ts'
import { mountSmallDisk } from '../fixtures/small-disk.ts'
import { testFolder } from '../fixtures/stores.ts'
import { createStore } from '../stores/create-store.ts'
import { fsParts } from '../stores/fs.ts'
import type { StoreParts } from '../stores/store-parts.ts'
import type { Edit } from './edit.ts'

const folder = testFolder()
const newParts = (): StoreParts => fsParts(join(folder, crypto.randomUUID()))

/** A text that is longer than the part that an edit reads at once. */
const LONG = Array.from({ length: 1_000_000 }, (_, i) => `line ${i}\n`).join('')
const MIDDLE: Edit = { find: 'line 500000\n', replace: 'changed\n' }
const JSON_LONG = JSON.stringify({ first: 1, list: Array.from({ length: 1_200_000 }, (_, i) => i) })

/** The editable assets, and an edit of each. */
const DOCUMENTS: [string, (assets: Assets) => Promise<string>, Edit[]][] = [
  ['a text', async (assets) => (await assets.save(Buffer.from('one two'))).ref, [find('one')]],
  ['a long text', async (assets) => (await assets.save(Buffer.from(LONG))).ref, [MIDDLE]],
  [
    'JSON',
    async (assets) => (await assets.save(Buffer.from('{"a":1}'), 'application/json')).ref,
    [{ op: 'replace', path: '/a', value: 2 }],
  ],
  [
    'structured content',
    async (assets) =>
      (await assets.saveAsset({ content_type: 'data', content: { a: 'x'.repeat(100_000) } })).ref,
    [{ op: 'add', path: '/b', value: 2 }],
  ],
  [
    'a table',
    async (assets) =>
      (await assets.importFile(Buffer.from('n\n1\n2\n'), { name: 'n.csv' })).table?.ref ?? '',
    [{ sql: 'SELECT n FROM rows WHERE n > 1' }],
  ],
]

function find(text: string): Edit {
  return { find: text, replace: 'x' }
}

/** Checks that an edit left nothing behind: one version, complete bodies, and no other bodies. */
async function assertUnchanged(assets: Assets, parts: StoreParts, ref: string) {
  expect(await assets.versions(ref)).toHaveLength(1)
  const digests = new Set<string | null>()
  for await (const { problem, digest } of assets.verify()) {
    expect(problem).toBe(null)
    digests.add(digest)
  }
  expect(await keysOf(parts)).toHaveLength(digests.size)
}

async function keysOf({ bodies }: StoreParts): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of bodies.list('')) keys.push(key)
  return keys
}

describe('an edit on a disk without space', () => {
  /** A store whose writes fail from the n-th on: for each body, each chunk, and the record. */
  function filling(parts: StoreParts, disk: { writes: number }): StoreParts {
    const write = () => {
      if (--disk.writes >= 0) return
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    }
    const { bodies, records } = parts
    return {
      bodies: {
        ...bodies,
        put: (key, body, options) =>
          withStorageErrors('Saving an asset', async () => {
            write()
            const source = body instanceof Uint8Array ? body : body.pipeThrough(checked(write))
            await bodies.put(key, source, options)
            write()
          }),
      },
      records: {
        ...records,
        add: (entry, quota) =>
          withStorageErrors('Saving an asset', async () => {
            write()
            return records.add(entry, quota)
          }),
      },
    }
  }

  function checked(write: () => void) {
    return new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        write()
        controller.enqueue(chunk)
      },
    })
  }

  it.each(DOCUMENTS)('does not change %s, whichever write fails', async (_, save, edits) => {
    const disk = { writes: Infinity }
    const parts = filling(newParts(), disk)
    const assets = createAssets({ store: createStore(parts) })
    const ref = await save(assets)
    const most = edits.includes(MIDDLE) ? 12 : 3
    for (let writes = 0; writes < most; writes++) {
      disk.writes = writes
      const failed = assets.edit(ref, edits)
      // The number of the last writes of a long text depends on the size of chunks.
      const { code } = await failed.then(
        () => ({ code: 'saved' }),
        (error: { code: string }) => error,
      )
      if (code === 'saved' && writes > 2) break
      expect(code).toBe('storage_full')
      await assertUnchanged(assets, parts, ref)
    }
    disk.writes = Infinity
    const edited = await assets.edit(ref, edits)
    expect((await assets.versions(edited.ref)).map((one) => one.ref)).toContain(edited.asset.ref)
  })

  const disk = mountSmallDisk(join(folder, 'disk'))

  it.skipIf(disk === null)('does not change a text on a real disk', async () => {
    try {
      const parts = fsParts(join(disk?.path ?? '', 'assets'))
      const assets = createAssets({ store: createStore(parts) })
      const { ref } = await assets.save(Buffer.from('line\n'.repeat(200_000)), 'text/plain')
      const before = await keysOf(parts)
      disk?.fill()
      await expect(
        assets.edit(ref, [{ find: 'line', replace: 'changed', occurrence: 2 }]),
      ).rejects.toMatchObject({ code: 'storage_full' })
      expect(await keysOf(parts)).toEqual(before)
      expect((await assets.get(ref)).bytes.byteLength).toBe(1_000_000)
      await parts.records.close()
    } finally {
      disk?.unmount()
    }
  })
})

describe('an edit of what cannot be read to its end', () => {
  type Damage = (stream: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>

  /** A store whose reads pass through a change, once it is set. */
  function damaged({ bodies, records }: StoreParts, reading: { through?: Damage }): StoreParts {
    return {
      records,
      bodies: {
        ...bodies,
        async open(key, range) {
          const stream = await bodies.open(key, range)
          return stream && reading.through ? reading.through(stream) : stream
        },
      },
    }
  }

  const changing = (change: (chunk: Uint8Array, n: number) => Uint8Array | null): Damage => {
    return (stream) => {
      let n = 0
      return stream.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            const changed = change(chunk, n++)
            if (changed) controller.enqueue(changed)
            else controller.terminate()
          },
        }),
      )
    }
  }

  const BROKEN: [string, Damage][] = [
    ['ends early', changing((chunk, n) => (n === 0 ? chunk.subarray(0, chunk.length / 2) : null))],
    ['has nothing', changing(() => null)],
    [
      'fails',
      changing(() => {
        throw new Error('connection reset')
      }),
    ],
    [
      'has another byte',
      changing((chunk, n) => {
        if (n > 0) return chunk
        const copy = chunk.slice()
        // Replaces a digit or a letter, so that it is still text.
        copy[copy.length - 2] = 0x37
        return copy
      }),
    ],
  ]
  const LONG_ONES: typeof DOCUMENTS = [
    ...DOCUMENTS.filter(([name]) => name !== 'a table'),
    [
      'long JSON',
      async (assets) => (await assets.save(Buffer.from(JSON_LONG), 'application/json')).ref,
      [{ op: 'replace', path: '/first', value: 2 }],
    ],
  ]

  for (const [how, through] of BROKEN) {
    it.each(LONG_ONES)(`stores nothing of %s that ${how}`, async (_, save, edits) => {
      const reading: { through?: Damage } = {}
      const parts = damaged(newParts(), reading)
      const assets = createAssets({ store: createStore(parts) })
      const ref = await save(assets)
      reading.through = through
      await expect(assets.edit(ref, edits)).rejects.toMatchObject({ code: 'storage_failed' })
      reading.through = undefined
      await assertUnchanged(assets, parts, ref)
    })
  }

  it('stores nothing of a long text that fails while the version is written', async () => {
    const reading: { through?: Damage } = {}
    const parts = damaged(newParts(), reading)
    const assets = createAssets({ store: createStore(parts) })
    const { ref } = await assets.save(Buffer.from(LONG), 'text/plain')
    let isWriting = false
    const { put } = parts.bodies
    parts.bodies.put = (...args) => {
      isWriting = true
      return put(...args)
    }
    let chunks = 0
    reading.through = changing((chunk) => (isWriting && ++chunks > 5 ? null : chunk))
    await expect(assets.edit(ref, [MIDDLE])).rejects.toMatchObject({ code: 'storage_failed' })
    expect(chunks).toBeGreaterThan(5)
    reading.through = undefined
    await assertUnchanged(assets, parts, ref)
  })
})
