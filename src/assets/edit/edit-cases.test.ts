import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editLargeText, LINE_BYTES } from '../../../scripts/torture/edits/large-edits.ts'
import { createAssets } from '../create-assets.ts'
import type { Edit } from './edit.ts'

const assets = createAssets()

async function saved(body: string | Uint8Array, mime = 'text/plain'): Promise<string> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return (await assets.save(bytes, mime)).ref
}

async function bytesOf(ref: string): Promise<Buffer> {
  return Buffer.from((await assets.get(ref)).bytes)
}

async function edited(body: string | Uint8Array, edits: Edit[], mime?: string): Promise<string> {
  return (await bytesOf((await assets.edit(await saved(body, mime), edits)).ref)).toString()
}

const json = (text: string, ...edits: Edit[]) => edited(text, edits, 'application/json')

const rejected = (message: RegExp) => ({
  code: 'edit_rejected',
  message: expect.stringMatching(message),
})

/** The encodings that can be edited: a mark, and a function that encodes a text. */
const ENCODINGS = {
  'UTF-8': (text: string) => Buffer.from(text),
  'UTF-8 with a mark': (text: string) => Buffer.from(`\ufeff${text}`),
  'UTF-16 LE': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'UTF-16 BE': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
}
type Encode = (text: string) => Buffer

