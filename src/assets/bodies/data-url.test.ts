import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dataUrlOf, decodeBase64, decodeDataUrl, parseDataUrl } from './data-url.ts'

function decode(url: string): string | null {
  const parsed = parseDataUrl(url)
  const bytes = parsed && decodeDataUrl(parsed)
  return bytes && Buffer.from(bytes).toString()
}

describe('parseDataUrl', () => {
  it.each<[string, string | null, string]>([
    ['data:,hello', null, 'hello'],
    ['data:text/plain,hello%20world%', 'text/plain', 'hello world%'],
    ['data:text/plain;charset=utf-8;base64,aGVsbG8', 'text/plain;charset=utf-8', 'hello'],
    ['DATA:text/plain;BASE64,aGVsbG8=', 'text/plain', 'hello'],
    ['data:;base64,aGVsbG8=', null, 'hello'],
    ['data:;charset=utf-8,%C3%B6', 'text/plain;charset=utf-8', 'ö'],
    ['data:text/html;a="x;y",<b>', 'text/html;a="x;y"', '<b>'],
    [' data:text/plain;base64,aGVs\r\n bG8=\n ', 'text/plain', 'hello'],
    ['data:text/plain;base64,aGVs%62G8%3D', 'text/plain', 'hello'],
    ['data:image/svg+xml,%3Csvg/%3E', 'image/svg+xml', '<svg/>'],
    ['data:text/plain;base64,', 'text/plain', ''],
    ['data:image/svg+xml;a=b,<svg x="1" />', 'image/svg+xml;a=b', '<svg x="1" />'],
  ])('reads %j', (url, mime, text) => {
    expect(parseDataUrl(url)?.mime).toBe(mime)
    expect(decode(url)).toBe(text)
  })

  it.each([
    'data: hello world',
    'data: hello, world',
    'data:hello, world',
    'data: {"a":1}',
    'data:{"a":1,"b":2}',
    'data:image/png',
    'data:image,x',
    'data:image/png;x,y',
    'data:, a sentence',
    'data:text/html, is a type. What next?',
    'data:text/plain,or so it says',
    'data:image/png;base64,AAAA and more text',
    'xdata:,a',
    '',
    `data:${'a'.repeat(400)}/b,c`,
  ])('treats %j as text', (text) => {
    expect(parseDataUrl(text)).toBe(null)
  })
})

describe('decodeBase64', () => {
  it('decodes any bytes: plain, URL-safe, unpadded and in lines', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        const lines = text.replace(/(.{64})/g, '$1\r\n')
        for (const form of [text, Buffer.from(bytes).toString('base64url'), lines]) {
          expect(Buffer.compare(decodeBase64(form) ?? new Uint8Array(1), bytes)).toBe(0)
        }
        const url = parseDataUrl(dataUrlOf(bytes, 'a/b; c=d'))
        expect(url?.mime).toBe('a/b;c=d')
        expect(Buffer.compare((url && decodeDataUrl(url)) ?? new Uint8Array(1), bytes)).toBe(0)
      }),
    )
  })

  it.each([
    '***',
    'A',
    'AA=A',
    'AAA*',
    'AAAA=',
    'A===',
    '=',
    'ä',
    'AAAA AAA*',
    'hello world',
    'hello\nworld',
    `${'A'.repeat(40)}\n${'A'.repeat(44)}`,
  ])('rejects %j', (text) => {
    expect(decodeBase64(text)).toBe(null)
  })
})

describe('base64 of any size', () => {
  it('reads data URLs of many lines', () => {
    const line = `${'A'.repeat(76)}\r\n`
    const url = parseDataUrl(`data:a/b;base64,${line.repeat(500_000)}`)
    expect(url && decodeDataUrl(url)?.byteLength).toBe(57 * 500_000)
  })

  it('rejects strings that would be too long', () => {
    const huge = { byteLength: 500 * 1024 * 1024 } as Uint8Array
    expect(() => dataUrlOf(huge, 'a/b')).toThrow(
      expect.objectContaining({ code: 'asset_too_large' }),
    )
  })
})
