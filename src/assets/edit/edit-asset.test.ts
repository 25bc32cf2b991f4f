import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAssets } from '../create-assets.ts'
import { sheetRows, workbook } from '../tables/fixtures/spreadsheet.ts'
import type { Edit } from './edit.ts'

const assets = createAssets()

async function saved(
  text: string | Uint8Array,
  mime: string | null = 'text/plain',
): Promise<string> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return (await assets.save(bytes, mime, { name: 'a.txt' })).ref
}

/** Returns the text after edits, byte for byte. */
async function edited(text: string | Uint8Array, edits: Edit[], mime?: string): Promise<string> {
  const { ref } = await assets.edit(await saved(text, mime), edits)
  return Buffer.from((await assets.get(ref)).bytes).toString()
}

const rejected = (message: RegExp) => ({
  code: 'edit_rejected',
  message: expect.stringMatching(message),
})

describe('assets.edit of texts', () => {
  it('replaces a text that occurs once, and keeps name, type and everything else', async () => {
    const ref = await saved('one\r\ntwo\nthree', 'text/markdown')
    const result = await assets.edit(ref, [{ find: 'two', replace: 'zwei' }])
    expect(result).toMatchObject({ previous: ref, changes: 1 })
    expect(result.asset).toMatchObject({ name: 'a.txt', mime: 'text/markdown', previous: ref })
    expect(await assets.resolve(result.ref)).toBe('one\r\nzwei\nthree')
    expect(await assets.resolve(ref)).toBe('one\r\ntwo\nthree')
  })

  it('rejects a text that occurs never or more than once, and reports where', async () => {
    const ref = await saved('alpha beta\ngamma delta\nalpha beta\n')
    await expect(assets.edit(ref, [{ find: 'alpha', replace: '' }])).rejects.toMatchObject(
      rejected(/edits\[0\].*2 times, at lines 1, 3/),
    )
    await expect(assets.edit(ref, [{ find: 'gamma  delta', replace: '' }])).rejects.toMatchObject(
      rejected(/does not occur.*nearest text is line 2: "gamma delta"/),
    )
    await expect(
      assets.edit(ref, [
        { find: 'gamma', replace: 'x' },
        { find: 'zzzz', replace: 'y' },
      ]),
    ).rejects.toMatchObject(rejected(/edits\[1\].*No text is similar to it/))
    expect(await assets.versions(ref)).toHaveLength(1)
  })

  it('explains how to change one-line JSON, which readers see on several lines', async () => {
    const rows = Array.from({ length: 30 }, (_, day) => ({ day, rain: day % 2 }))
    const page = JSON.stringify(rows, null, 2)
    const message = async (text: string, edit: Edit, mime = 'application/json') =>
      assets.edit(await saved(text, mime), [edit]).then(String, ({ message }) => String(message))
    const json = JSON.stringify(rows)
    const hint =
      'Nothing was changed. This JSON is on one line: change it with { op, path, value }.'
    const copied = await message(json, { find: '"day": 1,', replace: '"day": 2,' })
    expect(copied).toBe(`edits[0]: The text "\\"day\\": 1," does not occur. ${hint}`)
    const line = { lines: [3, 3], firstLine: '    "day": 0,', replace: '' } satisfies Edit
    expect(await message(`${json}\n`, line)).toBe(`edits[0]: The text has one line. ${hint}`)
    const repeated = await message(json, { find: '"rain":1', replace: '"rain":2' })
    expect(repeated).toMatch(/^edits\[0\]: The text occurs 15 times, at line 1, …\. Add text/)
    expect(repeated).toContain(hint)
    // Escaped texts are edited in the form in which readers see them.
    const none: Edit = { find: 'zzzz', replace: '' }
    const again = /changed\. No text is similar to it\. Read the asset again\.$/
    expect(await message(page, none)).toMatch(again)
    expect(await message('[one] line', none, 'text/plain')).toMatch(again)
  })

  it('counts matches that overlap as more than one', async () => {
    const ref = await saved('aaa')
    await expect(assets.edit(ref, [{ find: 'aa', replace: 'b' }])).rejects.toMatchObject(
      rejected(/2 times/),
    )
    expect(await edited('aaa', [{ find: 'aa', replace: 'b', occurrence: 'all' }])).toBe('ba')
  })

  it.each<[string, Edit[], string]>([
    ['the second', [{ find: 'a', replace: 'b', occurrence: 2 }], 'a b a'],
    ['all', [{ find: 'a', replace: 'bb', occurrence: 'all' }], 'bb bb bb'],
  ])('replaces %s of several', async (_, edits, expected) => {
    expect(await edited('a a a', edits)).toBe(expected)
  })

  it.each<[string, string, Edit, string]>([
    ['inserts', 'a\r\n\r\n2', { insert: 'x\n', before: '\n2' }, 'a\r\nx\r\n\r\n2'],
    ['replaces', 'a\r\n\r\n2', { find: '\n2', replace: '\n3' }, 'a\r\n\r\n3'],
    ['removes', 'LF\na\r\n2', { find: '\n2', replace: '' }, 'LF\na'],
  ])('%s at a line break without splitting CRLF', async (_, text, edit, expected) => {
    expect(await edited(text, [edit])).toBe(expected)
  })

  it('finds a line break in LF and in CRLF of one text', async () => {
    const ref = await saved('a\nb\r\na\r\nb\r\n')
    const find = 'a\nb'
    const all = await assets.edit(ref, [{ find, replace: 'X', occurrence: 'all' }])
    expect([all.changes, await assets.resolve(all.ref)]).toEqual([2, 'X\r\nX\r\n'])
    const second = await assets.edit(ref, [{ find, replace: 'X', occurrence: 2 }])
    expect(await assets.resolve(second.ref)).toBe('a\nb\r\nX\r\n')
    await expect(assets.edit(ref, [{ find, replace: 'X' }])).rejects.toMatchObject(
      rejected(/occurs 2 times, at lines 1, 3/),
    )
    const breaks = [{ find: '\na', replace: '+', occurrence: 'all' as const }]
    expect(await edited('\na\r\na\na', breaks)).toBe('+++')
  })

  it('inserts before and after a text', async () => {
    expect(await edited('a c', [{ insert: 'b ', before: 'c' }])).toBe('a b c')
    expect(await edited('a c', [{ insert: ' b', after: 'a' }])).toBe('a b c')
  })

  it.each<[string, [number, number], string, string, string]>([
    ['one line', [2, 2], 'two', 'ZWEI', 'one\nZWEI\nthree\n'],
    ['several lines', [1, 2], 'one', 'x\ny\nz\n', 'x\ny\nz\nthree\n'],
    ['the last line', [3, 3], 'three', 'drei', 'one\ntwo\ndrei\n'],
    ['lines, which it removes', [1, 2], 'one', '', 'three\n'],
  ])('replaces %s', async (_, lines, firstLine, replace, expected) => {
    expect(await edited('one\ntwo\nthree\n', [{ lines, firstLine, replace }])).toBe(expected)
  })

  it('rejects lines that changed or do not exist', async () => {
    const ref = await saved('one\ntwo')
    await expect(
      assets.edit(ref, [{ lines: [2, 2], firstLine: 'zwei', replace: '' }]),
    ).rejects.toMatchObject(rejected(/Line 2 is "two" and not "zwei"/))
    await expect(
      assets.edit(ref, [{ lines: [2, 3], firstLine: 'two', replace: '' }]),
    ).rejects.toMatchObject(rejected(/has 2 lines/))
  })

  it('finds a line break in CRLF, and writes CRLF there', async () => {
    expect(await edited('a\r\nb\r\nc', [{ find: 'a\nb', replace: 'x\ny\nz' }])).toBe(
      'x\r\ny\r\nz\r\nc',
    )
    expect(await edited('a\r\nb\r\n', [{ lines: [2, 2], firstLine: 'b', replace: 'x\ny' }])).toBe(
      'a\r\nx\r\ny\r\n',
    )
  })

  it.each<[string, string]>([
    ['a byte order mark', '\ufeffone two'],
    ['no final newline', 'one two'],
    ['tabs and white space', '\t one  two \t'],
    ['combining characters', 'e\u0301 one two \u00e9'],
    ['surrogate pairs', '😀 one two 👩‍👩‍👧'],
    ['a line of 1 MB', `${'x'.repeat(1_000_000)} one two`],
  ])('keeps %s', async (_, text) => {
    expect(await edited(text, [{ find: 'one', replace: '😀é' }])).toBe(text.replace('one', '😀é'))
  })

  it.each(['utf16le', 'utf16be'] as const)('edits text in %s', async (encoding) => {
    const encode = (text: string) => {
      const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
      return encoding === 'utf16le' ? bytes : bytes.swap16()
    }
    // "Ġ" (0x0120) and " " (0x0020) have bytes that match between characters.
    const ref = await saved(encode('ĠĠ\r\ntwo €\r\nthree'))
    const result = await assets.edit(ref, [
      { find: 'two €', replace: '2 ₿' },
      { lines: [3, 3], firstLine: 'three', replace: 'x' },
    ])
    const { bytes } = await assets.get(result.ref)
    expect(Buffer.from(bytes)).toEqual(encode('ĠĠ\r\n2 ₿\r\nx'))
    expect(result.diff).toBe('@@ -1,3 +1,3 @@\n ĠĠ\n-two €\n-three\n+2 ₿\n+x')
  })

  it('edits other encodings only with ASCII', async () => {
    const latin = Buffer.from('caf\xe9 one', 'latin1')
    const { ref } = await assets.edit(await saved(latin), [{ find: 'one', replace: 'two' }])
    expect(Buffer.from((await assets.get(ref)).bytes)).toEqual(Buffer.from('caf\xe9 two', 'latin1'))
    await expect(
      assets.edit(await saved(latin), [{ find: 'one', replace: 'é' }]),
    ).rejects.toMatchObject({ code: 'asset_unsupported' })
  })

  it('rejects what is not text, and half of a character', async () => {
    const { ref } = await assets.save(Buffer.from([0, 1, 2, 3, 255]))
    await expect(assets.edit(ref, [{ find: 'a', replace: 'b' }])).rejects.toMatchObject({
      code: 'asset_unsupported',
    })
    await expect(
      assets.edit(await saved('a'), [{ find: 'a', replace: '\ud83d' }]),
    ).rejects.toMatchObject({ code: 'invalid_arguments' })
  })

  it.each<[string, unknown]>([
    ['nothing', []],
    ['an unknown form', [{ search: 'a', replace: 'b' }]],
    ['an unknown key', [{ find: 'a', replace: 'b', all: true }]],
    ['text that is none', [{ find: 1, replace: 'b' }]],
    ['lines in the wrong order', [{ lines: [2, 1], firstLine: 'a', replace: '' }]],
    ['an empty text to find', [{ find: '', replace: 'b' }]],
    [
      'text and JSON at once',
      [
        { find: 'a', replace: 'b' },
        { op: 'remove', path: '/a' },
      ],
    ],
  ])('refuses %s', async (_, edits) => {
    const ref = await saved('a')
    await expect(assets.edit(ref, edits as Edit[])).rejects.toMatchObject({
      code: 'invalid_arguments',
    })
  })

  it('shows a unified diff, with the lines of old and new text', async () => {
    const text = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join('\n')
    const { diff } = await assets.edit(await saved(text), [
      { find: 'line 10\n', replace: 'ten\nand a half\n' },
      { find: 'line 30', replace: 'thirty' },
    ])
    expect(diff).toMatch(
      /^@@ -7,7 \+7,8 @@\n line 7\n line 8\n line 9\n-line 10\n\+ten\n\+and a half\n line 11/,
    )
    expect(diff).toMatch(/-line 30\n\+thirty\n line 31\n line 32\n line 33$/)
  })

  it('counts the lines of a change that is too large to show', async () => {
    const text = Array.from({ length: 1000 }, (_, i) => `line ${i + 1}`).join('\n')
    const { diff } = await assets.edit(await saved(text), [
      { find: 'line 10\n', replace: 'a new line with some words\n'.repeat(20_000) },
      { find: 'line 900\n', replace: 'nine hundred\n' },
    ])
    expect(diff).toMatch(/^… a change of \d+ characters after line 1\n@@ -897,7 \+20896,7 @@/)
  })

  it('names the nearest lines of a long text at once', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i} of a long text with words`)
    const ref = await saved(lines.join('\n'))
    const find = lines.slice(30_000, 30_200).join('\n').replace('line 30050 ', 'Line 30050 ')
    const start = process.cpuUsage()
    await expect(assets.edit(ref, [{ find, replace: '' }])).rejects.toMatchObject(
      rejected(/The nearest text is lines 30001 to 30200: "line 30000 of/),
    )
    // Not the time of a clock, because a machine may be busy.
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000)
  })

  it.each(['', 'x'])(
    'splits no character where it cuts a diff or a message: %j',
    async (before) => {
      const smiles = `${before}${'😀'.repeat(3000)}`
      const text = Array.from({ length: 9 }, (_, i) => `${i} ${smiles}`).join('\n')
      const { diff } = await assets.edit(await saved(text), [
        { find: '5 ', replace: `${before}5 ` },
      ])
      expect(diff.isWellFormed()).toBe(true)
      const json = await saved(JSON.stringify({ [smiles]: smiles }), 'application/json')
      const path = `/${smiles}`
      const added = await assets.edit(json, [{ op: 'add', path, value: 1 }])
      expect(added.diff.isWellFormed()).toBe(true)
      const edits = [{ op: 'test', path, value: 1 }, { find: smiles }, { find: 1, [smiles]: 1 }]
      for (const edit of edits) {
        const error = await assets.edit(json, [edit as Edit]).catch((error) => error)
        expect(error.message.isWellFormed()).toBe(true)
      }
    },
  )

  it('keeps a diff short', async () => {
    const text = Array.from({ length: 5000 }, (_, i) => `a ${i} ${'x'.repeat(200)}`).join('\n')
    const { diff, changes } = await assets.edit(await saved(text), [
      { find: 'a ', replace: 'b ', occurrence: 'all' },
    ])
    expect(changes).toBe(5000)
    expect(diff.length).toBeLessThan(2500)
  })

  it('cuts no character of UTF-8 in a diff', async () => {
    for (const pad of ['', 'a', 'aa', 'aaa']) {
      const text = `${'😀'.repeat(600)}${pad}X${pad}\n${'😀'.repeat(500)}\n${'😀'.repeat(50)}`
      const { diff } = await assets.edit(await saved(text), [{ find: 'X', replace: 'Y' }])
      expect(diff).not.toContain('\ufffd')
    }
  })

  const words = fc.constantFrom('a', 'b', 'ab', '\n', '\r\n', ' ', 'é', '😀', 'e\u0301', '\t')
  const texts = fc.array(words, { maxLength: 40 }).map((parts) => parts.join(''))

  it('changes nothing outside of an edit, and the inverse restores the digest', async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, texts, async (before, after, replace) => {
        const text = `${before}<<mark>>${after}`
        const ref = await saved(text)
        const result = await assets.edit(ref, [{ find: '<<mark>>', replace: `[${replace}]` }])
        const bytes = Buffer.from((await assets.get(result.ref)).bytes)
        const isCrlf = /\r?\n/.exec(text)?.[0] === '\r\n'
        const written = isCrlf ? replace.replace(/\r?\n/g, '\r\n') : replace
        expect(bytes.toString()).toBe(`${before}[${written}]${after}`)
        const back = await assets.edit(result.ref, [{ find: `[${written}]`, replace: '<<mark>>' }])
        expect(back.asset.digest).toBe((await assets.info(ref)).digest)
      }),
    )
  })

  it('writes whole characters after an edit that made them possible', async () => {
    const latin = Buffer.concat([Buffer.from('a '), Buffer.from([0xe9]), Buffer.from('\nb')])
    const removed = { lines: [1, 1], firstLine: 'a \ufffd', replace: '' } as Edit
    expect(await edited(latin, [removed, { find: 'b', replace: 'é' }])).toBe('é')
    await expect(edited(latin, [{ find: 'b', replace: 'é' }, removed])).rejects.toMatchObject({
      code: 'asset_unsupported',
    })
  })

  it('applies edits in one call as one after the other', async () => {
    const edit = fc.record({
      find: fc.constantFrom('a', 'b', 'ab', 'é'),
      replace: texts,
      occurrence: fc.constant('all' as const),
    })
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        async (text, edits) => {
          const apply = async (ref: string, some: Edit[]) =>
            (await assets.edit(ref, some).catch(() => null))?.ref ?? null
          const together = await apply(await saved(text), edits)
          let ref: string | null = await saved(text)
          for (const one of edits) ref = ref && (await apply(ref, [one]))
          if (together === null || ref === null) expect(together).toBe(ref)
          else expect((await assets.info(together)).digest).toBe((await assets.info(ref)).digest)
        },
      ),
    )
  })
})

describe('assets.edit of texts that are read in parts', () => {
  const filler = (newline: string) =>
    Array.from({ length: 100_000 }, (_, i) => `${i}: ${'x'.repeat(80)}${newline}`).join('')
  const half = filler('\n')

  it.each<[string, string, Edit, string, string]>([
    ['replaces', `${half}old${half}`, { find: 'old', replace: 'new' }, 'old', 'new'],
    ['removes', `${half}old${half}`, { find: 'old', replace: '' }, 'old', ''],
    ['inserts before', `old${half}${half}`, { insert: 'new\n', before: 'old' }, 'old', 'new\nold'],
    ['inserts after', `${half}${half}old`, { insert: '\nnew', after: 'old' }, 'old', 'old\nnew'],
    ['writes CRLF', filler('\r\n'), { find: '17777: x', replace: 'a\nb' }, '17777: x', 'a\r\nb'],
    ['keeps a byte order mark', `\ufeff${half}é${half}`, { find: 'é', replace: '😀' }, 'é', '😀'],
  ])('%s', async (_, text, edit, find, replacement) => {
    const at = text.indexOf(find)
    const expected = text.slice(0, at) + replacement + text.slice(at + find.length)
    const { ref, changes, diff } = await assets.edit(await saved(text), [edit])
    expect(changes).toBe(1)
    const bytes = Buffer.from((await assets.get(ref)).bytes)
    expect(bytes.equals(Buffer.from(expected))).toBe(true)
    const line = text.slice(0, at).split('\n').length
    const [, start = '', count = ''] = /^@@ -(\d+),(\d+) /.exec(diff) ?? []
    expect(line).toBeGreaterThanOrEqual(Number(start))
    expect(line).toBeLessThan(Number(start) + Number(count))
  })

  it('rejects a text that occurs twice or never, and saves nothing', async () => {
    const ref = await saved(`a needle\n${half}a needle\n`)
    await expect(assets.edit(ref, [{ find: 'needle', replace: '' }])).rejects.toMatchObject(
      rejected(/2 times, at lines 1, 100002/),
    )
    await expect(assets.edit(ref, [{ find: 'a nedle', replace: '' }])).rejects.toMatchObject(
      rejected(/does not occur.*nearest text is line 1/),
    )
    expect(await assets.versions(ref)).toHaveLength(1)
  })
})

/** Returns the JSON text after operations, byte for byte. */
const json = (text: string, edits: Edit[]) => edited(text, edits, 'application/json')

describe('assets.edit of JSON', () => {
  const PRETTY =
    '{\n  "a": 1.50,\n  "list": [\n    1e400,\n    -0\n  ],\n  "empty": {},\n  "id": 12345678901234567890\n}\n'

  it.each<[string, Edit, string, string]>([
    ['replaces a value', { op: 'replace', path: '/a', value: 2 }, '1.50', '2'],
    [
      'adds a key',
      { op: 'add', path: '/b', value: [1] },
      '67890\n',
      '67890,\n  "b": [\n    1\n  ]\n',
    ],
    ['adds to the end of a list', { op: 'add', path: '/list/-', value: 3 }, '-0', '-0,\n    3'],
    ['adds to a list', { op: 'add', path: '/list/0', value: 3 }, '1e400', '3,\n    1e400'],
    [
      'adds to an empty object',
      { op: 'add', path: '/empty/x', value: 1 },
      '{}',
      '{\n    "x": 1\n  }',
    ],
    ['removes the first entry', { op: 'remove', path: '/a' }, '"a": 1.50,\n  ', ''],
    [
      'removes the last entry',
      { op: 'remove', path: '/id' },
      ',\n  "id": 12345678901234567890',
      '',
    ],
    [
      'copies the spelling of a number',
      { op: 'copy', from: '/id', path: '/a' },
      '1.50',
      '12345678901234567890',
    ],
    [
      'moves a value',
      { op: 'move', from: '/list/0', path: '/list/1' },
      '1e400,\n    -0',
      '-0,\n    1e400',
    ],
    ['tests a value', { op: 'test', path: '/a', value: 1.5 }, '', ''],
  ])('%s and keeps all other bytes', async (_, edit, from, to) => {
    expect(await json(PRETTY, [edit])).toBe(PRETTY.replace(from, to))
  })

  it.each<[string, string, Edit, string]>([
    [
      'compact JSON',
      '{"a":1,"b":[]}',
      { op: 'add', path: '/b/0', value: { c: 1 } },
      '{"a":1,"b":[{"c":1}]}',
    ],
    ['JSON with spaces', '{ "a": 1 }', { op: 'add', path: '/b', value: 2 }, '{ "a": 1, "b": 2 }'],
    [
      'tabs',
      '{\n\t"a": 1\n}',
      { op: 'add', path: '/b', value: [2] },
      '{\n\t"a": 1,\n\t"b": [\n\t\t2\n\t]\n}',
    ],
    [
      'a byte order mark',
      '\ufeff{"a":1}',
      { op: 'replace', path: '/a', value: 2 },
      '\ufeff{"a":2}',
    ],
    [
      'escaped keys',
      '{"a/b":{"m~n":1},"\\u00e9":2}',
      { op: 'replace', path: '/a~1b/m~0n', value: 3 },
      '{"a/b":{"m~n":3},"\\u00e9":2}',
    ],
    [
      'a key that is escaped',
      '{"\\u00e9":2}',
      { op: 'replace', path: '/é', value: 3 },
      '{"\\u00e9":3}',
    ],
    [
      'the last of a repeated key',
      '{"a":1,"b":0,"a":2}',
      { op: 'replace', path: '/a', value: 3 },
      '{"a":1,"b":0,"a":3}',
    ],
    [
      'all of a repeated key, to remove it',
      '{"a":1,"b":0,"a":2}',
      { op: 'remove', path: '/a' },
      '{"b":0}',
    ],
    ['the only entry', '[ 1 ]', { op: 'remove', path: '/0' }, '[]'],
    ['the whole document', ' 1 ', { op: 'replace', path: '', value: { a: 1 } }, ' {"a":1} '],
    [
      'the key __proto__',
      '{"__proto__":1}',
      { op: 'replace', path: '/__proto__', value: 2 },
      '{"__proto__":2}',
    ],
  ])('edits %s', async (_, text, edit, expected) => {
    expect(await json(text, [edit])).toBe(expected)
  })

  it.each<[Edit, RegExp]>([
    [{ op: 'replace', path: '/none', value: 1 }, /There is no \/none/],
    [{ op: 'remove', path: '/list/2' }, /The list has 2 items/],
    [{ op: 'add', path: '/list/3', value: 1 }, /use 0 to 2, or "-"/],
    [{ op: 'add', path: '/a/b', value: 1 }, /no object or list at \/a/],
    [{ op: 'test', path: '/a', value: 2 }, /value at \/a is 1.50/],
    [{ op: 'move', from: '/list', path: '/list/0' }, /cannot move into itself/],
    [{ op: 'remove', path: '' }, /whole document cannot be removed/],
  ])('rejects %j', async (edit, message) => {
    await expect(json(PRETTY, [edit])).rejects.toMatchObject(rejected(message))
  })

  it('refuses comments, trailing commas and UTF-16', async () => {
    const edit: Edit = { op: 'add', path: '/a', value: 1 }
    for (const text of [
      '{"a":1} // x',
      '{"a":1,}',
      '{"a":NaN}',
      Buffer.from('\ufeff{}', 'utf16le'),
    ]) {
      const ref = await saved(text, 'application/json')
      await expect(assets.edit(ref, [edit])).rejects.toMatchObject({ code: 'asset_unsupported' })
    }
  })

  it('edits a text inside of JSON, and keeps the escapes around it', async () => {
    const text = '{"note":"caf\\u00e9 \\ud83d\\ude00 one\\ttwo","n":1}'
    const ref = await saved(text, 'application/json')
    const result = await assets.edit(`${ref}/content/note`, [
      { find: 'one\ttwo', replace: '"2"\n' },
    ])
    expect(Buffer.from((await assets.get(result.asset.ref)).bytes).toString()).toBe(
      '{"note":"caf\\u00e9 \\ud83d\\ude00 \\"2\\"\\n","n":1}',
    )
    expect(await assets.resolve(result.ref)).toBe('café 😀 "2"\n')
  })

  it('edits structured content and keeps its kind', async () => {
    const { ref } = await assets.saveAsset({
      asset_name: 'Plan',
      asset_type: 'plan',
      description: 'Steps',
      content_type: "<class 'dict'>",
      content: { steps: ['a', 'b'] },
    })
    const { asset, ref: now } = await assets.edit(`${ref}/content/steps`, [
      { op: 'add', path: '/-', value: 'c' },
    ])
    expect(asset).toMatchObject({
      name: 'Plan',
      description: 'Steps',
      structured: true,
      previous: ref,
    })
    expect(await assets.resolve(now)).toEqual(['a', 'b', 'c'])
    expect(await assets.meta(asset.ref)).toMatchObject({ content_type: "<class 'dict'>" })
  })

  it('edits structured content with undefined in a list, and refuses values that JSON cannot express', async () => {
    const edited = async (list: unknown[]) => {
      const { ref } = await assets.saveAsset({ content_type: 'data', content: { list } })
      const { asset } = await assets.edit(ref, [{ op: 'add', path: '/more', value: 1 }])
      return assets.resolve(`${asset.ref}/content`)
    }
    expect(await edited([undefined, 1])).toEqual({ list: [null, 1], more: 1 })
    await expect(edited([-0])).rejects.toThrow('such as bytes, dates or NaN')
  })

  it('replaces the item of a list that the reference names', async () => {
    const ref = await saved('[1, [2], 3]', 'application/json')
    const added = await assets.edit(`${ref}/content/0`, [{ op: 'add', path: '', value: 9 }])
    expect(await assets.resolve(added.asset.ref)).toEqual([9, [2], 3])
    const moved = await assets.edit(`${ref}/content/1`, [{ op: 'move', from: '/0', path: '' }])
    expect(await assets.resolve(moved.asset.ref)).toEqual([1, 2, 3])
  })

  const value = fc.jsonValue({ maxDepth: 3 })
  const spaced = fc
    .tuple(value, fc.constantFrom(undefined, 2, '\t'))
    .map(([one, space]) => JSON.stringify({ a: one, b: [1, { c: 2 }] }, null, space))

  it('results in the same value as the operation on the parsed value', async () => {
    await fc.assert(
      fc.asyncProperty(spaced, value, async (text, added) => {
        const expected = JSON.parse(text)
        expected.a = added
        expected.b.splice(1, 0, added)
        delete expected.b[2].c
        const changed = await json(text, [
          { op: 'replace', path: '/a', value: added as never },
          { op: 'add', path: '/b/1', value: added as never },
          { op: 'remove', path: '/b/2/c' },
        ])
        expect(JSON.parse(changed)).toEqual(JSON.parse(JSON.stringify(expected)))
      }),
    )
  })
})

describe('assets.edit of tables', () => {
  it('uses the rows of one SELECT, under the same name', async () => {
    const { table } = await assets.importFile(Buffer.from('city,n\nRome,1\nOslo,2\n'), {
      name: 't.csv',
    })
    const ref = table?.ref ?? ''
    const result = await assets.edit(ref, [{ sql: 'SELECT city, n * 10 AS n FROM rows' }])
    expect(result).toMatchObject({ changes: 2, diff: '2 rows, 2 columns', previous: ref })
    expect(result.asset).toMatchObject({ name: table?.name, previous: ref })
    expect(await assets.resolve(`${result.ref}/content/rows/1`)).toEqual({ city: 'Oslo', n: 20 })
    await expect(assets.edit(ref, [{ find: 'Rome', replace: 'Roma' }])).rejects.toMatchObject({
      code: 'asset_unsupported',
      message: expect.stringMatching(/\{ sql \}/),
    })
  })

  it('names the tables of a file', async () => {
    const rows = sheetRows([['n'], [1]])
    const book = await saved(workbook({ One: rows, Two: rows }), null)
    const csv = await saved('n,m\n1,2\n', 'text/csv')
    for (const [ref, message] of [
      [book, `name one of its sheets: "One" is ${book}-1, "Two" is ${book}-2`],
      [`${book}-workbook`, `name one of its sheets: "One" is ${book}-1, "Two" is ${book}-2`],
      [csv, `edit its table ${csv}-table`],
      [await saved('text'), 'The asset is text/plain and not a table'],
    ] as const) {
      await expect(assets.edit(ref, [{ sql: 'SELECT * FROM rows' }])).rejects.toMatchObject({
        code: 'asset_unsupported',
        message: expect.stringContaining(message),
      })
    }
  })

  it('keeps nested values, and columns of several types', async () => {
    const rows = [
      { n: 1, a: { b: [1, null] }, l: [1.5, 'x'], m: 'x' },
      { n: 2, a: { b: '1234567890123456789' }, l: [], m: 7 },
    ]
    const json = Buffer.from(JSON.stringify(rows))
    const { table } = await assets.importFile(json, { name: 't.json' })
    const { ref } = await assets.edit(table?.ref ?? '', [{ sql: 'SELECT * FROM rows' }])
    expect(await assets.resolve(`${ref}/content/rows`)).toEqual(rows)
    expect(await assets.resolve(`${ref}/content/columns`)).toEqual(
      await assets.resolve(`${table?.ref}/content/columns`),
    )
  })

  it('keeps all rows of a table with more rows than a query may return', async () => {
    const csv = Buffer.from(`n\n${'1\n'.repeat(100_001)}`)
    const { table } = await assets.importFile(csv, { name: 'long.csv' })
    const result = await assets.edit(table?.ref ?? '', [{ sql: 'SELECT n + 1 AS n FROM rows' }])
    expect(result.diff).toBe('100001 rows, 1 columns')
  })

  it('reads long new rows again if their types are known only at the end', async () => {
    const csv = Buffer.from(`n\n${Array.from({ length: 110_000 }, (_, n) => `${n}\n`).join('')}`)
    const { table } = await assets.importFile(csv, { name: 'long.csv' })
    const sql = 'SELECT n, CASE WHEN n > 109990 THEN [n] END AS late FROM rows'
    const { ref, asset } = await assets.edit(table?.ref ?? '', [{ sql }])
    expect(asset.description).toBe(null)
    expect(await assets.resolve(`${ref}/content/rows/109995`)).toEqual({
      n: 109995,
      late: [109995],
    })
    expect(await assets.resolve(`${ref}/content/rows/105000`)).toEqual({ n: 105000, late: null })
  })
})

describe('assets.edit of the text of JSON', () => {
  const json = async (text: string) =>
    (await assets.save(Buffer.from(text), 'application/json')).ref

  it('rejects what would make it invalid, and mends what is invalid', async () => {
    const valid = await json('{"a": 1}')
    const edits = [{ find: '1', replace: '1,' }]
    for (const dryRun of [true, false]) {
      await expect(assets.edit(valid, edits, { dryRun })).rejects.toMatchObject({
        code: 'edit_rejected',
        message: expect.stringContaining('the content is not JSON'),
      })
    }
    expect(await assets.versions(valid)).toHaveLength(1)
    const broken = await json('{"a": 1,}')
    const { ref } = await assets.edit(broken, [{ find: '1,', replace: '1' }])
    expect(await assets.resolve(ref)).toEqual({ a: 1 })
    const still = await assets.edit(broken, [{ find: '1', replace: '2' }])
    expect(Buffer.from((await assets.get(still.ref)).bytes).toString()).toBe('{"a": 2,}')
  })
})

describe('versions', () => {
  it('are listed from any version, oldest first', async () => {
    const first = await saved('1')
    const { ref: second } = await assets.edit(first, [{ find: '1', replace: '2' }])
    const { ref: third } = await assets.edit(second, [{ find: '2', replace: '3' }])
    const { ref: other } = await assets.edit(first, [{ find: '1', replace: 'x' }])
    await assets.edit(await saved('apart'), [{ find: 'ap', replace: 'b' }])
    for (const ref of [first, second, third]) {
      const refs = (await assets.versions(ref)).map((one) => one.ref)
      expect(refs.slice(0, 2)).toEqual([first, second])
      expect(refs.toSorted()).toEqual([first, second, third, other].toSorted())
    }
    await assets.delete(second)
    // The version in the middle is gone, and the others are found from each of them.
    for (const ref of [first, third, other]) {
      expect((await assets.versions(ref)).map((one) => one.ref)).toEqual([first, third, other])
    }
    expect((await assets.info(third)).previous).toBe(second)
    await assets.delete(first)
    expect((await assets.versions(other)).map((one) => one.ref)).toEqual([third, other])
    await expect(assets.versions('none')).rejects.toMatchObject({ code: 'asset_not_found' })
  })

  it('are not saved in a dry run of a table', async () => {
    const { table } = await assets.importFile(Buffer.from('n\n1\n2\n'), { name: 'n.csv' })
    const ref = table?.ref ?? ''
    const edit = { sql: 'SELECT n FROM rows WHERE n > 1' }
    const plan = await assets.edit(ref, [edit], { dryRun: true })
    expect(plan).toMatchObject({ asset: { ref }, changes: 1, diff: '1 rows, 1 columns' })
    expect(await assets.versions(ref)).toHaveLength(1)
  })

  it('are not saved in a dry run', async () => {
    const ref = await saved('one')
    const plan = await assets.edit(ref, [{ find: 'one', replace: 'two' }], { dryRun: true })
    expect(plan).toMatchObject({ asset: { ref }, changes: 1, diff: '@@ -1,1 +1,1 @@\n-one\n+two' })
    expect(await assets.versions(ref)).toHaveLength(1)
  })
})
