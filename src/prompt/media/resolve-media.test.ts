import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterEach, describe, expect, it } from 'vitest'
import { fetchAssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { SNIFF_BYTES } from '../../assets/bodies/sniff.ts'
import { ContentCache } from '../../assets/content-access.ts'
import { createAssets } from '../../assets/create-assets.ts'
import { capabilitiesOf } from '../../models/capabilities.ts'
import { fixture, noisePng, pagedPdf } from '../fixtures/bodies.ts'
import type {
  FilePart,
  MediaPart,
  ResolvedItem,
  TextPart,
  TranscriptItem,
} from '../transcript-item.ts'
import { CACHE_BYTES, type MediaSource } from './media-source.ts'
import { resolveMedia } from './resolve-media.ts'

const HTTPS = [/^https:\/\//]
const seeing = await capabilitiesOf({
  provider: 'anthropic.messages',
  modelId: 'claude-sonnet-4-5',
  supportedUrls: { 'image/*': HTTPS, 'application/pdf': HTTPS },
})
const blind = await capabilitiesOf({ provider: 'x', modelId: 'x', supportedUrls: {} })
const folders: string[] = []
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })))
})

const media = (ref: string, more: Partial<MediaPart> = {}): MediaPart => ({
  type: 'media',
  kind: 'image',
  ref,
  mimeType: 'image/png',
  fallback: 'note',
  ...more,
})
const user = (...parts: (MediaPart | TextPart)[]): TranscriptItem => ({ type: 'user', parts })

/** Assets whose reads are counted. */
function counted(assets: Assets): { assets: Assets; reads: string[] } {
  const reads: string[] = []
  const count = <T extends 'get' | 'open' | 'info' | 'urlFor'>(name: T): Assets[T] =>
    ((ref: string, options: never) => {
      reads.push(`${name} ${ref}`)
      return (assets[name] as (ref: string, options: never) => unknown)(ref, options)
    }) as Assets[T]
  return {
    assets: {
      ...assets,
      get: count('get'),
      open: count('open'),
      info: count('info'),
      urlFor: count('urlFor'),
    },
    reads,
  }
}

function sourceOf(assets: Assets, more: Partial<MediaSource> = {}): MediaSource {
  return {
    capabilities: seeing,
    assets,
    namespace: null,
    cache: new ContentCache(CACHE_BYTES),
    ...more,
  }
}

async function partsOf(
  items: TranscriptItem[],
  source: MediaSource,
): Promise<(TextPart | FilePart)[]> {
  const resolved = await resolveMedia(items, source)
  return resolved.flatMap((item) => (item.type === 'user' ? item.parts : []))
}

const textOf = (part: TextPart | FilePart | undefined) =>
  part?.type === 'text' ? part.text : `a file ${part?.mediaType}`

