import { describe, expect, it } from 'vitest'
import { assetResponse } from './asset-response.ts'
import { createAssets } from './create-assets.ts'

describe('the download of a table', () => {
  async function imported() {
    const assets = createAssets()
    const { asset, table } = await assets.importFile(Buffer.from('a,b\n1,2\n'), { name: 'x.csv' })
    async function download(ref: string) {
      const request = new Request('http://host/')
      const answer = await assetResponse(request, assets, ref, { download: true })
      const name = answer.headers.get('content-disposition')?.split("''")[1]
      return { name, text: await answer.text() }
    }
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
