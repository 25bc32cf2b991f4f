import { describe, expect, it } from 'vitest'
import type { Assets } from './assets-contract.ts'
import { createAssets } from './create-assets.ts'
import { namedAssets } from './named-assets.ts'
import { createMemoryAssetStore } from './stores/memory.ts'
import type { SweepOptions } from './sweep-assets.ts'
import { sheetRows, workbook } from './tables/fixtures/spreadsheet.ts'

const png = (n: number) => Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, n])

describe('sweep', () => {
  it('removes unreferenced assets, and keeps what the remaining ones reference', async () => {
    const assets = createAssets()
    const named = await assets.save(png(1))
    const unnamed = await assets.save(png(2))
    const { asset: file, table } = await assets.importFile(Buffer.from('a,b\n1,2\n'), {
      name: 'x.csv',
    })
    const chain = await assets.saveAsset({
      content_type: 'data',
      content: { chart: named.ref, of: { asset_id: unnamed.assetId, field_path: null } },
    })
    const lonely = await assets.save(png(3))
    const result = await assets.sweep({
      referenced: [table?.ref ?? '', `${chain.ref}/content/chart`],
      graceMs: 0,
    })
    expect(result.deleted).toEqual([lonely.assetId])
    expect(result.kept).toBe(5)
    for (const { ref } of [named, unnamed, file, chain]) await assets.info(ref)
    const all = await assets.sweep({ referenced: [], graceMs: 0 })
    expect(all.deleted).toHaveLength(5)
    expect(await assets.usage()).toEqual({ assets: 0, bytes: 0 })
  })

  it('keeps recent assets, and what they reference', async () => {
    const store = createMemoryAssetStore()
    const assets = createAssets({ store })
    const old = { createdAt: '2020-01-01T00:00:00.000Z' }
    const source = await store.save(png(1), 'image/png', old)
    const gone = await store.save(png(2), 'image/png', old)
    await assets.saveAsset({
      content_type: 'data',
      content: { source: `asset://${source.assetId}` },
    })
    expect((await assets.sweep({ referenced: [] })).deleted).toEqual([gone.assetId])
    expect(await store.info(source.assetId)).not.toBe(null)
  })

  it('asks the given function before each removal, and shows what would be removed', async () => {
    const assets = createAssets()
    const keep = await assets.save(png(1))
    const drop = await assets.save(png(2))
    const referenced = async (id: string) => id === keep.assetId
    const dry = await assets.sweep({ referenced, graceMs: 0, dryRun: true })
    expect(dry.deleted).toEqual([drop.assetId])
    await assets.info(drop.ref)
    expect((await assets.sweep({ referenced, graceMs: 0 })).deleted).toEqual([drop.assetId])
  })

  it('removes only expired assets if no references are given', async () => {
    const assets = createAssets()
    await assets.save(png(1))
    await assets.save(png(2), null, { expiresAt: '2020-01-01' })
    const result = await assets.sweep({ graceMs: 0 })
    expect(result).toEqual({ deleted: [], expired: 1, kept: 1, leftovers: 0 })
  })

  it('stays in its namespace', async () => {
    const config = { namespacing: { mode: 'context' } } as const
    const assets = createAssets({ config })
    const a = await assets.save(png(1), null, { namespace: 'a' })
    await assets.save(png(1), null, { namespace: 'b' })
    const result = await assets.sweep({ namespace: 'b', referenced: [], graceMs: 0 })
    expect(result.deleted).toHaveLength(1)
    await assets.info(a.ref, { namespace: 'a' })
  })

  it('keeps what is referenced by an asset that is saved while references are collected', async () => {
    const store = createMemoryAssetStore()
    const assets = createAssets({ store })
    const old = { createdAt: '2020-01-01T00:00:00.000Z' }
    const source = await store.save(png(1), 'image/png', old)
    const gone = await store.save(png(2), 'image/png', old)
    async function* referenced() {
      yield 'asset://elsewhere'
      await assets.saveAsset({ content_type: 'data', content: [`asset://${source.assetId}`] })
    }
    expect((await assets.sweep({ referenced: referenced() })).deleted).toEqual([gone.assetId])
  })

  it('keeps what text files reference, at any position, also across chunks', async () => {
    const assets = createAssets()
    const chart = await assets.save(png(1))
    const photo = await assets.save(png(2))
    const page = await assets.save(Buffer.from(`# See\n\n![](<|${photo.ref}|>)`), 'text/markdown')
    const long = `${'x'.repeat(262_130)} ${chart.ref}/content ${page.ref}`
    const note = await assets.save(Buffer.from(long), 'text/plain')
    const result = await assets.sweep({ referenced: [note.ref], graceMs: 0 })
    expect(result).toMatchObject({ deleted: [], kept: 4 })
    expect((await assets.sweep({ referenced: [page.ref], graceMs: 0 })).deleted.sort()).toEqual(
      [chart.assetId, note.assetId].sort(),
    )
  })

  it.each(['application/yaml', 'application/x-yaml', 'application/toml', 'application/sql'])(
    'keeps what a file of the type %s references',
    async (mime) => {
      const assets = createAssets()
      const chart = await assets.save(png(1))
      const file = await assets.save(Buffer.from(`chart = ${chart.ref}`), mime)
      const { deleted } = await assets.sweep({ referenced: [file.ref], graceMs: 0 })
      expect(deleted).toEqual([])
    },
  )

  it('keeps what is referenced by an asset that is saved during the removal', async () => {
    const store = createMemoryAssetStore()
    const assets = createAssets({ store })
    const old = { createdAt: '2020-01-01T00:00:00.000Z' }
    const saved = []
    for (let i = 0; i < 10; i++) saved.push(await store.save(png(i), 'image/png', old))
    const [oldest] = saved.map(({ assetId }) => assetId).sort()
    let asked = 0
    const result = await assets.sweep({
      referenced: async () => {
        // The second round is the check before each removal.
        if (++asked === 11) {
          await assets.saveAsset({ content_type: 'data', content: [`asset://${oldest}`] })
        }
        return false
      },
    })
    expect(result.deleted).toHaveLength(9)
    expect(result.deleted).not.toContain(oldest)
  })

  it('keeps what only the second check finds referenced, and skips content without references', async () => {
    const assets = createAssets()
    const { assetId } = await assets.save(png(1))
    let asked = 0
    const late = await assets.sweep({ referenced: () => ++asked > 1, graceMs: 0 })
    expect(late).toMatchObject({ deleted: [], kept: 1 })
    const odd = ['', '..', 'content', 'https://example.com', {} as never, assetId]
    expect(await assets.sweep({ referenced: odd, graceMs: 0 })).toMatchObject({ kept: 1 })
  })

  it('rejects options that would remove assets by mistake', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(png(1))
    for (const wrong of [
      { graceMs: Number.NaN },
      { graceMs: -1 },
      { graceMs: '24h' as never },
      { graceMs: 0, keepVersions: -1 },
      { graceMs: 0, keepVersions: { a: '1' } as never },
      { graceMs: 0, referenced: ref },
      { graceMs: 0, referenced: { ref } as never },
      { graceMs: 0, referenced: null as never },
    ]) {
      await expect(assets.sweep(wrong)).rejects.toMatchObject({ code: 'config_invalid' })
    }
    await assets.info(ref)
  })

  /** Saves versions of a text, and returns their ids, oldest first. */
  async function versionsIn(assets: Assets, name: string, count: number): Promise<string[]> {
    const first = await assets.save(Buffer.from(`${name} 1`), 'text/plain', { name })
    const ids = [first.assetId]
    for (let n = 2; n <= count; n++) {
      const edit = { find: `${n - 1}`, replace: `${n}` }
      ids.push((await assets.edit(ids.at(-1) ?? '', [edit])).asset.assetId)
    }
    return ids
  }

  it.each<[SweepOptions['keepVersions'], string[], string[]]>([
    [undefined, ['a 5'], ['b 5']],
    [0, ['a 5'], ['b 5']],
    [2, ['a 3', 'a 4', 'a 5'], ['b 3', 'b 4', 'b 5']],
    [Infinity, ['a 1', 'a 2', 'a 3', 'a 4', 'a 5'], ['b 1', 'b 2', 'b 3', 'b 4', 'b 5']],
    [{ a: 1 }, ['a 4', 'a 5'], ['b 5']],
    [{ a: 0, '*': 1 }, ['a 5'], ['b 4', 'b 5']],
    [{ '*': 1, toString: 0 }, ['a 4', 'a 5'], ['b 4', 'b 5']],
  ])('keeps older versions as keepVersions says: %j', async (keepVersions, a, b) => {
    const assets = createAssets()
    const lines = [await versionsIn(assets, 'a', 5), await versionsIn(assets, 'b', 5)]
    const referenced = lines.map((ids) => ids.at(-1) ?? '')
    await assets.sweep({ referenced, graceMs: 0, keepVersions })
    const kept: string[][] = []
    for (const id of referenced) {
      const versions = await assets.versions(id)
      kept.push(
        await Promise.all(versions.map(({ ref }) => assets.resolve(ref) as Promise<string>)),
      )
    }
    expect(kept).toEqual([a, b])
    for await (const { problem } of assets.verify()) expect(problem).toBe(null)
  })

  it('keeps what a kept older version references, and counts no versions before it', async () => {
    const assets = createAssets()
    const photo = await assets.save(png(1))
    const first = await assets.save(Buffer.from('old'), 'text/plain')
    const second = await assets.edit(first.ref, [{ find: 'old', replace: photo.ref }])
    const third = await assets.edit(second.ref, [{ find: photo.ref, replace: 'new' }])
    const referenced = [third.ref]
    const { deleted } = await assets.sweep({ referenced, graceMs: 0, keepVersions: 1 })
    expect(deleted).toEqual([first.assetId])
    await assets.info(photo.ref)
  })

  it('counts the versions that still exist', async () => {
    const assets = createAssets()
    const ids = await versionsIn(assets, 'a', 5)
    await assets.delete(ids[3] ?? '')
    await assets.sweep({ referenced: ids.slice(4), graceMs: 0, keepVersions: 2 })
    const left = (await assets.versions(ids[4] ?? '')).map((one) => one.assetId)
    expect(left).toEqual([ids[1], ids[2], ids[4]])
  })

  it('counts versions from each kept one, on each branch', async () => {
    const assets = createAssets()
    const ids = await versionsIn(assets, 'a', 4)
    const branch = await assets.edit(ids[1] ?? '', [{ find: '2', replace: 'other' }])
    const other = await assets.edit(branch.ref, [{ find: 'other', replace: 'others' }])
    const referenced = [ids[3] ?? '', other.ref]
    await assets.sweep({ referenced, graceMs: 0, keepVersions: 1 })
    const left = (await assets.versions(other.ref)).map((one) => one.assetId)
    expect(left).toEqual([ids[2], ids[3], branch.asset.assetId, other.asset.assetId])
  })

  it('keeps the tables of a workbook as long as the workbook, and its file', async () => {
    const assets = createAssets()
    const sheets = { A: sheetRows([['a'], [1]]), B: sheetRows([['b'], [2]]) }
    const { asset, workbook: book } = await assets.importFile(workbook(sheets), { name: 'x.xlsx' })
    const { deleted } = await assets.sweep({ referenced: [book?.ref ?? ''], graceMs: 0 })
    expect(deleted).toEqual([])
    expect(await assets.resolve(`${asset.ref}-2/content/rows/0`)).toEqual({ b: 2 })
    expect((await assets.sweep({ referenced: [], graceMs: 0 })).deleted).toHaveLength(4)
  })

  it('does not keep an edited table for the version that was made from it', async () => {
    const assets = createAssets()
    const { table } = await assets.importFile(Buffer.from('n\n1\n2\n'), { name: 'n.csv' })
    const { ref } = await assets.edit(table?.ref ?? '', [{ sql: 'SELECT n FROM rows WHERE n > 1' }])
    const { deleted } = await assets.sweep({ referenced: [ref], graceMs: 0 })
    expect(deleted).toContain(table?.assetId)
    expect(await assets.resolve(`${ref}/content/rows/0`)).toEqual({ n: 2 })
  })

  it('keeps what the cells of an edited table reference', async () => {
    const assets = createAssets()
    const photo = await assets.save(png(1))
    const csv = Buffer.from(`n,photo\n1,${photo.ref}\n`)
    const { table } = await assets.importFile(csv, { name: 'n.csv' })
    let ref = table?.ref ?? ''
    for (let i = 0; i < 2; i++) {
      ref = (await assets.edit(ref, [{ sql: 'SELECT n + 1 AS n, photo FROM rows' }])).ref
    }
    await assets.sweep({ referenced: [ref], graceMs: 0 })
    expect(await assets.resolve(`${ref}/content/rows/0`)).toEqual({ n: 3, photo: photo.ref })
    expect((await assets.info(photo.ref)).assetId).toBe(photo.assetId)
  })

  it('keeps the older versions of an asset that is saved during the removal', async () => {
    const store = createMemoryAssetStore()
    const assets = createAssets({ store })
    const old = { createdAt: '2020-01-01T00:00:00.000Z' }
    const drop = await store.save(png(1), 'image/png', old)
    const first = await store.save(Buffer.from('1'), 'text/plain', { ...old, assetId: '0-first' })
    let isEdited = false
    const { deleted } = await assets.sweep({
      keepVersions: 1,
      async referenced() {
        if (!isEdited) await assets.edit(first.assetId, [{ find: '1', replace: '2' }])
        isEdited = true
        return false
      },
    })
    expect(deleted).toEqual([drop.assetId])
  })

  it('never removes an asset that is saved during the sweep, or a body that it shares', async () => {
    const assets = createAssets()
    for (let i = 0; i < 20; i++) await assets.save(png(i % 3))
    const saved: string[] = []
    const sweeping = assets.sweep({
      graceMs: 0,
      referenced: async () => {
        saved.push((await assets.save(png(saved.length % 3))).ref)
        return false
      },
    })
    expect((await sweeping).deleted).toHaveLength(20)
    for (const ref of saved) expect((await assets.get(ref)).bytes.byteLength).toBe(9)
    for await (const found of assets.verify()) expect(found.problem).toBe(null)
  })
})