describe.each(Object.entries(ENCODINGS))('an edit of a text in %s', (_, encode: Encode) => {
  it('keeps line ends of every kind, and writes those of the first line', async () => {
    const lines = 'one\r\ntwo\nthree\rfour\r\n\r\nfive'
    const ref = (await assets.edit(await saved(encode(lines)), [{ find: 'two', replace: 'a\nb' }]))
      .ref
    expect(await bytesOf(ref)).toEqual(encode('one\r\na\r\nb\nthree\rfour\r\n\r\nfive'))
  })

  it.each(['\r\n', '\n'])('writes the line ends of a long first line: %j', async (end) => {
    const long = 'x'.repeat(300_000)
    const edit = { after: 'b', insert: '\nc' }
    const { ref } = await assets.edit(await saved(encode(`${long}${end}b`)), [edit])
    expect((await bytesOf(ref)).equals(encode(`${long}${end}b${end}c`))).toBe(true)
  })

  it('finds text across line breaks, as they are or as LF', async () => {
    const ref = await saved(encode('one\r\ntwo\r\nthree'))
    for (const find of ['one\r\ntwo', 'one\ntwo']) {
      const result = await assets.edit(ref, [{ find, replace: 'x' }])
      expect(await bytesOf(result.ref)).toEqual(encode('x\r\nthree'))
    }
  })

  it('keeps the missing line break at the end, and one that is there', async () => {
    for (const end of ['', '\n', '\r\n', '\n\n']) {
      const ref = await saved(encode(`a\nlast${end}`))
      const byText = await assets.edit(ref, [{ find: 'last', replace: 'new' }])
      const edit: Edit = { lines: [2, 2], firstLine: 'last', replace: 'new' }
      const byLine = await assets.edit(ref, [edit])
      expect(await bytesOf(byText.ref)).toEqual(encode(`a\nnew${end}`))
      expect(await bytesOf(byLine.ref)).toEqual(encode(`a\nnew${end}`))
    }
  })

  it('finds a part of what a reader sees as one character, and keeps the rest', async () => {
    // é as two characters, a family of three people, a flag.
    const text = 'cafe\u0301 👩‍👩‍👧 🇫🇷'
    for (const [find, replace, expected] of [
      ['cafe', 'The', 'The\u0301 👩‍👩‍👧 🇫🇷'],
      ['\u0301', '', 'cafe 👩‍👩‍👧 🇫🇷'],
      ['👧', '👦', 'cafe\u0301 👩‍👩‍👦 🇫🇷'],
      ['🇷', '🇮', 'cafe\u0301 👩‍👩‍👧 🇫🇮'],
    ] as const) {
      const result = await assets.edit(await saved(encode(text)), [{ find, replace }])
      expect(await bytesOf(result.ref)).toEqual(encode(expected))
    }
  })

  it('does not find another spelling of a character, and shows the text', async () => {
    const ref = await saved(encode('un cafe\u0301 noir'))
    await expect(
      assets.edit(ref, [{ find: 'un caf\u00e9 noir', replace: 'x' }]),
    ).rejects.toMatchObject(rejected(/nearest text is line 1: "un cafe\u0301 noir"/))
  })

  it('finds no bytes that belong to two characters', async () => {
    // In UTF-16, two times U+0120 contain the bytes of U+2001.
    const ref = await saved(encode('ĠĠ'))
    for (const occurrence of [undefined, 1, 'all'] as const) {
      await expect(
        assets.edit(ref, [{ find: '\u2001', replace: 'x', occurrence }]),
      ).rejects.toMatchObject(rejected(/does not occur/))
    }
  })

  it('finds no half of a character', async () => {
    const ref = await saved(encode('a 😀 b'))
    for (const find of ['\ud83d', '\ude00']) {
      await expect(assets.edit(ref, [{ find, replace: 'x' }])).rejects.toMatchObject({
        code: 'invalid_arguments',
      })
    }
  })

  it('edits a line of 1 MB, at its start, in its middle and at its end', async () => {
    const long = (n: string) => `first\n${'x'.repeat(500_000)}${n}${'y'.repeat(500_000)}\nlast`
    const result = await assets.edit(await saved(encode(long('<1>'))), [
      { find: '<1>', replace: '<2>\t' },
      { insert: '>', after: 'first\n' },
      { find: 'y\nlast', replace: 'y' },
    ])
    const expected = long('<2>\t').replace('first\n', 'first\n>').replace('\nlast', '')
    expect((await bytesOf(result.ref)).equals(encode(expected))).toBe(true)
    expect(result.diff.length).toBeLessThan(4_000)
  })

  it.each<[string, Edit, RegExp]>([
    ['more white space', { find: 'a  b', replace: '' }, /nearest text is line 1: "a b"/],
    ['a tab for a space', { find: 'a\tb', replace: '' }, /nearest text is line 1: "a b"/],
    ['a line break for a space', { find: 'c\nd', replace: '' }, /nearest text is/],
    ['other case', { find: 'A B x', replace: '' }, /does not occur/],
    ['two places', { find: 'twice', replace: '' }, /occurs 2 times, at lines 3, 4/],
    ['no such place', { find: 'twice', replace: '', occurrence: 3 }, /no occurrence 3/],
    ['a line that changed', { lines: [2, 2], firstLine: 'c  d', replace: '' }, /Line 2 is "c d"/],
    ['a line that does not exist', { lines: [9, 9], firstLine: '', replace: '' }, /has 4 lines/],
    ['a place to insert twice', { insert: 'x', before: 'twice' }, /occurs 2 times/],
  ])('rejects %s, and says what is there', async (_, edit, message) => {
    const ref = await saved(encode('a b\nc d\ntwice\ntwice\n'))
    await expect(assets.edit(ref, [edit])).rejects.toMatchObject(rejected(message))
    expect(await assets.versions(ref)).toHaveLength(1)
  })

  const piece = fc.constantFrom(
    ...['a', 'b', '\n', '\r\n', '\r', ' ', '\t', 'é', 'e\u0301', '😀', 'Ġ', '\u0000', '\u2028'],
  )
  const text = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(''))

  it('changes no byte outside, and the inverse gives the digest of the original', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, text, async (before, after, replace) => {
        const body = encode(`${before}<<1>>${after}`)
        const ref = await saved(body)
        const result = await assets.edit(ref, [{ find: '<<1>>', replace: `<${replace}>` }])
        const bytes = await bytesOf(result.ref)
        const head = encode(before)
        const tail = encode(after).subarray(encode('').byteLength)
        expect(bytes.subarray(0, head.byteLength)).toEqual(head)
        expect(bytes.subarray(bytes.byteLength - tail.byteLength)).toEqual(tail)
        const inside = bytes.subarray(head.byteLength, bytes.byteLength - tail.byteLength)
        const written = encode('').subarray(0, 0).toString().concat(decoded(encode, inside))
        const back = await assets.edit(result.ref, [{ find: written, replace: '<<1>>' }])
        expect(back.asset.digest).toBe((await assets.info(ref)).digest)
      }),
    )
  })

  const known = fc.constantFrom('a', 'b', '\n', '<1>', ' ')
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    fc.record({ find: known, replace: text, occurrence: fc.constantFrom('all' as const, 1, 2) }),
    fc.record({ find: fc.constantFrom('<1>', '1', 'a\n'), replace: text }),
    fc.record({ insert: text, before: fc.constantFrom('<1>', '>') }),
    fc.record({ insert: text, after: fc.constantFrom('<', '<1>\n') }),
    fc.record({
      lines: fc.constant([1, 1] as [number, number]),
      firstLine: fc.constantFrom('a b', '', 'x'),
      replace: text,
    }),
  )

  it('makes several edits in one call as one after the other', async () => {
    let together = 0
    await fc.assert(
      fc.asyncProperty(text, fc.array(edit, { minLength: 2, maxLength: 4 }), async (one, edits) => {
        const ref = await saved(encode(`a b\n<1>\n${one}`))
        const apply = (from: string, some: Edit[]) =>
          assets.edit(from, some).then(
            (result) => result.ref,
            (error: { code: string }) => error.code,
          )
        let last = ref
        for (const single of edits) {
          if (last.startsWith('asset:')) last = await apply(last, [single])
        }
        const all = await apply(ref, edits)
        if (!last.startsWith('asset:')) expect(all).toBe(last)
        else {
          together++
          expect(await bytesOf(all)).toEqual(await bytesOf(last))
        }
      }),
      { numRuns: 300 },
    )
    expect(together).toBeGreaterThan(30)
  })
})

