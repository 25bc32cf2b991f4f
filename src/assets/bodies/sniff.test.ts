import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAssets } from '../create-assets.ts'
import { SNIFF_BYTES, sniff } from './sniff.ts'

/** Files from encoders, named after them, and their types. */
const FILES: Record<string, string> = {
  'ffmpeg.png': 'image/png',
  'sharp.png': 'image/png',
  'ffmpeg.jpg': 'image/jpeg',
  'sharp.jpg': 'image/jpeg',
  'ffmpeg.gif': 'image/gif',
  'sharp.gif': 'image/gif',
  'ffmpeg.webp': 'image/webp',
  'sharp.webp': 'image/webp',
  'ffmpeg.bmp': 'image/bmp',
  'magick.bmp': 'image/bmp',
  'ffmpeg.tiff': 'image/tiff',
  'sharp.tiff': 'image/tiff',
  'ffmpeg.ico': 'image/vnd.microsoft.icon',
  'magick.ico': 'image/vnd.microsoft.icon',
  'sharp.avif': 'image/avif',
  'ffmpeg.mp3': 'audio/mpeg',
  'bare.mp3': 'audio/mpeg',
  'ffmpeg.wav': 'audio/wav',
  'u8.wav': 'audio/wav',
  'ffmpeg.ogg': 'audio/ogg',
  'ffmpeg.opus': 'audio/ogg',
  'ffmpeg.flac': 'audio/flac',
  'ffmpeg.aac': 'audio/aac',
  'ffmpeg.m4a': 'audio/mp4',
  'late-index.mp4': 'video/mp4',
  'faststart.mp4': 'video/mp4',
  'ffmpeg.webm': 'video/webm',
  'vp9.webm': 'video/webm',
  'audio-only.webm': 'video/webm',
  'ffmpeg.avi': 'video/x-msvideo',
  'mjpeg.avi': 'video/x-msvideo',
  'ffmpeg.mov': 'video/quicktime',
  'mjpeg.mov': 'video/quicktime',
  'ffmpeg.mkv': 'video/x-matroska',
  'mjpeg.mkv': 'video/x-matroska',
  'gs.pdf': 'application/pdf',
  'chromium.pdf': 'application/pdf',
  'zip.zip': 'application/zip',
  'python.zip': 'application/zip',
  'gzip.gz': 'application/gzip',
  'python.gz': 'application/gzip',
  'gnu.tar': 'application/x-tar',
  'python.tar': 'application/x-tar',
  'python.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'media-first.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'openpyxl.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

const read = (name: string) => readFile(join(import.meta.dirname, 'fixtures', name))
const utf8 = (text: string) => new TextEncoder().encode(text)

function sniffText(text: string, hints: Parameters<typeof sniff>[1] = {}): Promise<string> {
  return sniff(utf8(text), hints)
}

describe('sniff', () => {
  it.each(Object.entries(FILES))('recognizes %s by its bytes', async (name, mime) => {
    const bytes = await read(name)
    expect(await sniff(bytes)).toBe(mime)
    expect(await sniff(bytes, { claim: 'text/plain', name: 'x.txt' })).toBe(mime)
  })

  it.each(Object.entries(FILES))(
    'recognizes %s in a stream of small chunks',
    async (name, mime) => {
      const bytes = await read(name)
      let at = 0
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at >= bytes.byteLength) return controller.close()
          controller.enqueue(bytes.subarray(at, at + 777))
          at += 777
        },
      })
      const info = await createAssets().save(stream)
      expect(info.mime).toBe(mime)
      expect(info.size).toBe(bytes.byteLength)
    },
  )

  it('keeps a more specific name for the same type', async () => {
    for (const [file, claim] of [
      ['audio-only.webm', 'audio/webm'],
      ['late-index.mp4', 'audio/mp4'],
      ['ffmpeg.mkv', 'video/webm'],
      ['zip.zip', 'application/epub+zip'],
      ['python.zip', 'application/vnd.oasis.opendocument.text'],
    ] as const) {
      expect(await sniff(await read(file), { claim })).toBe(claim)
    }
    expect(await sniffText('{"type":"Point"}', { claim: 'application/geo+json' })).toBe(
      'application/geo+json',
    )
    expect(await sniffText('{"type":"Point"}', { name: 'a.geojson' })).toBe('application/geo+json')
    expect(await sniffText('<?xml version="1.0"?><a/>', { claim: 'application/rss+xml' })).toBe(
      'application/rss+xml',
    )
    expect(await sniffText('{"a":1}', { claim: 'application/json; charset=utf-8' })).toBe(
      'application/json; charset=utf-8',
    )
  })

  it('recognizes an image by its signature, whatever follows', async () => {
    const signature = (await read('sharp.png')).subarray(0, 8)
    for (const rest of [[], [255, 255, 255, 255, 0, 1, 2, 3], [0, 0, 0, 9, 73, 72, 68, 82]]) {
      const damaged = Uint8Array.of(...signature, ...rest, 0xc0, 0, 1, 7)
      expect(await sniff(damaged, { claim: 'application/pdf' })).toBe('image/png')
    }
  })

  it('does not keep a different type', async () => {
    expect(await sniff(await read('sharp.png'), { claim: 'image/jpeg' })).toBe('image/png')
    expect(await sniff(await read('sharp.png'), { claim: 'image/svg+xml' })).toBe('image/png')
    expect(await sniff(await read('zip.zip'), { claim: 'image/png' })).toBe('application/zip')
    expect(await sniffText('{"a":1}', { claim: 'text/html' })).toBe('application/json')
  })

  it('treats text that starts like an image as text', async () => {
    const bmw = 'BMW sold 2,000,000 cars last year, and this is a plain text about it.\n'
    expect(await sniffText(bmw, { name: 'cars.txt' })).toBe('text/plain')
    expect(await sniffText('II*\u0020 a list', { claim: 'text/markdown' })).toBe('text/markdown')
    expect(await sniffText('GIF89a is a format', { claim: 'text/plain' })).toBe('text/plain')
    expect(await sniffText('RIFF and WAVE', { claim: 'text/plain' })).toBe('text/plain')
  })

  it('treats UTF-16 as text', async () => {
    const bytes = new Uint8Array(Buffer.from('\ufeffhello, wörld\n', 'utf16le'))
    expect(await sniff(bytes, { claim: 'text/plain' })).toBe('text/plain')
    const xml = new Uint8Array(Buffer.from('\ufeff<?xml version="1.0"?><a/>', 'utf16le'))
    expect(await sniff(xml)).toBe('application/xml')
  })

  it('distinguishes HTML, SVG and other XML', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1"><circle r="1"/></svg>'
    expect(await sniffText(svg)).toBe('image/svg+xml')
    expect(
      await sniffText(`<?xml version="1.0" encoding="UTF-8"?>\n<!-- by hand -->\n${svg}`),
    ).toBe('image/svg+xml')
    expect(await sniffText(`\ufeff\n  ${svg}`)).toBe('image/svg+xml')
    expect(await sniffText(`<!-- drawn -->\n<svg width="1"></svg>`)).toBe('image/svg+xml')
    expect(
      await sniffText(
        `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">${svg}`,
      ),
    ).toBe('image/svg+xml')
    expect(await sniffText(`<!doctype html><body>${svg}</body>`)).toBe('text/html')
    expect(await sniffText(`<html><body>${svg}</body></html>`)).toBe('text/html')
    expect(await sniffText(`<!-- c --><!DOCTYPE html>${svg}`)).toBe('text/html')
    expect(await sniffText(`<p>${svg}</p>`, { claim: 'text/html' })).toBe('text/html')
    expect(await sniffText('<?xml version="1.0"?><note><to>you</to></note>')).toBe(
      'application/xml',
    )
  })

  it('recognizes JSON and lines of JSON, whole or cut', async () => {
    for (const json of ['{}', ' [1, 2]', '\ufeff{"a":[{"b":null}]}', '[]']) {
      expect(await sniffText(json)).toBe('application/json')
    }
    for (const text of ['[1] a footnote', '{not json}', '[link](http://x)', '{"a":1} trailing']) {
      expect(await sniffText(text, { claim: 'text/markdown' })).toBe('text/markdown')
    }
    expect(await sniffText('{"a":1}\n{"a":2}\n')).toBe('application/x-ndjson')
    const rows = Array.from({ length: 9000 }, (_, i) => ({ i, 'a"b': [true, -1.5e3, '\n'] }))
    const long = utf8(JSON.stringify(rows))
    expect(await sniff(long.subarray(0, SNIFF_BYTES), { complete: false })).toBe('application/json')
    const prose = utf8(`[1] ${'and so on '.repeat(9000)}`)
    expect(
      await sniff(prose.subarray(0, SNIFF_BYTES), { complete: false, claim: 'text/plain' }),
    ).toBe('text/plain')
  })

  it('uses the claimed type, then the name, then the unknown type', async () => {
    expect(await sniffText('a,b\n1,2\n')).toBe('application/octet-stream')
    expect(await sniffText('a,b\n1,2\n', { name: 'A.CSV' })).toBe('text/csv')
    expect(await sniffText('a,b\n1,2\n', { claim: 'TEXT/CSV', name: 'x.bin' })).toBe('text/csv')
    expect(await sniffText('a,b\n', { claim: 'application/vnd.ms-excel', name: 'x.csv' })).toBe(
      'text/csv',
    )
    expect(await sniffText('a\tb\n', { claim: 'application/octet-stream', name: 'x.tsv' })).toBe(
      'text/tab-separated-values',
    )
    expect(await sniff(new Uint8Array(), { claim: 'image/png' })).toBe('image/png')
  })

  it('finds no extension in a name without a dot', async () => {
    for (const name of ['one', 'pdf', 'csv']) {
      expect(await sniffText('some text', { name })).toBe('application/octet-stream')
    }
  })

  it('rejects invalid MIME types', async () => {
    for (const claim of [
      'image/png\r\nX-Evil: 1',
      'image/png; a="\r\n"',
      'image',
      'image/',
      '/png',
      'a/b/c',
      'image/png;',
      'image/png; a',
      `image/${'x'.repeat(300)}`,
      'image/p ng',
      'картинка/png',
    ]) {
      const sniffing = sniffText('x', { claim })
      if (claim === 'image/png;') expect(await sniffing).toBe('image/png')
      else await expect(sniffing, claim).rejects.toMatchObject({ code: 'asset_invalid' })
    }
  })

  it('survives any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), fc.boolean(), async (bytes, complete) => {
        expect(await sniff(bytes, { complete })).toMatch(/^[^/]+\/[^/]+$/)
      }),
      { numRuns: 300 },
    )
  })

  it('treats every beginning of JSON like the whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.object(), fc.nat(), async (value, cut) => {
        const bytes = utf8(JSON.stringify(value))
        const head = bytes.subarray(0, 1 + (cut % bytes.byteLength))
        expect(await sniff(head, { complete: false })).toBe('application/json')
      }),
      { numRuns: 300 },
    )
  })
})

describe('source code', () => {
  const code = Buffer.from('export const a: number = 1\n')

  it.each(['a.ts', 'a.mts', 'A.D.TS', 'a.tsx', 'a.cts', 'a.rs'])('is text in %s', async (name) => {
    expect(await sniff(code, { name })).toBe('text/plain')
    expect(await sniff(code, { name, claim: 'video/mp2t' })).toBe('text/plain')
  })

  it('is not source code if the bytes are a transport stream', async () => {
    const packets = new Uint8Array(188 * 4)
    for (let i = 0; i < packets.byteLength; i += 188) packets[i] = 0x47
    expect(await sniff(packets, { name: 'a.ts' })).toBe('video/mp2t')
  })
})

describe('a claim with line breaks', () => {
  it.each(['image/png\r\n', '\nimage/png', 'image/png;\r\nX: y'])('refuses %j', async (claim) => {
    await expect(sniff(new Uint8Array(1), { claim })).rejects.toMatchObject({
      code: 'asset_invalid',
    })
  })
})