describe('namedAssets', () => {
  it('finds references in every form, at any place', () => {
    const id = '0123456789abcdefghjkmnpqrstvwxyz'
    const value = {
      a: 'asset://one',
      b: ['see <|asset://two/content/x|> and ![x](asset://three).', { asset_id: 'four' }],
      c: { attachments: [{ assetRef: 'asset://tenant/five' }] },
      d: `[Attached image: asset_id="${id}"]`,
      e: '{"json":"<|{\\"asset_id\\":\\"six\\"}|>","ref":"asset://seven/content/0"}',
      f: new Map([['k', 'ASSET://eight']]),
      h: { id: 'my-chart', other: 'not mine' },
      i: { asset_id: '' },
      g: 'asset://nine%2Fslash',
      j: { 'asset://ten': 'a caption' },
      k: '{"ref":"asset:\\/\\/eleven\\/content"}',
    }
    const found = namedAssets(value, { ownIds: new Set(['my-chart', 'unnamed']) })
    expect(found).not.toContain('')
    expect(found).not.toContain('unnamed')
    for (const name of [
      'my-chart',
      'one',
      'two',
      'three',
      'four',
      'five',
      id,
      'six',
      'seven',
      'eight',
      'nine/slash',
      'ten',
      'eleven',
    ]) {
      expect(found).toContain(name)
    }
  })

  it('accepts Maps and Sets of any size', () => {
    const many = Array.from({ length: 300_000 }, (_, i) => i)
    expect(namedAssets([new Map(many.map((i) => [i, i])), new Set(many)])).toEqual(new Set())
  })

  it('finds nothing in values without references, and handles cycles', () => {
    const cycle: Record<string, unknown> = { text: 'assets are fine', n: 5, none: null }
    cycle.self = cycle
    expect(namedAssets(cycle)).toEqual(new Set())
  })
})
