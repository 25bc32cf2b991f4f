import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { AssetEvent } from '../core/events/events.ts'
import { toAssetStore } from './asset-facade.ts'
import { type AssetRecord, type AssetStore, isFullStore } from './asset-store.ts'
import type { AssetsConfig } from './assets-config.ts'
import type { Assets, SaveOptions } from './assets-contract.ts'
import { createAssets } from './create-assets.ts'
import { everyStore, memoryConnector, PNG, testFolder } from './fixtures/stores.ts'
import { createMemoryAssetStore } from './stores/memory.ts'

const folder = testFolder()
const { passthrough, ...stores } = everyStore(folder)

const text = (value: Uint8Array) => Buffer.from(value).toString()
const code = (name: string) => expect.objectContaining({ code: name })

/** A stream with this many chunks of 100 bytes. */
function chunks(count: number, fill: number): ReadableStream<Uint8Array> {
  let left = count
  return new ReadableStream({
    async pull(controller) {
      await new Promise((go) => setTimeout(go, 1))
      if (left-- > 0) controller.enqueue(new Uint8Array(100).fill(fill))
      else controller.close()
    },
  })
}

describe.each(Object.entries(stores))('createAssets on %s', (name, store) => {
  const open = (config?: AssetsConfig): Assets => createAssets({ store: store(), config })

  it('rejects options in place of the MIME type', async () => {
    const options = { name: 'gauge.png' } as never
    await expect(open().save(new Blob(['x']), options)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('assets.save(body, null, { name })'),
    })
  })

  it('accepts a bare id, a URL and a reference object everywhere', async () => {
    const assets = open()
    const { ref, assetId } = await assets.save(Buffer.from('a,b\n1,2\n'), null, { name: 'x.csv' })
    for (const form of [
      assetId,
      ref,
      { asset_id: assetId, field_path: null },
      ` ${ref}/content `,
    ]) {
      expect(await assets.getDataUrl(form)).toBe('data:text/csv;base64,YSxiCjEsMgo=')
      expect(await assets.getBase64(form)).toEqual({ base64: 'YSxiCjEsMgo=', mime: 'text/csv' })
      expect((await assets.get(form)).bytes).toStrictEqual(new TextEncoder().encode('a,b\n1,2\n'))
      expect(await assets.resolve(form)).toBe('a,b\n1,2\n')
      expect(await assets.info(form)).toEqual({
        assetId,
        ref: `asset://${assetId}`,
        namespace: null,
        mime: 'text/csv',
        kind: 'file',
        size: 8,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        name: 'x.csv',
        description: null,
        createdAt: expect.any(String),
        expiresAt: null,
        structured: false,
        table: null,
        by: 'system',
      })
      expect(await assets.meta(form)).toEqual({
        asset_id: assetId,
        asset_name: 'x.csv',
        content_type: 'text/csv',
        content: "<class 'Uint8Array'>",
      })
      const opened = await assets.open(form, { start: -4 })
      expect(opened).toMatchObject({ mime: 'text/csv', size: 8, start: 4, end: 8 })
      expect(await new Response(opened.stream).text()).toBe('1,2\n')
    }
    expect((await assets.list()).assets).toEqual([await assets.info(ref)])
  })

  it('reports unknown assets and invalid references', async () => {
    const assets = open()
    for (const ref of [
      'unknown',
      'asset://unknown',
      { asset_id: 'unknown' },
      '../../secret',
      'a/b',
    ]) {
      await expect(assets.get(ref)).rejects.toEqual(code('asset_not_found'))
      await expect(assets.info(ref)).rejects.toEqual(code('asset_not_found'))
      await expect(assets.meta(ref)).rejects.toEqual(code('asset_not_found'))
      await expect(assets.resolve(ref)).rejects.toEqual(code('asset_not_found'))
      await expect(assets.urlFor(ref)).rejects.toEqual(code('asset_not_found'))
      expect(await assets.delete(ref)).toBe(false)
    }
    for (const ref of [
      '',
      '..',
      'asset://',
      'asset://..',
      'content',
      'https://x.org/a',
      'a\u0000',
    ]) {
      await expect(assets.get(ref)).rejects.toEqual(code('invalid_reference'))
    }
  })

  it('keeps structured content with bytes at its leaves', async () => {
    const assets = open()
    const content = {
      image: new Uint8Array(PNG),
      floats: new Float32Array([1.5, -2]),
      labels: ['a', null],
      at: new Date(5),
      never: new Date(Number.NaN),
      big: 7n,
      nan: Number.NaN,
      minusZero: -0,
      link: new URL('https://example.com/'),
      map: new Map<unknown, unknown>([['k', { deep: new Uint8Array([9]) }]]),
      set: new Set([1, 'x']),
      $byref: { own: 'key', of: { $byref: 'bytes', x: 1 } },
      'odd key/%': { '': 1 },
    }
    const info = await assets.saveAsset({
      asset_type: 'chart',
      asset_name: 'one',
      description: 'a chart',
      content_type: "<class 'dict'>",
      content,
    })
    expect(info).toMatchObject({ structured: true, name: 'one', description: 'a chart' })
    expect(await assets.resolve(info.ref)).toEqual(content)
    expect(await assets.resolve(`${info.ref}/content/labels/0`)).toBe('a')
    expect(await assets.resolve(`${info.ref}/content/labels/1`)).toBe(null)
    expect(await assets.resolve(`${info.ref}/content/odd%20key%2F%25//`)).toBe(1)
    expect(await assets.resolve(`${info.ref}/content/map/k/deep/0`)).toBe(9)
    expect(await assets.resolve(`${info.ref}/content/%24byref/of`)).toEqual({
      $byref: 'bytes',
      x: 1,
    })
    expect(await assets.resolve(`${info.ref}/content/%24byref/of/x`)).toBe(1)
    expect(await assets.resolve(`${info.ref}/asset_name`)).toBe('one')
    expect(await assets.resolve(`${info.ref}/asset_type`)).toBe('chart')
    expect(Object.is(await assets.resolve(`${info.ref}/content/minusZero`), -0)).toBe(true)
    const image = await assets.open(`${info.ref}/content/image`, { start: 1, end: 4 })
    expect(image).toMatchObject({ mime: 'image/png', size: PNG.byteLength })
    expect(await new Response(image.stream).text()).toBe('PNG')
    expect(await assets.getDataUrl(`${info.ref}/content/image`)).toMatch(
      /^data:image\/png;base64,iV/,
    )
    expect(text((await assets.get(`${info.ref}/content/labels`)).bytes)).toBe('["a",null]')
    expect(await assets.meta(info.ref)).toEqual({
      asset_type: 'chart',
      asset_id: info.assetId,
      asset_name: 'one',
      description: 'a chart',
      content_type: "<class 'dict'>",
      content: {
        image: "<class 'Uint8Array'>",
        floats: "<class 'Float32Array'>",
        labels: ['a', "<class 'NoneType'>"],
        at: '1970-01-01T00:00:00.005Z',
        never: 'Invalid Date',
        big: '7',
        nan: 'NaN',
        minusZero: expect.closeTo(0),
        link: 'https://example.com/',
        map: "<class 'Map'>",
        set: "<class 'Set'>",
        $byref: { own: 'key', of: { $byref: 'bytes', x: 1 } },
        'odd key/%': { '': 1 },
      },
    })
  })

  it('reads only the leaves on a path', async () => {
    const inner = store()
    const read: string[] = []
    const watched: AssetStore = isFullStore(inner)
      ? ({
          ...inner,
          open: (assetId: string, options: { part?: string } = {}) => {
            if (options.part) read.push(options.part)
            return inner.open(assetId, options)
          },
        } as AssetStore)
      : inner
    const assets = createAssets({ store: watched })
    const content = { images: [new Uint8Array([1]), new Uint8Array([2])], labels: ['a'] }
    const { ref } = await assets.saveAsset({ content_type: 'data', content })
    expect(await assets.resolve(`${ref}/content/labels`)).toEqual(['a'])
    expect(read).toHaveLength(0)
    expect(await assets.resolve(`${ref}/content/images/1`)).toEqual(new Uint8Array([2]))
    expect(await assets.resolve(`${ref}/content/images/1/0`)).toBe(2)
    if (isFullStore(inner)) expect(new Set(read).size).toBe(1)
    expect(await assets.resolve(ref)).toEqual(content)
  })

  it('reports a missing path without reading a leaf', async () => {
    const inner = store()
    let reads = 0
    const counted: AssetStore = isFullStore(inner)
      ? ({
          ...inner,
          open: (...args: Parameters<typeof inner.open>) => {
            if (args[1]?.part) reads++
            return inner.open(...args)
          },
        } as AssetStore)
      : inner
    const assets = createAssets({ store: counted })
    const images = Array.from({ length: 20 }, (_, i) => new Uint8Array([i]))
    const content = { images, map: new Map([['k', images[0]]]) }
    const { ref } = await assets.saveAsset({ content_type: 'data', content })
    for (const path of ['image', 'images/20', 'map/l', 'series', 'images/0/1']) {
      await expect(assets.resolve(`${ref}/content/${path}`)).rejects.toEqual(
        code('field_not_found'),
      )
    }
    await expect(assets.resolve(`${ref}/content/map/l`)).rejects.toThrow(
      `${ref}/content/map has no "l"; it has 1: "k".`,
    )
    await expect(assets.resolve(`${ref}/images/0`)).rejects.toThrow(`${ref}/content/images/0`)
    expect(reads).toBeLessThanOrEqual(1)
  })

  it('returns fields as bodies without loss, or reports which field to request', async () => {
    const assets = open()
    const map = new Map<string, unknown>([['a', new Set([1n])]])
    const content = { n: 5n, map, at: new Date(5), not: Number.NaN, deep: [{ image: PNG }] }
    const { ref } = await assets.saveAsset({ content_type: 'data', content })
    const body = async (path: string) => {
      const { bytes, mime } = await assets.get(`${ref}/content/${path}`)
      return [text(bytes), mime]
    }
    expect(await body('n')).toEqual(['5', 'text/plain; charset=utf-8'])
    expect(await body('map')).toEqual(['{"a":["1"]}', 'application/json'])
    expect((await body('at'))[0]).toBe('1970-01-01T00:00:00.005Z')
    expect((await body('not'))[0]).toBe('NaN')
    expect(await body('deep')).toEqual([
      `[{"image":"${ref}/content/deep/0/image"}]`,
      'application/json',
    ])
    const whole = {
      n: '5',
      map: { a: ['1'] },
      at: '1970-01-01T00:00:00.005Z',
      not: 'NaN',
      deep: [{ image: `${ref}/content/deep/0/image` }],
    }
    for (const form of [ref, `${ref}/content`]) {
      const { bytes, mime } = await assets.get(form)
      expect([JSON.parse(text(bytes)), mime]).toEqual([whole, 'application/json'])
      const opened = await assets.open(form)
      expect(await new Response(opened.stream).json()).toEqual(whole)
      expect(await (await fetch(await assets.urlFor(form))).json()).toEqual(whole)
    }
  })

  it('returns JSON of any allowed depth, and rejects the rest', async () => {
    const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth))
    const deep = await open().save(nested(50_000), 'application/json')
    expect(deep.mime).toBe('application/json')
    const assets = open()
    const { ref } = await assets.save(nested(50_000), 'application/json')
    await expect(assets.resolve(ref)).rejects.toEqual(code('too_deep'))
    const open100k = open({ limits: { depth: 100_000 } })
    const { ref: allowed } = await open100k.save(nested(50_000), 'application/json')
    expect(await open100k.resolve(allowed)).toHaveLength(1)
  })

  it('gives every reader its own copy', async () => {
    const assets = open()
    const rows = [{ a: 1 }, { a: 2 }]
    const info = await assets.saveAsset({ content_type: 'application/json', content: { rows } })
    rows.push({ a: 3 })
    const first = (await assets.resolve(`${info.ref}/content/rows`)) as { a: number }[]
    first.reverse()
    for (const row of first) row.a = 0
    expect(await assets.resolve(`${info.ref}/content/rows`)).toEqual([{ a: 1 }, { a: 2 }])
  })

  it('reports that a file has no fields', async () => {
    const assets = open()
    const { ref } = await assets.save(new Uint8Array(500), 'application/octet-stream')
    await expect(assets.resolve(`${ref}/content/foo`)).rejects.toThrow(
      `${ref} is a file (application/octet-stream) and has no field "foo". Pass the reference to the file itself.`,
    )
  })

  it('reports which part of a field path is missing, and what exists', async () => {
    const assets = open()
    const { ref } = await assets.saveAsset({
      content_type: 'application/json',
      content: { series: [{ label: 'x' }] },
    })
    await expect(assets.resolve(`${ref}/content/serie/0`)).rejects.toEqual(code('field_not_found'))
    await expect(assets.resolve(`${ref}/content/serie/0`)).rejects.toThrow('"series"')
    await expect(assets.resolve(`${ref}/series/0/label`)).rejects.toThrow(
      `${ref}/content/series/0/label`,
    )
    for (const path of ['__proto__', 'constructor', 'series/length', 'series/map', 'toString']) {
      await expect(assets.resolve(`${ref}/content/${path}`)).rejects.toEqual(
        code('field_not_found'),
      )
    }
  })

  it('resolves files by their type: text, JSON, otherwise bytes', async () => {
    const assets = open()
    const json = await assets.save(Buffer.from('[{"a":1}]'), null, { name: 'x.json' })
    const md = await assets.save(Buffer.from('# ö'), 'text/markdown')
    const png = await assets.save(PNG)
    const utf16 = await assets.save(Buffer.from('\ufeffö', 'utf16le'), 'text/plain')
    expect(await assets.resolve(json.ref)).toEqual([{ a: 1 }])
    expect(await assets.resolve(`${json.ref}/content/0/a`)).toBe(1)
    expect(await assets.resolve(md.ref)).toBe('# ö')
    expect(await assets.resolve(utf16.ref)).toBe('ö')
    expect(new Uint8Array((await assets.resolve(png.ref)) as Uint8Array)).toEqual(
      new Uint8Array(PNG),
    )
  })

  it('saves an asset whose content is text or bytes as a file', async () => {
    const assets = open()
    const picture = await assets.saveAsset({ content_type: 'image/png', content: PNG })
    expect(picture).toMatchObject({ structured: false, mime: 'image/png', kind: 'image' })
    const note = await assets.saveAsset({ content_type: 'text/markdown', content: '# hi' })
    expect(note).toMatchObject({ structured: false, mime: 'text/markdown' })
    expect(await assets.resolve(note.ref)).toBe('# hi')
    const command = await assets.saveAsset({ content_type: 'command', content: { command: 'x' } })
    expect(await assets.resolve(`${command.ref}/content_type`)).toBe('command')
    const scalar = await assets.saveAsset({ content_type: 'data', content: 5 })
    expect(await assets.resolve(scalar.ref)).toBe(5)
    const nothing = await assets.saveAsset({ content_type: 'data', content: null })
    expect(await assets.resolve(nothing.ref)).toBe(null)
  })

  it('keeps text as text, and saves a Blob as the file that it is', async () => {
    const assets = open()
    const list = await assets.saveAsset({ content_type: 'text/plain', content: '[1,2]' })
    expect(list.mime).toBe('text/plain')
    expect(await assets.resolve(list.ref)).toBe('[1,2]')
    const html = await assets.saveAsset({ content_type: 'text/plain', content: '<html>' })
    expect(html.mime).toBe('text/plain')
    const picture = { content_type: 'image/png', content: new Blob([PNG]) }
    expect(await assets.saveAsset(picture)).toMatchObject({ mime: 'image/png', structured: false })
    const file = { content_type: 'text/csv', content: new File(['a,b'], 'x.csv') }
    expect(await assets.saveAsset(file)).toMatchObject({ mime: 'text/csv', name: 'x.csv' })
  })

  it('rejects live objects that cannot be stored, and names the field', async () => {
    class Chart {
      title = 'x'
    }
    const assets = open()
    const content = { charts: [{ chart: new Chart() }] }
    const saving = assets.saveAsset({ content_type: "<class 'dict'>", content })
    if (name === 'memory') {
      const { ref } = await saving
      expect(await assets.resolve(`${ref}/content/charts/0/chart`)).toBe(content.charts[0]?.chart)
      expect(await assets.resolve(`${ref}/content/charts/0/chart/title`)).toBe('x')
      const cyclic: Record<string, unknown> = { a: 1 }
      cyclic.self = cyclic
      const kept = await assets.saveAsset({ content_type: 'data', content: cyclic })
      expect(await assets.resolve(`${kept.ref}/content/self/self/a`)).toBe(1)
    } else {
      await expect(saving).rejects.toEqual(code('asset_unsupported'))
      await expect(saving).rejects.toThrow('/charts/0/chart')
      const functions = assets.saveAsset({ content_type: 'data', content: { f: () => 1 } })
      await expect(functions).rejects.toThrow('/f')
    }
  })

  it('rejects endless content, and bodies over the limit', async () => {
    const assets = open({ limits: { depth: 10, bodyBytes: 100 } })
    let deep: unknown = 1
    for (let i = 0; i < 20; i++) deep = [deep]
    await expect(assets.saveAsset({ content_type: 'data', content: deep })).rejects.toEqual(
      code('too_deep'),
    )
    await expect(assets.save(new Uint8Array(101))).rejects.toEqual(code('asset_too_large'))
    await expect(assets.save(new Blob([new Uint8Array(101)]))).rejects.toEqual(
      code('asset_too_large'),
    )
    await expect(
      assets.saveAsset({ content_type: 'data', content: 'x'.repeat(101) }),
    ).rejects.toEqual(code('asset_too_large'))
    expect(await assets.usage()).toEqual({ assets: 0, bytes: 0 })
    expect((await assets.save(new Uint8Array(100))).size).toBe(100)
  })

  it('does not load a value that is too large, but can stream it', async () => {
    const assets = open({ limits: { valueBytes: 100 } })
    const { ref } = await assets.save(Buffer.alloc(101, 'x'), 'text/plain')
    await expect(assets.resolve(ref)).rejects.toEqual(code('asset_too_large'))
    expect(await new Response((await assets.open(ref)).stream).text()).toHaveLength(101)
    expect((await assets.meta(ref)).content_type).toBe('text/plain')
  })

  it('keeps a namespace within its quota', async () => {
    const assets = open({ limits: { quotaAssets: 3, quotaBytes: 1000 } })
    await assets.save(new Uint8Array(400))
    await expect(assets.save(new Uint8Array(601))).rejects.toEqual(code('quota_exceeded'))
    await expect(assets.save(new Blob([new Uint8Array(601)]))).rejects.toEqual(
      code('quota_exceeded'),
    )
    const second = await assets.save(new Uint8Array(600).fill(1))
    await expect(assets.save(new Uint8Array(1))).rejects.toThrow('1000 bytes')
    if (name === 'three methods') return
    await assets.delete(second.ref)
    await assets.save(new Uint8Array(300).fill(2))
    await assets.save(new Uint8Array(300).fill(2))
    await expect(assets.save(new Uint8Array(1))).rejects.toThrow('3 assets')
    const many = open({ limits: { quotaAssets: 5 } })
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => many.save(new Uint8Array(10).fill(i))),
    )
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(5)
  })

  it('counts streams as they flow, and the parts of structured assets', async () => {
    const assets = open({ limits: { quotaBytes: 1000, bodyBytes: 900 } })
    const streams = await Promise.allSettled(
      Array.from({ length: 5 }, (_, i) => assets.save(chunks(9, i), 'text/plain')),
    )
    expect(streams.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await assets.usage()).bytes).toBe(900)
    const parts = open({ limits: { quotaBytes: 1000, bodyBytes: 500 } })
    const saving = (...sizes: number[]) => {
      const content = sizes.map((size, i) => new Uint8Array(size).fill(i))
      return parts.saveAsset({ content_type: 'data', content })
    }
    await expect(saving(501)).rejects.toEqual(code('asset_too_large'))
    await expect(saving(400, 400, 400)).rejects.toEqual(code('quota_exceeded'))
    expect(await parts.usage()).toEqual({ assets: 0, bytes: 0 })
    await saving(300, 300)
  })

  it('cancels a stream that it cannot save', async () => {
    class Full extends Error {}
    const aborted = AbortSignal.abort(new Full())
    const cases: [AssetsConfig['limits'], string | null, SaveOptions, unknown][] = [
      [{}, 'no type', {}, code('asset_invalid')],
      [{}, null, { assetId: '..' }, code('invalid_reference')],
      [{}, null, { expiresAt: 'tomorrow' }, code('asset_invalid')],
      [{}, null, { signal: aborted }, expect.any(Full)],
      [{}, null, { namespace: 'n' }, code('config_invalid')],
      [{ bodyBytes: 100_000 }, null, {}, code('asset_too_large')],
      [{ quotaBytes: 100_000 }, null, {}, code('quota_exceeded')],
      [{ quotaAssets: 0 }, null, {}, code('quota_exceeded')],
    ]
    for (const [limits, mime, options, error] of cases) {
      let cancelled = 0
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
        cancel: () => void cancelled++,
      })
      await expect(open({ limits }).save(endless, mime, options)).rejects.toEqual(error)
      expect(cancelled).toBe(1)
    }
  })

  it('rejects values that are not a body', async () => {
    const locked = new Blob(['x']).stream()
    locked.getReader()
    const used = new Response('x')
    await used.text()
    const failed = new Response('x', { status: 500 })
    for (const input of ['text', 5, null, {}, locked, used, failed]) {
      await expect(open().save(input as never)).rejects.toEqual(code('asset_invalid'))
    }
    await expect(open().save('text' as never)).rejects.toThrow('openAsBlob(path)')
    const untyped = open().saveAsset({ content_type: '', content: 1 })
    await expect(untyped).rejects.toThrow('no content_type')
    await expect(open().saveAsset({ content: 1 } as never)).rejects.toThrow('"content_type"')
    const broken = { content_type: 'image/png\r\n', content: PNG }
    await expect(open().saveAsset(broken)).rejects.toThrow('line breaks')
  })

  it('accepts bytes, Responses and streams of every kind', async () => {
    const assets = open()
    const headers = {
      'content-type': 'text/csv',
      'content-disposition': 'attachment; filename=a.csv',
    }
    expect(await assets.save(new Response('a,b', { headers }))).toMatchObject({
      mime: 'text/csv',
      name: 'a.csv',
      size: 3,
    })
    expect((await assets.save(Readable.from([PNG]))).mime).toBe('image/png')
    expect((await assets.save(new DataView(new ArrayBuffer(3)))).size).toBe(3)
    expect((await assets.save(new SharedArrayBuffer(4), null, { owned: true })).size).toBe(4)
    expect((await assets.save(new Float32Array(2))).size).toBe(8)
  })

  it('saves bytes and content as they are at the time of the call', async () => {
    const payloads: { base64: string; digest: string }[] = []
    const onEvent = (event: AssetEvent) => payloads.push(event.payload as never)
    const assets = createAssets({ store: store(), onEvent })
    const bytes = Buffer.from('as it was')
    const saving = assets.save(bytes, 'text/plain')
    bytes.fill('!')
    const saved = await saving
    const content = { rows: [1], bytes: new Uint8Array([1]), blob: new Blob(['x']) }
    const savingAsset = assets.saveAsset({ content_type: 'data', content })
    content.rows.push(2)
    content.bytes.fill(2)
    const { ref } = await savingAsset
    expect(await assets.resolve(saved.ref)).toBe('as it was')
    expect(Buffer.from(payloads[0]?.base64 ?? '', 'base64').toString()).toBe('as it was')
    expect(await assets.resolve(`${ref}/content/rows`)).toEqual([1])
    expect(await assets.resolve(`${ref}/content/bytes`)).toEqual(new Uint8Array([1]))
  })

  it('reports every asset once, in order of the scopes, before save resolves', async () => {
    const told: string[] = []
    const own = (who: string) => async (event: { type: string; payload: { mime?: string } }) => {
      await new Promise((go) => setTimeout(go, 1))
      told.push(`${who} ${event.type} ${event.payload.mime}`)
    }
    const assets = createAssets({ store: store(), onEvent: own('outer') })
    const scoped = assets.scoped({ by: 'agent', onEvent: own('inner') })
    await scoped.save(PNG)
    expect(told).toEqual(['inner ASSET_CREATED image/png', 'outer ASSET_CREATED image/png'])
    await scoped.importFile(Buffer.from('a,b\n1,2\n'), { name: 'x.csv' })
    expect(told.slice(2)).toEqual([
      'inner ASSET_CREATED text/csv',
      'outer ASSET_CREATED text/csv',
      'inner ASSET_CREATED application/vnd.apache.parquet',
      'outer ASSET_CREATED application/vnd.apache.parquet',
    ])
  })

  it('never puts a body into an event, and lets handlers read it', async () => {
    const payloads: { base64: string; dataUrl: string; ref: string }[] = []
    const assets = createAssets({
      store: store(),
      config: { limits: { eventBytes: 1000 } },
      onEvent: (event) => payloads.push(event.payload as never),
    })
    const marker = Buffer.from('THE-BODY-OF-THE-ASSET')
    await assets.save(marker, 'text/plain', {
      by: 'tool',
      tool: 't',
      toolCallId: 'c',
      origin: '/a',
    })
    await assets.save(new Blob([marker]).stream(), 'text/plain')
    await assets.saveAsset({ content_type: 'text/plain', content: String(marker) })
    await assets.save(new Uint8Array(2000))
    expect(payloads[0]).toEqual({
      assetId: expect.any(String),
      ref: expect.any(String),
      mime: 'text/plain',
      kind: 'file',
      by: 'tool',
      tool: 't',
      toolCallId: 'c',
      origin: '/a',
      size: marker.byteLength,
      digest: expect.any(String),
    })
    for (const payload of payloads.slice(0, 3)) {
      expect(payload.base64).toBe(marker.toString('base64'))
      expect(payload.dataUrl).toBe(`data:text/plain;base64,${marker.toString('base64')}`)
      expect(Object.keys(payload)).not.toContain('base64')
      expect(JSON.stringify({ ...payload })).not.toContain(marker.toString('base64'))
      expect(JSON.stringify(structuredClone(payload))).not.toContain(String(marker))
    }
    expect(() => payloads[3]?.base64).toThrow(
      expect.objectContaining({ code: 'asset_unsupported' }),
    )
    expect(() => payloads[3]?.base64).toThrow('open(ref)')
  })

  it('keeps bodies for events up to the size of a result, including those in progress', async () => {
    const payloads: { base64: string }[] = []
    const assets = createAssets({
      store: store(),
      config: { limits: { eventBytes: 1000, resultBytes: 1000 } },
      onEvent: (event) => payloads.push(event.payload as never),
    })
    await Promise.all(Array.from({ length: 6 }, (_, i) => assets.save(chunks(9, i))))
    const readable = payloads.filter((payload) => {
      try {
        return payload.base64.length === 1200
      } catch (error) {
        expect(error).toEqual(code('asset_unsupported'))
        return false
      }
    })
    expect(readable.length).toBe(1)
    await assets.save(new Uint8Array(500))
    expect(payloads.at(-1)?.base64).toHaveLength(668)
  })

  it('keeps every body of a result for its event, whenever the event is handled', async () => {
    const payloads: { base64: string; ref: string }[] = []
    const assets = createAssets({
      store: store(),
      config: { limits: { eventBytes: 1000 } },
      onEvent: (event) => payloads.push(event.payload as never),
    })
    await Promise.all([...Array(8).keys()].map((i) => assets.save(new Uint8Array(900).fill(i))))
    await assets.save(chunks(9, 8))
    for (const { base64 } of payloads) expect(base64).toHaveLength(1200)
    await assets.save(new Uint8Array(1001))
    expect(() => payloads.at(-1)?.base64).toThrow('limits.eventBytes')
  })

  it('forgets an asset when it expires', async () => {
    const assets = open()
    const soon = await assets.save(PNG, null, { expiresAt: new Date(Date.now() + 3_600_000) })
    expect(soon.expiresAt).toMatch(/^\d{4}-/)
    const past = await assets.save(PNG, null, { expiresAt: '2020-01-01' })
    await expect(assets.get(past.ref)).rejects.toEqual(code('asset_not_found'))
    await expect(assets.save(PNG, null, { expiresAt: 'tomorrow' })).rejects.toEqual(
      code('asset_invalid'),
    )
  })

  it('accepts ids of the caller, and rejects invalid ones', async () => {
    const assets = open()
    for (const assetId of ['', '.', '..', 'content', 'asset://x', 'a\nb', 'x'.repeat(201)]) {
      await expect(assets.save(PNG, null, { assetId })).rejects.toEqual(code('invalid_reference'))
      await expect(
        assets.saveAsset({ asset_id: assetId, content_type: 'data', content: {} }),
      ).rejects.toEqual(code('invalid_reference'))
    }
    if (name === 'three methods') {
      await expect(assets.save(PNG, null, { assetId: 'mine' })).rejects.toEqual(
        code('asset_unsupported'),
      )
      return
    }
    const odd = 'A id/with#all?of%it'
    const info = await assets.saveAsset({ asset_id: odd, content_type: 'data', content: { a: 1 } })
    expect(info.assetId).toBe(odd)
    expect(await assets.resolve(`${info.ref}/content/a`)).toBe(1)
    expect((await assets.meta(odd)).asset_id).toBe(odd)
    await expect(
      assets.saveAsset({ asset_id: odd, content_type: 'data', content: 1 }),
    ).rejects.toEqual(code('asset_exists'))
  })

  it('implements the store of the reference, too', async () => {
    const assets = open()
    const facade = toAssetStore(assets)
    const { assetId } = await facade.save(new Uint8Array(PNG), 'image/png')
    expect((await facade.get(assetId)).mime).toBe('image/png')
    expect(await facade.urlFor(assetId, { inline: true })).toMatch(/^data:image\/png/)
    expect(await facade.info?.(assetId)).toMatchObject({ assetId, size: PNG.byteLength })
    expect(await facade.info?.('unknown')).toBe(undefined)
  })
})

