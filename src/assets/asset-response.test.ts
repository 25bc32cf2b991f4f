import { describe, expect, it } from 'vitest'
import { assetResponse } from './asset-response.ts'
import type { Assets } from './assets-contract.ts'
import { createAssets } from './create-assets.ts'
import { memoryRecords } from './records/memory-records.ts'
import { createStore } from './stores/create-store.ts'
import { memoryBodies } from './stores/memory.ts'
import { sheetRows, workbook } from './tables/fixtures/spreadsheet.ts'

async function downloaded(assets: Assets, ref: string) {
  const request = new Request('http://host/')
  const answer = await assetResponse(request, assets, ref, { download: true })
  const name = answer.headers.get('content-disposition')?.split("''")[1]
  return { name, text: await answer.text() }
}

describe('the download of a table', () => {
  async function imported() {
    const assets = createAssets()
    const { asset, table } = await assets.importFile(Buffer.from('a,b\n1,2\n'), { name: 'x.csv' })
    const download = (ref: string) => downloaded(assets, ref)
    return { assets, file: asset.ref, table: table?.ref ?? '', download }
  }

  it('is the file that it was made from', async () => {
    const { table, download } = await imported()
    expect(await download(table)).toEqual({ name: 'x.csv', text: 'a,b\n1,2\n' })
  })

  it('is Parquet if that file was deleted', async () => {
    const { assets, file, table, download } = await imported()
    await assets.delete(file)
    expect(await download(table)).toEqual({
      name: 'x.csv.parquet',
      text: expect.stringMatching(/^PAR1/),
    })
  })

  it('is named as Parquet after an edit', async () => {
    const { assets, table, download } = await imported()
    const edited = await assets.edit(table, [{ sql: 'select a from rows' }])
    expect(await download(edited.ref)).toEqual({
      name: 'x.csv.parquet',
      text: expect.stringMatching(/^PAR1/),
    })
  })
})

describe('the download of JSON', () => {
  it('is named as JSON, also if it was made from another file', async () => {
    const assets = createAssets()
    const rows = sheetRows([['a'], [1]])
    const book = workbook({ One: rows, Two: rows })
    const made = await assets.importFile(book, { name: 'book.xlsx' })
    const { name, text } = await downloaded(assets, made.workbook?.ref ?? '')
    expect([name, JSON.parse(text).sheets]).toEqual(['book.xlsx.json', { One: 1, Two: 2 }])
    for (const [asset_name, saved] of [
      ['plan.json', 'plan.json'],
      ['v1.5', 'v1.5.json'],
    ]) {
      const content = { a: 1 }
      const { ref } = await assets.saveAsset({
        asset_name,
        content_type: 'application/json',
        content,
      })
      expect((await downloaded(assets, ref)).name).toBe(saved)
    }
  })
})

describe('a body that cannot be read', () => {
  it.each([{}, { range: 'bytes=10-' }])(
    'is an error before the response begins: %j',
    async (headers) => {
      const bodies = memoryBodies()
      const assets = createAssets({ store: createStore({ records: memoryRecords(), bodies }) })
      const { ref } = await assets.save(new Uint8Array(300_000).fill(1), 'video/mp4')
      const { ref: json } = await assets.saveAsset({
        content_type: 'application/json',
        content: ['x'.repeat(300_000)],
      })
      const read = (one: string) =>
        assetResponse(new Request('http://host/', { headers }), assets, one, { download: false })
      const size = 'range' in headers ? 299_990 : 300_000
      expect((await (await read(ref)).arrayBuffer()).byteLength).toBe(size)
      for await (const { key } of bodies.list('')) await bodies.delete(key)
      for (const one of [ref, json]) {
        await expect(read(one)).rejects.toMatchObject({ code: 'storage_failed' })
      }
    },
  )
})

it('sends a body of several parts as bytes, which no browser renders', async () => {
  const assets = createAssets()
  const { ref, mime } = await assets.save(
    Buffer.from('--a'),
    'multipart/x-mixed-replace; boundary=a',
  )
  expect(mime).toContain('multipart/')
  const request = new Request('http://host/')
  const { headers } = await assetResponse(request, assets, ref, { download: false })
  expect(headers.get('content-type')).toBe('application/octet-stream')
})
