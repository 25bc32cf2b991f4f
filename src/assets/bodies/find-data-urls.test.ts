import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeDataUrl } from './data-url.ts'
import { findDataUrls } from './find-data-urls.ts'

const bytes = Buffer.from(Array.from({ length: 70 }, (_, i) => (i * 37) % 256))
const base64 = bytes.toString('base64')
const lines = base64.replace(/.{40}/g, '$&\n')
const svg = "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 (1)'/%3E"

/** What each URL in the text decodes to, null for a broken one, and the text without them. */
function parts(text: string): { bodies: (string | null)[]; rest: string } {
  let rest = ''
  let at = 0
  const bodies = findDataUrls(text).map((url) => {
    rest += `${text.slice(at, url.start)}#`
    at = url.end
    const body = decodeDataUrl(url)
    return body && Buffer.from(body).toString('latin1')
  })
  return { bodies, rest: rest + text.slice(at) }
}

const whole = bytes.toString('latin1')
const image = 'data:image/png;base64,'

describe('findDataUrls', () => {
  it.each<[string, string, string, (string | null)[]]>([
    ['parentheses', 'a (data:image/png;base64,AA==) b', 'a (#) b', ['\0']],
    [
      'quotes',
      '"data:text/plain,x%20y" metadata:a/b,c data: d',
      '"#" metadata:a/b,c data: d',
      ['x y'],
    ],
    ['a call with quotes', "url('data:a/b;base64,_-A')", "url('#')", ['\xff\xe0']],
    ['mixed case', 'see Data:Text/Plain;Base64,aGk= !', 'see # !', ['hi']],
    [
      'quotes around text with other quotes',
      `url("data:image/svg+xml,${svg}")`,
      'url("#")',
      [decodeURIComponent(svg)],
    ],
    [
      'parentheses around text with spaces',
      `url(data:image/svg+xml,${svg})`,
      'url(#)',
      [decodeURIComponent(svg)],
    ],
    ['a title in Markdown', '![a](data:text/plain,x "a title")', '![a](# "a title")', ['x']],
    ['a title after base64', '![a](data:a/b;base64,aGk= "a title")', '![a](# "a title")', ['hi']],
    [
      'JSON in a text',
      '{\\"url\\":\\"data:text/plain,a b\\",\\"c\\":1}',
      '{\\"url\\":\\"#\\",\\"c\\":1}',
      ['a b'],
    ],
    [
      'a srcset',
      'srcset="data:a/b;base64,aGk= 1x, data:a/b;base64,aG8= 2x"',
      'srcset="# 1x, # 2x"',
      ['hi', 'ho'],
    ],
    ['percent signs in base64', '(data:a/b;base64,aGk%3D)', '(#)', ['hi']],
    [
      'a sentence',
      'It is data:a/b;base64,aGk=, or (data:a/b;base64,aG8=, see there).',
      'It is #, or (#, see there).',
      ['hi', 'ho'],
    ],
    [
      'a sentence about a type',
      'Use data:text/html, is a type. What next?',
      'Use data:text/html, is a type. What next?',
      [],
    ],
    ['emphasis', '**data:a/b;base64,aGk=**', '**#**', ['hi']],
    ['base64 over lines in quotes', `<img src="${image}${lines}">`, '<img src="#">', [whole]],
    ['base64 over lines in parentheses', `![a](${image}\n  ${lines}\n) b`, '![a](#) b', [whole]],
    ['base64 over lines in the open', `${image}${lines}\nThe end`, '#\nThe end', [whole]],
    [
      'a word below base64',
      `${image}${base64.slice(0, 40)}\nHello\n`,
      '#\nHello\n',
      [whole.slice(0, 30)],
    ],
    ['a sentence below base64', `${image}${base64}\nHello world`, '#\nHello world', [whole]],
    ['an apostrophe', `'${image}${base64}\n\nIt isn't`, "'#\n\nIt isn't", [whole]],
    ['what breaks base64 in quotes', `"${image}${base64}***${base64}" b`, '"#" b', [null]],
    ['what breaks base64 over lines', `"${image}${lines}\n***\n${lines}" b`, '"#" b', [null]],
    [
      'SVG that is cut in the open',
      'data:image/svg+xml,%3Csvg a="b"',
      'data:image/svg+xml,%3Csvg a="b"',
      [],
    ],
    ['SVG in the open', 'a data:image/svg+xml,%3Csvg/%3E b', 'a # b', ['<svg/>']],
  ])('knows where a URL ends: %s', (_, text, rest, bodies) => {
    expect(parts(text)).toEqual({ rest, bodies })
  })

  it('finds any complete body in any text around it', () => {
    const around = fc.constantFrom(
      '"#"',
      "'#'",
      '(#)',
      '`#`',
      'a # b',
      '[a](#)',
      '{\\"a\\":\\"#\\"}',
    )
    const width = fc.constantFrom(0, 40, 64, 76)
    const body = fc.uint8Array({ minLength: 100, maxLength: 300 })
    fc.assert(
      fc.property(fc.array(fc.tuple(around, width, body), { maxLength: 4 }), (all) => {
        const pieces = all.map(([text, every, value]) => {
          const encoded = Buffer.from(value).toString('base64')
          const broken = every
            ? encoded.replace(new RegExp(`.{${every}}(?=.)`, 'g'), '$&\n')
            : encoded
          // A last line that looks like a word cannot be distinguished from one.
          return every && encoded.length % every < 20 ? text : text.replace('#', image + broken)
        })
        const { rest, bodies } = parts(pieces.join(' text '))
        expect(rest).toBe(all.map(([text]) => text).join(' text '))
        const left = bodies.map((one) => Buffer.from(one ?? '', 'latin1').toString('hex'))
        expect(left).toEqual(
          all
            .filter((_, i) => pieces[i]?.includes(image))
            .map(([, , value]) => Buffer.from(value).toString('hex')),
        )
      }),
    )
  })

  it.each([
    '(data:a/b,',
    '(data:a/b;base64,A',
    '"data:a/b;base64,A\n',
    "'data:a/b,x",
    '`data:a/b;base64,A*',
    'data:a/b;base64,',
    `data:a/b;base64,${'A'.repeat(30)}\n`,
    '\\"data:a/b,',
    '(',
    ' \n ',
  ])('is linear in text full of %j', (piece) => {
    const text = piece.repeat(Math.ceil(400_000 / piece.length))
    const start = process.cpuUsage()
    for (const hostile of [text, `${text}${')'.repeat(20_000)}`, `(data:a/b;base64,A${text}`]) {
      findDataUrls(hostile)
    }
    // CPU time of this process, in microseconds.
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000)
  })
})