describe('createAssets', () => {
  it('rejects base64 that is too long for a string before it reads', async () => {
    const inner = createMemoryAssetStore()
    let reads = 0
    const huge = (record: AssetRecord) => ({ ...record, size: 600_000_000 })
    const store: typeof inner = {
      ...inner,
      async info(...args) {
        const record = await inner.info(...args)
        return record && huge(record)
      },
      async open(...args) {
        const opened = await inner.open(...args)
        const pull = () => void reads++
        const stream = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
        return opened && { ...opened, record: huge(opened.record), stream }
      },
    }
    const assets = createAssets({ store })
    const { ref } = await assets.save(PNG)
    for (const read of [
      assets.getBase64(ref),
      assets.getDataUrl(ref),
      assets.urlFor(ref, { inline: true }),
    ]) {
      await expect(read).rejects.toEqual(code('asset_too_large'))
    }
    expect(reads).toBe(0)
  })

  it('reports what to do if a body is too large for its event', async () => {
    const advice = async (backend: 'memory' | 'passthrough') => {
      const payloads: { base64: string }[] = []
      const assets = createAssets({
        config: { backend, limits: { eventBytes: 5 } },
        onEvent: (event) => payloads.push(event.payload as never),
      })
      await assets.save(PNG)
      return () => payloads[0]?.base64
    }
    expect(await advice('memory')).toThrow('read it with assets.open(ref)')
    expect(await advice('passthrough')).toThrow('raise limits.eventBytes, or read it once')
  })

  it('uses the default for undefined options, and rejects invalid numbers', () => {
    const limits = { bodyBytes: undefined, items: undefined, quotaBytes: undefined } as object
    expect(createAssets({ config: { limits } }).config.limits).toEqual(createAssets().config.limits)
    for (const value of [Number.NaN, -1, 1.5, '5', null, 5n]) {
      const configured = (config: object) => () => createAssets({ config })
      expect(configured({ limits: { depth: value } })).toThrow(
        /limits\.depth must be a whole number/,
      )
      expect(configured({ inlineThresholdBytes: value })).toThrow('inlineThresholdBytes must be')
    }
    expect(() => createAssets({ config: { namespacing: { mode: 'on' as never } } })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    )
  })

  it('rejects URL lifetimes that no store supports', async () => {
    const s3 = { bucket: 'b', connector: memoryConnector(), records: ':memory:' }
    const assets = createAssets({ config: { backend: 's3', s3 } })
    const { ref } = await assets.save(PNG)
    for (const expiresIn of [0, -1, Number.NaN, 1.5, 604_801]) {
      await expect(assets.urlFor(ref, { expiresIn })).rejects.toEqual(code('bad_request'))
    }
    expect(await assets.urlFor(ref, { expiresIn: 604_800 })).toEqual(expect.any(String))
  })

  it('rejects the namespace of a scope if namespaces are not supported', () => {
    const invalid = expect.objectContaining({ code: 'config_invalid' })
    expect(() => createAssets({ namespace: 'a' })).toThrow(invalid)
    expect(() => createAssets().scoped({ namespace: 'a' })).toThrow(invalid)
    createAssets({ namespace: null }).scoped({ namespace: undefined })
  })

  it('keeps the namespace of the outer scope if the inner one has none', async () => {
    const config: AssetsConfig = { namespacing: { mode: 'context' } }
    const outer = createAssets({ config, namespace: 'a' })
    const { namespace } = await outer.scoped({ namespace: null }).save(PNG)
    expect(namespace).toBe('a')
  })

  it('creates the store that its configuration names', async () => {
    expect(createAssets().config).toMatchObject({
      backend: 'memory',
      namespacing: { mode: 'none', includeInRef: false },
      inlineThresholdBytes: 100_000,
      resolveInLLM: true,
    })
    const fs = { rootDir: join(folder, 'configured'), baseUrl: 'https://cdn.example.com/a/' }
    const assets = createAssets({ config: { backend: 'fs', fs } })
    const { ref } = await assets.save(PNG)
    const url = /^https:\/\/cdn\.example\.com\/a\/_\/[0-9a-z]{4}\/[0-9a-z]+\.png$/
    expect(await assets.urlFor(ref)).toMatch(url)
    expect(await assets.urlFor(ref, { inline: true })).toMatch(/^data:image\/png/)
    expect(createAssets({ config: { backend: 'passthrough' } }).config.backend).toBe('passthrough')
    const bucket = { bucket: 'b', connector: memoryConnector(), secretAccessKey: 'hidden' }
    const onS3 = createAssets({ config: { backend: 's3', s3: { ...bucket, records: ':memory:' } } })
    expect(JSON.stringify(onS3.config)).not.toContain('hidden')
    expect((await onS3.save(PNG)).mime).toBe('image/png')
    for (const [config, message] of [
      [{ backend: 'fs' }, 'needs its options: fs: { rootDir }'],
      [{ backend: 's3' }, 'needs its options: s3: { bucket, records }'],
      [
        { backend: 's3', s3: bucket },
        'config.s3 needs the option "records": the path of a SQLite file, or an index such as postgresRecords({ connectionString })',
      ],
      [
        { backend: 's3', s3: { ...bucket, records: {} } },
        's3.records must be the path of a SQLite',
      ],
      [{ backend: 'tape' }, '"tape"'],
    ] as const) {
      const create = () => createAssets({ config: config as AssetsConfig })
      expect(create).toThrow(expect.objectContaining({ code: 'config_invalid' }))
      expect(create).toThrow(message)
    }
  })

  it('returns fs assets without a baseUrl as data URLs', async () => {
    const assets = createAssets({
      config: { backend: 'fs', fs: { rootDir: join(folder, 'plain') } },
    })
    const { ref } = await assets.save(Buffer.from('x'), 'text/plain')
    expect(await assets.urlFor(ref)).toBe('data:text/plain;base64,eA==')
  })
})