/** Decodes bytes without a mark. */
function decoded(encode: Encode, bytes: Buffer): string {
  if (encode === ENCODINGS['UTF-16 LE']) return bytes.toString('utf16le')
  if (encode === ENCODINGS['UTF-16 BE']) return Buffer.from(bytes).swap16().toString('utf16le')
  return bytes.toString()
}

describe('an edit of JSON', () => {
  it.each([
    ['a comment', '{"a":1} // one'],
    ['a comment inside', '{/* one */"a":1}'],
    ['a key without quotes', '{a:1}'],
    ['two documents', '{"a":1}{"a":2}'],
    ['the end missing', '{"a":1'],
  ])('rejects %s, also in a part that the edit does not touch', async (_, text) => {
    await expect(json(text, { op: 'add', path: '/b', value: 1 })).rejects.toMatchObject({
      code: 'asset_unsupported',
    })
  })

  it.each([
    '1e400',
    '-0',
    '-1E-400',
    '12345678901234567890',
    '1.10',
    '1E5',
    '0.1000000000000000055',
  ])('keeps the spelling of the number %s, also when it is moved', async (number) => {
    const text = `{"n":${number},"a":1}`
    expect(await json(text, { op: 'replace', path: '/a', value: 2 })).toBe(`{"n":${number},"a":2}`)
    const copied = await json(text, { op: 'copy', from: '/n', path: '/a' })
    expect(copied).toBe(`{"n":${number},"a":${number}}`)
    const moved = await json(text, { op: 'move', from: '/n', path: '/b' })
    expect(moved).toBe(`{"a":1,"b":${number}}`)
  })

  it('keeps keys in any order, and those that look like numbers', async () => {
    const text = '{"b":1,"10":2,"a":3,"2":4,"":5}'
    expect(await json(text, { op: 'replace', path: '/10', value: 0 })).toBe(
      '{"b":1,"10":0,"a":3,"2":4,"":5}',
    )
    expect(await json(text, { op: 'replace', path: '/', value: 0 })).toBe(
      '{"b":1,"10":2,"a":3,"2":4,"":0}',
    )
  })

  it('writes new values with the indentation of the document', async () => {
    const text = '{\n "a": [\n  1\n ]\n}'
    expect(await json(text, { op: 'replace', path: '/a', value: { b: [2] } })).toBe(
      '{\n "a": {\n  "b": [\n   2\n  ]\n }\n}',
    )
    expect(await json('{\n\t"a": 1\n}', { op: 'replace', path: '', value: { b: 2 } })).toBe(
      '{\n\t"b": 2\n}',
    )
  })

  it('writes new lines with CRLF if the document has CRLF', async () => {
    const text = '{\r\n  "a": 1,\r\n  "b": {}\r\n}\r\n'
    expect(await json(text, { op: 'replace', path: '/a', value: { x: 2 } })).toBe(
      '{\r\n  "a": {\r\n    "x": 2\r\n  },\r\n  "b": {}\r\n}\r\n',
    )
    expect(await json(text, { op: 'add', path: '/b/x', value: [] })).toBe(
      '{\r\n  "a": 1,\r\n  "b": {\r\n    "x": []\r\n  }\r\n}\r\n',
    )
  })

  it('edits the last of repeated keys below a repeated key', async () => {
    const text = '{"a":{"x":1},"a":{"x":2,"x":3}}'
    expect(await json(text, { op: 'replace', path: '/a/x', value: 4 })).toBe(
      '{"a":{"x":1},"a":{"x":2,"x":4}}',
    )
    expect(await json(text, { op: 'remove', path: '/a/x' })).toBe('{"a":{"x":1},"a":{}}')
  })

  const value = fc.jsonValue({ maxDepth: 2 })
  const key = fc.constantFrom('a', 'b', '~/', 'é', '10', '')
  const record = fc.dictionary(key, value, { minKeys: 1, maxKeys: 6 })
  const written = fc
    .tuple(record, fc.constantFrom(undefined, 1, 2, '\t'), fc.constantFrom('', '\ufeff'))
    .map(([one, space, mark]) => ({ one, text: `${mark}${JSON.stringify(one, null, space)}` }))
  const pointer = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

  it('changes no byte outside, and the inverse gives the digest of the original', async () => {
    await fc.assert(
      fc.asyncProperty(written, value, fc.nat(), async ({ one, text }, put, n) => {
        const names = Object.keys(one)
        const name = names[n % names.length] as string
        const ref = await saved(text, 'application/json')
        const path = pointer(name)
        const result = await assets.edit(ref, [{ op: 'replace', path, value: put as never }])
        const changed = (await bytesOf(result.ref)).toString()
        const shared = text.indexOf(`${JSON.stringify(name)}:`)
        expect(changed.slice(0, shared)).toBe(text.slice(0, shared))
        const parsed: Record<string, unknown> = JSON.parse(changed.replace('\ufeff', ''))
        expect(parsed).toEqual(JSON.parse(JSON.stringify({ ...one, [name]: put })))
        const back = await assets.edit(result.ref, [
          { op: 'replace', path, value: JSON.parse(JSON.stringify(one))[name] },
        ])
        expect(back.asset.digest).toBe((await assets.info(ref)).digest)
      }),
    )
  })

  it('removes an added entry again, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(written, value, async ({ text }, put) => {
        const ref = await saved(text, 'application/json')
        const added = await assets.edit(ref, [{ op: 'add', path: '/new', value: put as never }])
        const back = await assets.edit(added.ref, [{ op: 'remove', path: '/new' }])
        expect(back.asset.digest).toBe((await assets.info(ref)).digest)
      }),
    )
  })

  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace'), path: key.map(pointer), value }),
    fc.record({ op: fc.constant('remove'), path: key.map(pointer) }),
    fc.record({
      op: fc.constantFrom('move', 'copy'),
      from: key.map(pointer),
      path: key.map(pointer),
    }),
  ) as fc.Arbitrary<Edit>

  it('makes several operations in one call as one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(written, fc.array(operation, { minLength: 2 }), async ({ text }, edits) => {
        const ref = await saved(text, 'application/json')
        const apply = (from: string, some: Edit[]) =>
          assets.edit(from, some).then(
            (result) => result.ref,
            (error: { code: string }) => error.code,
          )
        let last = ref
        for (const one of edits) if (last.startsWith('asset:')) last = await apply(last, [one])
        const all = await apply(ref, edits)
        if (last.startsWith('asset:')) expect(await bytesOf(all)).toEqual(await bytesOf(last))
        else expect(all).toBe(last)
      }),
      { numRuns: 200 },
    )
  })
})

