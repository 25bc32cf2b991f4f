import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { createBoard } from '../core/board/board.ts'
import { join, readLabel, UNTRUSTED } from '../core/labels/label.ts'
import { wholeOf } from '../core/labels/label-tree.ts'
import { createResults } from '../core/messages/results.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { type AssetRefParts, parseAssetRef } from '../core/refs/asset-ref.ts'
import type { JsonSchema } from './describe-schema.ts'
import { assetReads, resolveCall } from './resolve.ts'
import { resolveAssets } from './resolve-assets.ts'
import { defineTool, type Tool } from './tool.ts'
import { ConversationSource } from './value-source.ts'

const assets = createAssets()
const note = await assets.saveAsset({ content_type: 'text/plain', content: 'of <|†state.n|>' })
const picture = await assets.save(
  new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 255]),
  'image/png',
)
const named = await assets.saveAsset({ content_type: 'text/plain', content: note.ref })
const big = await assets.saveAsset({
  content_type: 'application/json',
  content: { rows: [{ x: 1 }], size: 'L' },
})
const stand = {
  offloaded: true,
  assetRef: big.ref,
  mimeType: 'application/json',
  kind: 'file',
  size: 9,
}

const board = createBoard([
  {
    type: 'state',
    state: {
      n: 7,
      list: [1, 2],
      nested: { deep: true },
      dagger: '†state.n',
      big: stand,
      file: note.ref,
      long: 'x'.repeat(1_000_000),
    },
  },
  { type: 'state', state: { n: 8 }, _instance: 'a' },
])
const results = createResults()
for (const [i, content] of [{ items: [{ id: 'i0' }] }, stand, 'words'].entries()) {
  results.add(toMessage({ content, metadata: { tool_result: { tool_call_id: `c${i}` } } }))
}
results.add(
  toMessage({
    content: null,
    content_type: 'application/json',
    metadata: {
      tool_result: { tool_call_id: 'c3', error: { code: 'tool_failed', message: 'no' } },
    },
  }),
)
const calls = { c2: { parentMessageId: 'answer' }, now: { parentMessageId: 'answer' } }
const conversation = { board, results, calls: calls as never, assets }

/** A tool with one parameter `p` of this schema. */
function toolOf(schema: JsonSchema, variables = true): Tool {
  const inputSchema = { type: 'object', properties: { p: schema } }
  const tool = { id: 't', description: '', inputSchema, variables, execute: () => null }
  return defineTool(tool) as Tool
}

/** The value of `p` in a call of a tool with a parameter of this schema. */
async function given(p: unknown, schema: JsonSchema = {}, instance?: string): Promise<unknown> {
  const values = new ConversationSource(conversation, { id: 'now', instance })
  const resolved = await resolveCall(toolOf(schema), { p }, { values, assets: () => assets })
  return resolved.arguments.p
}

const nested = (levels: number): unknown =>
  JSON.parse(`${'['.repeat(levels)}"†state.n"${']'.repeat(levels)}`)

const SECRET = readLabel({ confidentiality: 'private' })

const accepting = { type: 'string', asset_ref_acceptable: true }

