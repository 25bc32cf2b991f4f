import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../agent/fixtures/random.ts'
import { isBase64File } from '../bodies/data-url.ts'
import { extract, PNG, png, ref } from './fixtures/extracted.ts'

const FILES = join(import.meta.dirname, '../bodies/fixtures')

/** Formats without a signature that distinguishes them from other text. */
const UNSIGNED = /\.(?:bmp|ico|aac|tar)$|^bare\.mp3$/

const TYPE_KEYS =
  'mimeType mediaType mime_type media_type mime contentType content_type MimeType Content-Type fileType type format'
const BODY_KEYS =
  'data base64 b64 image audio video file blob bytes content body payload buffer binary raw'

describe('extractAssets, of base64', () => {
  it('recognizes files by their first bytes', async () => {
    const names = (await readdir(FILES)).filter((name) => /^[\w-]+\.\w+$/.test(name))
    const missed: string[] = []
    for (const name of names) {
      const bytes = await readFile(join(FILES, name))
      if (bytes.byteLength > 40 && !isBase64File(bytes.toString('base64'))) missed.push(name)
      if (bytes.byteLength > 40 && !isBase64File(bytes.toString('base64url'))) missed.push(name)
    }
    expect(names.length).toBeGreaterThan(40)
    expect(missed.filter((name) => !UNSIGNED.test(name))).toEqual([])
  })

  it.each(TYPE_KEYS.split(' '))('takes base64 beside `%s`, under any key', async (typeKey) => {
    for (const key of BODY_KEYS.split(' ')) {
      const { value } = await extract({ items: [{ [typeKey]: 'image/png', [key]: PNG, page: 1 }] })
      expect(value, key).toEqual({ items: [{ ...png, page: 1 }] })
      const raw = { [typeKey]: 'audio/pcm', [key]: Buffer.alloc(90, 200).toString('base64') }
      expect((await extract(raw)).value, key).toMatchObject({ assetRef: ref, kind: 'audio' })
    }
  })

  it.each<[unknown, unknown]>([
    [{ image: PNG }, { image: png }],
    [
      { base64: PNG, filename: 'a.png' },
      { ...png, filename: 'a.png' },
    ],
    [{ base64: PNG }, png],
    [PNG, png],
    [[`${PNG.slice(0, 76)}\r\n${PNG.slice(76)}\r\n`], [png]],
    [
      { thumbnail: PNG, title: 'a' },
      { thumbnail: png, title: 'a' },
    ],
    [
      { mime: 'text/csv', data: Buffer.from('name,age\nAnn,31\nBob,27\n').toString('base64') },
      { assetRef: ref, mimeType: 'text/csv', kind: 'file' },
    ],
    [
      {
        mediaType: 'image/svg+xml',
        data: Buffer.from('<svg><rect id="a"/></svg>').toString('base64'),
      },
      { assetRef: ref, mimeType: 'image/svg+xml', kind: 'image' },
    ],
  ])('takes %j', async (input, output) => {
    const { value, errors } = await extract(input)
    expect(errors).toEqual([])
    expect(value).toEqual(output)
  })

  it.each<[unknown]>([
    [{ mimeType: 'text/plain', data: 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz' }],
    [{ contentType: 'text/plain', content: Buffer.from('An essay in base64.').toString('base64') }],
    [{ type: 'text', text: 'a', format: 'markdown', content: 'a'.repeat(64) }],
    [{ mimeType: 'image/png', sha256: createHash('sha256').update('').digest('base64') }],
    [{ mimeType: 'image/png', data: 'short' }],
    [`${PNG} is a picture`],
    [PNG.slice(0, 20)],
    ['iVBORw0KGgo is how the base64 of a PNG begins'],
  ])('leaves %j alone', async (input) => expect((await extract(input)).value).toBe(input))

  it('finds every file among 10,000 values, and changes no other text', async () => {
    const random = createRandom(22)
    for (let batch = 0; batch < 100; batch++) {
      const made = Array.from({ length: 100 }, () => generated(random))
      const { value, errors } = await extract(made.map(({ input }) => input))
      expect(errors).toEqual([])
      expect(value, `batch ${batch}`).toEqual(made.map(({ output }) => output))
    }
  })
})

const WORDS =
  'the quick brown fox jumps over lazy dogs while seven wizards quietly observe them'.split(' ')
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const SIGNATURES = [
  '89504e470d0a1a0a00',
  'ffd8ffe0',
  '474946383961',
  '255044462d31',
  '504b0304',
  '1f8b0800',
]
const CODE = 'export const sum=(a,b)=>a+b;for(let i=0;i<9;i++){console.log(sum(i,1))}'

/** A result of a tool, and the expected value. */
function generated(random: Random): { input: unknown; output: unknown } {
  const isFile = random.chance(0.3)
  const leaf = isFile ? generatedFile(random) : { input: text(random), output: undefined }
  let { input, output } = leaf
  if (!isFile) output = input
  if (!isFile && random.chance(0.3)) {
    const key = random.pick(['id', 'token', 'digest', 'text', 'value', 'etag', 'url'])
    input = { [random.pick(TYPE_KEYS.split(' '))]: 'image/png', [key]: input }
    output = input
  }
  for (let depth = random.below(6); depth > 0; depth--) {
    const isList = random.chance(0.4)
    const key = random.pick(['items', 'a', 'meta', 'image', 'data', 'content'])
    input = isList ? [1, input] : { [key]: input, page: 1 }
    output = isList ? [1, output] : { [key]: output, page: 1 }
  }
  return { input, output }
}

function generatedFile(random: Random): { input: unknown; output: unknown } {
  const body = bytes(random, random.pick([48, 300, 5001]))
  const hasSignature = random.chance(0.7)
  if (hasSignature) Buffer.from(random.pick(SIGNATURES), 'hex').copy(body)
  const base64 = body.toString(random.chance(0.3) ? 'base64url' : 'base64')
  const reference = { assetRef: ref, mimeType: expect.any(String), kind: expect.any(String) }
  if (hasSignature && random.chance(0.5)) return { input: base64, output: reference }
  const key = random.pick(BODY_KEYS.split(' '))
  const data = hasSignature ? base64 : body.toString('base64')
  const input = { [random.pick(TYPE_KEYS.split(' '))]: 'application/x-thing', [key]: data }
  return { input, output: reference }
}

/** Text that looks like base64 and is not, or is base64 of something that is not a file. */
function text(random: Random): string {
  const length = random.pick([8, 32, 64, 200, 2000])
  switch (random.below(9)) {
    case 0:
      return Array.from({ length }, () => random.pick(WORDS)).join(random.pick([' ', '', '/', '+']))
    case 1:
      return createHash(random.pick(['md5', 'sha1', 'sha256', 'sha512']))
        .update(`${random.below(1e9)}`)
        .digest(random.pick(['hex', 'base64', 'base64url']))
    case 2:
      return Array.from({ length }, () => random.pick([...LETTERS])).join('')
    case 3:
      return [
        { alg: 'HS256', typ: 'JWT' },
        { sub: `${random.below(1e9)}`, name: 'Ann' },
      ]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .concat(bytes(random, 32).toString('base64url'))
        .join('.')
    case 4:
      return `${random.pick(['sk-proj-', 'AKIA', 'ghp_', 'xoxb-'])}${bytes(random, 30).toString('hex')}`
    case 5:
      return bytes(random, length).toString('hex')
    case 6:
      return random.chance(0.5) ? CODE.repeat(length) : CODE.replace(/\W/g, '').repeat(length)
    case 7:
      return `-----BEGIN PUBLIC KEY-----\n${bytes(random, 60).toString('base64')}\n-----END PUBLIC KEY-----`
    default:
      return Buffer.from(Array.from({ length }, () => random.pick(WORDS)).join(' ')).toString(
        'base64',
      )
  }
}

function bytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)))
}