describe('an edit of what is large', () => {
  it('edits a text of 20 MB at three places, and changes no other byte', async () => {
    await editLargeText(assets, Math.ceil(20e6 / LINE_BYTES))
  })

  it('edits a table with more rows than a query returns', async () => {
    const rows = Array.from({ length: 120_000 }, (_, i) => `${i},${i % 7}`)
    const body = Buffer.from(`id,n\n${rows.join('\n')}\n`)
    const { table } = await assets.importFile(body, { name: 'rows.csv' })
    const edit = { sql: 'SELECT id, CASE WHEN id = 119999 THEN 100 ELSE n END AS n FROM rows' }
    const plan = await assets.edit(table?.ref ?? '', [edit], { dryRun: true })
    expect(plan).toMatchObject({ changes: 120_000, diff: '120000 rows, 2 columns' })
    const result = await assets.edit(table?.ref ?? '', [edit])
    expect(await assets.resolve(`${result.ref}/content/rows/119998`)).toEqual({ id: 119_998, n: 4 })
    expect(await assets.resolve(`${result.ref}/content/rows/119999`)).toEqual({
      id: 119_999,
      n: 100,
    })
  })
})

describe('an edit of an asset that is not there', () => {
  const edits: Edit[] = [{ find: 'a', replace: 'b' }]

  it('rejects a deleted, an expired and an unknown asset', async () => {
    const deleted = await saved('a')
    await assets.delete(deleted)
    const expired = await assets.save(Buffer.from('a'), 'text/plain', { expiresAt: '2020-01-01' })
    for (const ref of [deleted, expired.ref, 'asset://unknown']) {
      await expect(assets.edit(ref, edits)).rejects.toMatchObject({ code: 'asset_not_found' })
    }
  })

  it('does not see another namespace, and saves in its own', async () => {
    const config = { namespacing: { mode: 'context', includeInRef: true } } as const
    const shared = createAssets({ config })
    const { ref, assetId } = await shared.save(Buffer.from('a'), 'text/plain', { namespace: 'one' })
    for (const wrong of [ref, assetId]) {
      await expect(shared.edit(wrong, edits, { namespace: 'two' })).rejects.toMatchObject({
        code: 'asset_not_found',
      })
      await expect(shared.versions(wrong, { namespace: 'two' })).rejects.toMatchObject({
        code: 'asset_not_found',
      })
    }
    const result = await shared.edit(ref, edits, { namespace: 'one' })
    expect(result.ref).toMatch(/^asset:\/\/one\//)
    expect(await shared.usage({ namespace: 'two' })).toEqual({ assets: 0, bytes: 0 })
  })

  it('keeps the time at which the asset expires', async () => {
    const expiresAt = '2999-01-01T00:00:00.000Z'
    const { ref } = await assets.save(Buffer.from('a'), 'text/plain', { expiresAt })
    const result = await assets.edit(ref, edits)
    expect((await assets.info(result.ref)).expiresAt).toBe(expiresAt)
  })
})

describe('an edit with a mistake', () => {
  it.each<[object, string]>([
    [{ find: 'a', replace: 'b', regex: true }, 'regex is not allowed'],
    [{ find: 'a', replace: 'b', op: '', path: '' }, 'op is not allowed, path is not allowed'],
    [{ lines: [1, 1], replace: 'b' }, 'firstLine is missing'],
    [{ lines: [3, 1], firstLine: 'a', replace: 'b' }, 'lines is wrong'],
    [{ op: 'set', path: '/a', value: 1 }, 'op is wrong'],
    [{ op: 'add', path: '/a' }, 'value is missing'],
    [{ op: 'add', path: '/a', value: new Uint8Array(3) }, 'value is not JSON'],
    [{ op: 'add', path: '/a', value: { b: [() => 1] } }, 'value is not JSON'],
    [{ op: 'add', path: '/a', value: 1n }, 'value is not JSON'],
  ])('%o is rejected, with the reason: %s', async (edit, reason) => {
    const rejected = assets.edit(await saved('{}', 'application/json'), [edit as Edit])
    await expect(rejected).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining(`. ${reason}`),
    })
  })

  it.each([false, true])(
    'is rejected if it leaves content that is not JSON: dryRun %s',
    async (dryRun) => {
      const content = { a: 'text' }
      const { ref } = await assets.saveAsset({ content_type: 'application/json', content })
      const rejected = assets.edit(ref, [{ find: 'text', replace: 'a "text"' }], { dryRun })
      await expect(rejected).rejects.toMatchObject({ code: 'edit_rejected' })
      expect(await assets.versions(ref)).toHaveLength(1)
    },
  )

  it('may have members that its operation does not use, as RFC 6902 says', async () => {
    const remove = { op: 'remove', path: '/a', value: null } as Edit
    const { ref } = await assets.edit(await saved('{"a":1}', 'application/json'), [remove])
    expect(await assets.resolve(ref)).toEqual({})
  })
})