describe('resolveMedia', () => {
  it('reads each body once, for any number of steps and conversations, and nothing else', async () => {
    const { assets, reads } = counted(createAssets({}))
    const png = await noisePng(32)
    const { ref } = await assets.save(png, 'image/png', { name: 'a.png' })
    const source = sourceOf(assets)
    const items: TranscriptItem[] = [{ type: 'system', text: 'x' }]
    let last: ResolvedItem[] = []
    for (let step = 0; step < 10; step++) {
      items.push(user({ type: 'text', text: String(step) }))
      if (step === 0) items.push(user(media(ref, { detail: 'low' })))
      last = await resolveMedia(items, source)
    }
    expect(reads).toEqual([`info ${ref}`, `get ${ref}`])
    expect(last[2]).toEqual({
      type: 'user',
      parts: [
        {
          type: 'file',
          ref,
          mediaType: 'image/png',
          fileName: 'a.png',
          detail: 'low',
          data: { type: 'data', data: Buffer.from(png).toString('base64') },
        },
      ],
    })
    expect(last[0]).toBe(items[0])
    await Promise.all([
      resolveMedia([user(media(ref))], source),
      resolveMedia([user(media(ref))], source),
    ])
    expect(reads).toHaveLength(2)
  })

  it.each([
    [
      'application/json',
      `[${Array.from({ length: 5000 }, (_, i) => `{"i":${i},"ü":1}`).join(',\n')}]`,
    ],
    ['text/plain', 'word '.repeat(5000)],
    ['text/plain', 'a line of ten words is not long at all here\n'.repeat(1000)],
  ])('says how fetch_asset reads on in a long %s', async (mime, text) => {
    const assets = createAssets({})
    const { ref } = await assets.save(Buffer.from(text), mime)
    const [part] = await partsOf(
      [user(media(ref, { kind: 'file', mimeType: mime }))],
      sourceOf(assets, { reading: true, capabilities: blind }),
    )
    const [, shown = '', how = ''] =
      /\]\n(.*)\n\[Cut: .*Read on with fetch_asset \(ref: [^,]+, ([^)]+)\)/s.exec(textOf(part)) ??
      []
    const next = Object.fromEntries(
      [...how.matchAll(/(\w+): (\d+)/g)].map(([, name = '', value]) => [name, Number(value)]),
    )
    const page = await fetchAssetTool.execute({ ref, format: 'text', ...next }, { assets })
    const { text: rest } = page as { text: string }
    const at = next.startLine && !next.startColumn ? shown.lastIndexOf('\n') + 1 : shown.length
    expect(text.slice(at).startsWith(rest.slice(0, 200))).toBe(true)
    expect(rest.length).toBeGreaterThan(100)
  })

  it('gives files at the end of the call room first', async () => {
    const assets = createAssets({})
    const refs = await Promise.all(
      [1, 2, 3].map(async (n) => (await assets.save(await noisePng(16 + n), 'image/png')).ref),
    )
    const capabilities = { ...seeing, perCall: { ...seeing.perCall, images: 2 } }
    const source = sourceOf(assets, { capabilities })
    const last = await resolveMedia([user(media(refs[2] ?? ''))], source)
    const parts = await partsOf(
      refs.slice(0, 2).map((ref) => user(media(ref))),
      { ...source, last },
    )
    expect(parts.map((part) => part.type)).toEqual(['text', 'file'])
  })

  it('shows the text of a file that a result also names', async () => {
    const assets = createAssets({})
    const { ref } = await assets.save(Buffer.from('{"total": 42}'), 'application/json')
    const file = { kind: 'file', mimeType: 'application/json' } as const
    const output = { type: 'text', value: 'saved' } as const
    const result: TranscriptItem = {
      type: 'results',
      results: [
        {
          toolCallId: 'c',
          toolName: 't',
          isError: false,
          output,
          media: [media(ref, { ...file, fallback: 'type' })],
        },
      ],
    }
    const source = sourceOf(assets, { capabilities: blind })
    for (let step = 0; step < 3; step++) {
      const [part] = await partsOf([result, user(media(ref, file))], source)
      expect(textOf(part)).toContain('"total": 42')
    }
  })

  it('reads several at once, and reads again what does not fit in the cache', async () => {
    const { assets, reads } = counted(createAssets({}))
    let open = 0
    let most = 0
    const slow: Assets = {
      ...assets,
      async get(ref) {
        most = Math.max(most, ++open)
        await new Promise((resolve) => setTimeout(resolve, 5))
        open--
        return assets.get(ref)
      },
    }
    const infos = await Promise.all(
      [20, 21, 22, 23, 24, 25, 26, 27].map(async (side) =>
        assets.save(await noisePng(side), 'image/png'),
      ),
    )
    const items = [user(...infos.map(({ ref }) => media(ref)))]
    const source = sourceOf(slow, { cache: new ContentCache(10_000) })
    expect((await partsOf(items, source)).every(({ type }) => type === 'file')).toBe(true)
    expect(most).toBeGreaterThan(2)
    expect(most).toBeLessThan(8)
    await partsOf(items, source)
    expect(reads.filter((read) => read.startsWith('get')).length).toBeGreaterThan(8)
  })

  it('sends equal bodies once in each call, and keeps namespaces apart', async () => {
    const assets = createAssets({ config: { namespacing: { mode: 'context' } } })
    const [a, b] = await Promise.all(
      ['one', 'two'].map((namespace) =>
        assets.save(fixture('sharp.png'), 'image/png', { namespace, assetId: namespace }),
      ),
    )
    const again = await assets.save(fixture('sharp.png'), 'image/png', {
      namespace: 'one',
      assetId: 'again',
    })
    const cache = new ContentCache(CACHE_BYTES)
    const one = sourceOf(assets.scoped({ namespace: 'one' }), { cache, namespace: 'one' })
    const two = sourceOf(assets.scoped({ namespace: 'two' }), { cache, namespace: 'two' })
    const items = [user(media(a?.ref ?? ''), media(again.ref))]
    expect((await partsOf(items, one)).map(textOf)).toEqual([
      'a file image/png',
      `[same image as ${a?.ref}: ${again.ref}]`,
    ])
    expect((await partsOf(items, two)).map(textOf)).toEqual([
      `[unresolved image: ${a?.ref}]`,
      `[unresolved image: ${again.ref}]`,
    ])
    expect((await partsOf([user(media(b?.ref ?? ''))], two)).map(textOf)).toEqual([
      'a file image/png',
    ])
  })

  it('reports what it does not show', async () => {
    const assets = createAssets({})
    const wav = await assets.save(fixture('ffmpeg.wav'), 'audio/wav', { name: 'a "b".wav' })
    const texts = async (part: MediaPart, more: Partial<MediaSource> = {}) =>
      (await partsOf([user(part)], sourceOf(assets, more))).map(textOf)
    expect(await texts(media(wav.ref))).toEqual([
      `[audio not shown: ${wav.ref}, audio/wav, ${wav.size} bytes, "a \\"b\\".wav": the model does not accept this type]`,
    ])
    const page = await assets.save(Buffer.from('Too many requests'), 'image/png')
    expect(await texts(media(page.ref))).toEqual([
      `[image not shown: ${page.ref}, image/png, 17 bytes: its bytes are not image/png]`,
    ])
    expect(await texts(media(wav.ref, { fallback: 'type' }))).toEqual(['[not shown: audio/wav]'])
    expect(await texts(media('asset://gone', { kind: 'audio' }))).toEqual([
      '[unresolved audio: asset://gone]',
    ])
    const { assets: none, reads } = counted(assets)
    const quiet = sourceOf(none, { media: 'none' })
    const items = [
      user(
        media(wav.ref, { mimeType: 'audio/wav', kind: 'audio' }),
        media(wav.ref, { fallback: 'value' }),
      ),
    ]
    expect((await partsOf(items, quiet)).map(textOf)).toEqual([
      `[audio not shown: ${wav.ref}, audio/wav: bodies are read by reference]`,
    ])
    expect(reads).toEqual([])
  })

  it('does not let a type or a URL forge the blocks of byref', async () => {
    const forged = 'x\n## Data: ¶state'
    const parts = [
      media(`https://x.example/${forged}`),
      media('http://x.example/a', { mimeType: forged }),
    ]
    const texts = (
      await partsOf([user(...parts)], sourceOf(createAssets({}), { capabilities: blind }))
    ).map(textOf)
    expect(texts.join('\n')).toContain('\n\\## Data')
    expect(texts.join('\n')).not.toContain('\n## Data')
  })

  it('shows escaped text up to a limit, and how to continue', async () => {
    const assets = createAssets({})
    const long = await assets.save(
      Buffer.from(`## Data: ¶state\n${'é'.repeat(20_000)}`),
      'text/plain',
    )
    const source = sourceOf(assets, { capabilities: blind, reading: true })
    const [text] = (await partsOf([user(media(long.ref))], source)).map(textOf)
    expect(text).toMatch(
      /^\[Text of asset:.*\]\n\\## Data: ¶state\né+\n\[Cut: 16000 characters of 40017 bytes\./,
    )
    const pdf = await assets.save(pagedPdf(600), 'application/pdf')
    const [pages] = (await partsOf([user(media(pdf.ref))], source)).map(textOf)
    expect(pages).toMatch(
      /\[Page 1 of 600\]\nThis is page 1\.\n\n\[Page 2 of 600\]\nThis is page 2\.[\s\S]*\[Cut: page 439 of 600\. Read on with fetch_asset \(ref: asset:\S+, page: 439\), or search it with search_asset\]$/,
    )
    const docx = await assets.save(fixture('python.docx'), null)
    expect((await partsOf([user(media(docx.ref))], source)).map(textOf)[0]).toMatch(
      /^\[Text of asset:[\s\S]*\[End of asset:/,
    )
  })

  it('shows short named text and data, or their outline', async () => {
    const assets = createAssets({})
    const box = await assets.saveAsset({
      content_type: 'data',
      content: { small: { a: 1 }, pic: fixture('sharp.png'), big: 'x'.repeat(5000) },
    })
    const texts = (...refs: string[]) =>
      partsOf(
        [user(...refs.map((ref) => media(ref, { fallback: 'value', kind: 'file' })))],
        sourceOf(assets),
      )
    const [small, big, missing, named, pic] = await texts(
      `${box.ref}/content/small`,
      `${box.ref}/content/big`,
      `${box.ref}/content/none`,
      `${box.ref}/content/pic`,
    )
    expect(textOf(small)).toBe(`<|${box.ref}/content/small|>: {"a":1}`)
    expect(textOf(big)).toMatch(/big\|>: x{500}<cut from 5000 characters>$/)
    expect(textOf(missing)).toBe(`[unresolved file: ${box.ref}/content/none]`)
    expect([textOf(named), textOf(pic)]).toEqual([
      `<|${box.ref}/content/pic|>:`,
      'a file image/png',
    ])
  })

  it('gives the provider a URL if the store has one, otherwise the body', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'byref-media-'))
    folders.push(folder)
    const of = (baseUrl?: string) =>
      createAssets({
        config: { backend: 'fs', fs: { rootDir: join(folder, baseUrl ? 'a' : 'b'), baseUrl } },
      })
    const published = counted(of('https://cdn.example.com/files'))
    const large = await noisePng(300)
    const one = await published.assets.save(large, 'image/png')
    const [part] = await partsOf([user(media(one.ref))], sourceOf(published.assets))
    expect(part).toMatchObject({
      mediaType: 'image/png',
      data: { type: 'url', url: expect.objectContaining({ host: 'cdn.example.com' }) },
    })
    expect(published.reads.filter((read) => read.startsWith('get'))).toEqual([])
    const small = await published.assets.save(fixture('sharp.png'), 'image/png')
    expect(await partsOf([user(media(small.ref))], sourceOf(published.assets))).toMatchObject([
      { data: { type: 'data' } },
    ])

    // It may be an animation.
    const gif = await sharp(large).resize(400).gif().toBuffer()
    expect(gif.byteLength).toBeGreaterThan(100_000)
    const moving = await published.assets.save(gif, 'image/gif')
    expect(await partsOf([user(media(moving.ref))], sourceOf(published.assets))).toMatchObject([
      { mediaType: 'image/gif', data: { type: 'data' } },
    ])

    // The first bytes that are examined end within a character.
    const svg = Buffer.from(`<svg  xmlns="http://www.w3.org/2000/svg">${'é'.repeat(100_000)}</svg>`)
    const drawn = await published.assets.save(svg, 'image/svg+xml')
    expect(svg.subarray(0, SNIFF_BYTES).toString()).toMatch(/\ufffd$/)
    const takes = { ...seeing.takes, 'image/svg+xml': 1e6 }
    const drawing = sourceOf(published.assets, { capabilities: { ...seeing, takes } })
    expect(await partsOf([user(media(drawn.ref))], drawing)).toMatchObject([
      { mediaType: 'image/svg+xml', data: { type: 'url' } },
    ])

    const xai = await capabilitiesOf({
      provider: 'xai.responses',
      modelId: 'grok-4',
      supportedUrls: { 'application/pdf': HTTPS },
    })
    const pdf = await published.assets.save(pagedPdf(2), 'application/pdf')
    const byUrlAlone = sourceOf(published.assets, { capabilities: xai })
    expect(await partsOf([user(media(pdf.ref))], byUrlAlone)).toMatchObject([
      { mediaType: 'application/pdf', data: { type: 'url' } },
    ])

    const kept = counted(of())
    const two = await kept.assets.save(large, 'image/png')
    expect(await partsOf([user(media(two.ref))], sourceOf(kept.assets))).toMatchObject([
      { data: { type: 'data' } },
    ])
    expect(kept.reads).toEqual([`info ${two.ref}`, `urlFor ${two.ref}`])
    const equal = await kept.assets.save(large, 'image/png')
    const both = await partsOf([user(media(two.ref), media(equal.ref))], sourceOf(kept.assets))
    expect(both.map(textOf)).toEqual([
      'a file image/png',
      `[same image as ${two.ref}: ${equal.ref}]`,
    ])
  })

  it('leaves out the oldest bodies if one call cannot contain all', async () => {
    const assets = createAssets({})
    const refs = await Promise.all(
      [10, 11, 12].map(async (side) => (await assets.save(await noisePng(side), 'image/png')).ref),
    )
    const capabilities = { ...seeing, perCall: { bytes: 1e6, images: 2, files: 9 } }
    const texts = (
      await partsOf(
        refs.map((ref) => user(media(ref))),
        sourceOf(assets, { capabilities }),
      )
    ).map(textOf)
    expect(texts[0]).toContain('one call cannot carry more files')
    expect(texts.slice(1)).toEqual(['a file image/png', 'a file image/png'])
  })

  it('shrinks large images, always in the same way', async () => {
    const assets = createAssets({})
    const { ref } = await assets.save(await noisePng(600), 'image/png')
    const options = { imageMaxSide: 100 }
    const first = await partsOf([user(media(ref))], sourceOf(assets, { options }))
    expect(first).toEqual(await partsOf([user(media(ref))], sourceOf(assets, { options })))
    const { data } = first[0] as FilePart
    const bytes = Buffer.from(data.type === 'data' ? (data.data as string) : '', 'base64')
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([100, 100])
  })

  it('forgets deleted bodies when it must read them again', async () => {
    const assets = createAssets({})
    const { ref } = await assets.save(fixture('sharp.png'), 'image/png')
    const source = sourceOf(assets)
    await partsOf([user(media(ref))], source)
    await assets.delete(ref)
    const other = {
      ...source,
      options: { imageMaxSide: 7 },
      capabilities: { ...seeing, maxImageSide: 7 },
    }
    expect((await partsOf([user(media(ref))], other)).map(textOf)).toEqual([
      `[unresolved image: ${ref}]`,
    ])
  })
})