describe('Assets.saveAsset, of a file', () => {
  it('keeps the given description in its meta and its event', async () => {
    const events: AssetEvent[] = []
    const assets = createAssets({ onEvent: (event) => void events.push(event) })
    const about = { asset_name: 'greeting', description: 'How to begin', asset_type: 'note' }
    const text = await assets.saveAsset({ ...about, content_type: 'text/plain', content: 'hello' })
    const bytes = await assets.saveAsset({
      ...about,
      content_type: 'image/gif',
      content: new Uint8Array([71, 73, 70]),
    })
    const meta = {
      ...about,
      asset_id: text.assetId,
      content_type: 'text/plain',
      content: "<class 'str'>",
    }
    expect(await assets.meta(text.ref)).toEqual(meta)
    expect(await assets.meta(bytes.ref)).toMatchObject({
      ...about,
      asset_id: bytes.assetId,
      content: "<class 'Uint8Array'>",
    })
    expect(events.map(({ payload }) => 'meta' in payload && payload.meta)).toEqual([
      meta,
      await assets.meta(bytes.ref),
    ])
    const plain = await assets.saveAsset({ content_type: 'text/plain', content: 'hello' })
    expect(await assets.meta(plain.ref)).toEqual({
      asset_id: plain.assetId,
      content_type: 'text/plain',
      content: "<class 'str'>",
    })
    expect(events.at(-1)?.payload).toMatchObject({ assetId: plain.assetId })
    expect(events.at(-1)?.payload).not.toHaveProperty('meta')
  })

  it('stores only the parts of its meta that the record lacks', async () => {
    const store = createMemoryAssetStore()
    const assets = createAssets({ store })
    const about = { asset_name: 'levels', description: 'Of a day', asset_type: 'note' }
    const data = await assets.saveAsset({ ...about, content_type: 'data', content: { m: 3.2 } })
    const text = await assets.saveAsset({ ...about, content_type: 'text/plain', content: 'hello' })
    const metaIn = async (id: string) => (await store.info(id))?.attributes.meta
    expect(await metaIn(data.assetId)).toEqual({ content: { m: 3.2 } })
    const own = { content_type: 'text/plain', content: "<class 'str'>" }
    expect(await metaIn(text.assetId)).toEqual(own)
    const ids = [data.assetId, text.assetId].map((asset_id) => ({ ...about, asset_id }))
    expect(await assets.meta(data.ref)).toEqual({
      ...ids[0],
      content_type: 'data',
      content: { m: 3.2 },
    })
    expect(await assets.meta(text.ref)).toEqual({ ...ids[1], ...own })
  })
})