describe('resolveCall', () => {
  it('replaces a variable by its typed value, at any depth', async () => {
    expect(await given('†state.n')).toBe(7)
    expect(await given([{ a: '†state.nested' }, 'plain', null, 1])).toEqual([
      { a: { deep: true } },
      ...['plain', null, 1],
    ])
    expect(await given(' †state.none || †state.list[1] ')).toBe(2)
    expect(await given('†state.n', {}, 'a')).toBe(8)
    expect(await given('†state.list', {}, 'a')).toEqual([1, 2])
  })

  it('leaves other text, and removes the backslash of a literal dagger', async () => {
    for (const value of ['† 1540', '†1540', 'born †1540', 'see †nobody.n', '']) {
      expect(await given(value)).toBe(value)
    }
    expect(await given('\\†state.n')).toBe('†state.n')
    expect(await given('  \\\\†x')).toBe('  \\†x')
    expect(await given('write \\†state.n for it')).toBe('write †state.n for it')
  })

  it('never scans the value of a variable', async () => {
    expect(await given('†state.dagger')).toBe('†state.n')
    expect(await given('it is <|†state.dagger|>')).toBe('it is †state.n')
    expect(await given('a <|asset://x|> <|†state.file|>', accepting).catch(String)).toContain(
      'asset',
    )
  })

  it('changes nothing if the tool does not accept variables', async () => {
    const args = { p: ['†state.n', '\\†state.n', 'a †state.n', '<|†state.n|>'] }
    const values = new ConversationSource(conversation, { id: 'now' })
    const resolved = await resolveCall(toolOf({}, false), args, { values, assets: () => assets })
    expect(resolved.arguments).toBe(args)
  })

  it('reports missing values', async () => {
    await expect(given(['†state.m'])).rejects.toMatchObject({ code: 'variable_not_found' })
    await expect(given('†state.big.cols')).rejects.toThrow(
      /has no "cols"; it has 2: "rows", "size"/,
    )
    await expect(given('†state.big.cols || †state.m')).rejects.toThrow('†state')
  })

  it('rejects arguments that are nested too deep', async () => {
    await expect(given(nested(300))).rejects.toThrow('deeper than 200')
    await expect(given(nested(200_000))).rejects.toThrow('deeper than 200')
    expect(JSON.stringify(await given(nested(100)))).toContain('7')
  })

  it('keeps keys such as __proto__ as plain data', async () => {
    const value = JSON.parse(
      '{"__proto__": {"polluted": "†state.n", "__proto__": "†state.big.size"}, "constructor": 1}',
    )
    const result = (await given(value)) as object
    expect(JSON.stringify(result)).toBe(
      '{"__proto__":{"polluted":7,"__proto__":"L"},"constructor":1}',
    )
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('does not change what the model sent, and shares unchanged parts', async () => {
    const same = { deep: ['text'] }
    const value = ['†state.n', { q: '†state.list' }, same]
    const before = structuredClone(value)
    const result = (await given(value)) as unknown[]
    expect(value).toEqual(before)
    expect(result[2]).toBe(same)
  })

  it('handles a list of 100,000 items', async () => {
    const list = Array.from({ length: 100_000 }, (_, i) =>
      i % 1000 === 0 ? '†state.n' : `row ${i}`,
    )
    const result = (await given(list)) as unknown[]
    expect([result[0], result[1], result[99_000]]).toEqual([7, 'row 1', 7])
  })
})

describe('values that are kept as assets', () => {
  it('reads through the reference, whole and by path', async () => {
    expect(await given('†state.big')).toEqual({ rows: [{ x: 1 }], size: 'L' })
    expect(await given('†state.big.rows[0].x')).toBe(1)
    expect(await given(['†state.big.rows', '†state.none || †state.big.rows[0]'])).toEqual([
      [{ x: 1 }],
      { x: 1 },
    ])
    expect(await given('†state.n && †state.big.none || †state.n')).toBe(7)
  })

  it('reads a field of the value, not of its placeholder', async () => {
    expect(await given('†state.big.size')).toBe('L')
    await expect(given('†state.big.assetRef')).rejects.toThrow('has no "assetRef"')
  })
})

describe('names of results', () => {
  it('reads values, errors and offloaded results', async () => {
    expect(await given('†result#1.items[0].id')).toBe('i0')
    expect(await given('†result#2.rows[0].x')).toBe(1)
    expect(await given('†result#4.code')).toBe('tool_failed')
    expect(await given('the first: <|†result#1.items[0].id|>')).toBe('the first: i0')
  })

  it('lists the existing results, and reports that the same answer has none', async () => {
    await expect(given('†result#9')).rejects.toThrow(
      'There is no result †result#9. Results: †result#1 to †result#4',
    )
    await expect(given('†result#0x1')).rejects.toThrow('There is no result †result#0x1')
    await expect(given('†result.x')).rejects.toThrow(
      '†result has no number. Results: †result#1 to †result#4',
    )
    await expect(given('†result#3')).rejects.toThrow('a result of this same answer')
    await expect(given('†result#1.rows')).rejects.toThrow(
      '†result#1 has no "rows"; it has 1: "items"',
    )
    expect(await given('†result#9 || †state.n')).toBe(7)
  })
})

describe('marks in text', () => {
  it('inserts the text of variables, and other values as compact JSON', async () => {
    const text = 'n is <|†state.n|>, list <| †state.none || †state.list |>, <|†state.big.rows|>'
    expect(await given({ deep: [text] })).toEqual({ deep: ['n is 7, list [1,2], [{"x":1}]'] })
    expect(await given('<|†state.n|>')).toBe('7')
  })

  it('inserts the text of assets if the parameter accepts references', async () => {
    const text = `As <|${note.ref}|> says`
    expect(await given(text, accepting)).toBe('As of <|†state.n|> says')
    expect(await given(text, { type: 'string' })).toBe('As of <|†state.n|> says')
    expect(await given(text, { type: 'string', enum: [text] })).toBe(text)
    const rows = `${big.ref}/content/rows`
    expect(await given(`rows: <|${rows}|>`, { anyOf: [accepting, { type: 'null' }] })).toBe(
      'rows: [{"x":1}]',
    )
    await expect(given(`![p](<|${picture.ref}|>)`, accepting)).rejects.toThrow(
      /image\/png, 9 bytes and cannot be converted to text/,
    )
  })

  it('inserts the bytes of assets into data URLs', async () => {
    const { base64 } = await assets.getBase64(picture.ref)
    const url = 'data:image/png;base64,'
    expect(await given(`<img src="${url}<|${picture.ref}|>">`, accepting)).toBe(
      `<img src="${url}${base64}">`,
    )
    const { base64: words } = await assets.getBase64(note.ref)
    expect(await given(`data:text/plain;base64,<|${note.ref}|>`, accepting)).toBe(
      `data:text/plain;base64,${words}`,
    )
  })

  it('does not let an asset reference another one', async () => {
    const content = note.ref.slice('asset://'.length)
    const id = await assets.saveAsset({ content_type: 'text/plain', content })
    await expect(given(`asset://<|${id.ref}|>`, accepting)).rejects.toThrow('becomes asset://')
    expect(await given(`<|${named.ref}|>`, accepting)).toBe(named.ref)
    expect(await given('<|†state.file|>', accepting)).toBe(note.ref)
  })

  it('leaves code and escaped marks', async () => {
    for (const text of ['`<|†state.n|>`', '```\n†state.n <|†state.n|>\n```', '<|im_start|>']) {
      expect(await given(text)).toBe(text)
    }
  })

  it('rejects a variable without marks, and shows the form to use', async () => {
    await expect(given('The sum is †state.n.')).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('Write <|†state.n|> for its value, or \\†state.n for'),
    })
    await expect(given('see †result#1')).rejects.toThrow('<|†result#1|>')
    await expect(given('†state.list[-1]')).rejects.toThrow('[-1] is no index of †state.list: write')
    expect(await given('see †result#9 and †nobody')).toBe('see †result#9 and †nobody')
  })

  it('leaves no rejection behind when another reference fails first', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    await expect(given(['†state.big.nothing', '†state.none'])).rejects.toThrow('none')
    await new Promise((resolve) => setTimeout(resolve, 20))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('gives the reference of a stored value to a parameter that takes references', async () => {
    const takesRef = { asset_ref_acceptable: true, asset_ref_as: 'ref' }
    expect(await given('†state.big.rows[0]', takesRef)).toBe(`${big.ref}/content/rows/0`)
    expect(await given('†state.big', takesRef)).toBe(`${big.ref}/content`)
    expect(await given('†state.n', takesRef)).toBe(7)
    expect(await given('†state.none || †state.big.size', takesRef)).toBe('L')
  })

  it('rejects values that are too long for a text', async () => {
    expect(await given('it says <|†state.long|>')).toHaveLength(1_000_008)
    await expect(given('<|†state.long|> '.repeat(11))).rejects.toThrow(
      '†state.long has 1000000 characters, and one text has at most 10,000,000 characters. Pass the reference alone',
    )
    const file = await assets.save(Buffer.alloc(40_000_001, 'x'), 'text/plain')
    await expect(given(`it says <|${file.ref}|>`, accepting)).rejects.toThrow('40000001 bytes')
  })
})

describe('a field that holds a file', async () => {
  const file = { assetRef: picture.ref, mimeType: 'image/png', kind: 'image' }
  const content = { image: file, note: { ...file, assetRef: note.ref }, size: 'L' }
  const { ref } = await assets.saveAsset({ content_type: 'application/json', content })

  it('is that file within a text', async () => {
    const { base64 } = await assets.getBase64(picture.ref)
    const url = 'data:image/png;base64,'
    expect(await given(`${url}<|${ref}/content/image|>`, accepting)).toBe(`${url}${base64}`)
    expect(await given(`It says <|${ref}/content/note|>`, accepting)).toBe(
      'It says of <|†state.n|>',
    )
    expect(await given(`Size <|${ref}/content/size|>`, accepting)).toBe('Size L')
  })

  it('has the labels of the field and of the file', async () => {
    const { id } = parseAssetRef(picture.ref) as AssetRefParts
    const labelsOf = (one: AssetRefParts) => ({ label: one.id === id ? SECRET : UNTRUSTED })
    const labels = async (args: unknown) =>
      (await assetReads(args, labelsOf, assets)).map(({ labels }) => wholeOf(labels))
    const both = join(SECRET, UNTRUSTED)
    for (const text of [`${ref}/content/image`, `see <|${ref}/content/image|>`]) {
      expect((await labels({ p: [text] }))[0]).toEqual(both)
    }
    expect(await labels({ p: [file, { assetRef: picture.ref }] })).toEqual([SECRET, SECRET])
    expect(await labels({ p: [`${ref}/content/size`, ref] })).toEqual([UNTRUSTED, UNTRUSTED])
    const values = Object.assign(new ConversationSource(conversation, { id: 'now' }), { labelsOf })
    const args = { p: `see data:image/png;base64,<|${ref}/content/image|>` }
    const { reads } = await resolveCall(toolOf(accepting), args, { values, assets: () => assets })
    expect(reads.map(({ labels }) => wholeOf(labels))).toEqual([both])
  })
})

describe('variables, then assets', () => {
  it('resolves the reference that a variable contains', async () => {
    const file = await given('†state.file', accepting)
    const { args } = await resolveAssets(toolOf(accepting), { p: file }, () => assets)
    expect(args).toEqual({ p: 'of <|†state.n|>' })
  })
})
