import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { shownSchema } from '../plain-tools.ts'
import { mcpTool, resolveArguments } from './reference-arguments.ts'

const assets = createAssets()

const keyword = fc.constantFrom(
  ...[
    'type',
    'properties',
    'items',
    'anyOf',
    'allOf',
    'enum',
    'const',
    '$ref',
    '$defs',
    'required',
  ],
  ...['additionalProperties', 'description', 'format', 'a', '__proto__'],
)
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue(),
    fc.constantFrom('string', 'object', '#/$defs/a', '#', true, null),
    fc.array(tie('schema'), { maxLength: 3 }),
    fc.dictionary(keyword, tie('schema'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
const objects = fc.dictionary(keyword, schema, { maxKeys: 4, noNullPrototype: true })

describe('schemas of servers, whatever they are,', () => {
  it('are shown, and arguments without references stay unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(objects, fc.dictionary(fc.string(), fc.jsonValue()), async (given, args) => {
        const tool = mcpTool('x', given, '/nowhere')
        JSON.stringify(shownSchema(tool))
        expect(await resolveArguments(tool, args, { assets, files: '/nowhere' })).toBe(args)
      }),
      { numRuns: 500 },
    )
  })
})

describe('files', () => {
  const text = (description?: string, more = {}) => ({ type: 'string', description, ...more })
  const schema = {
    type: 'object',
    properties: {
      path: text(),
      filePaths: { type: 'array', items: text() },
      file: text('Absolute path or URL of the picture'),
      image: text('The picture'),
      file_path: text('The file as base64'),
      upload: text(undefined, { 'x-mcp-file': { accept: ['image/*'] } }),
    },
  }

  it('are paths, base64 or data URLs, as the parameter wants', async () => {
    const files = mkdtempSync(join(tmpdir(), 'byref-files-'))
    onTestFinished(() => rmSync(files, { recursive: true, force: true }))
    const bytes = Buffer.from([0xff, 0xd8, 0xff, 1])
    const { ref } = await assets.save(bytes, 'image/jpeg', { name: '../../rot: es Haus.jpg' })
    const given = Object.fromEntries(Object.keys(schema.properties).map((name) => [name, ref]))
    const args = { ...given, filePaths: [ref] }
    const made = await resolveArguments(mcpTool('x', schema, files), args, { assets, files })
    const paths = [made.path, (made.filePaths as string[])[0], made.file] as string[]
    for (const path of paths) {
      expect(dirname(dirname(path))).toBe(files)
      expect(basename(path)).toBe('_.._rot_ es Haus.jpg')
      expect(readFileSync(path)).toEqual(bytes)
    }
    expect(new Set(paths).size).toBe(3)
    expect(made.image).toBe(bytes.toString('base64'))
    expect(made.file_path).toBe(bytes.toString('base64'))
    expect(made.upload).toBe(`data:image/jpeg;base64,${bytes.toString('base64')}`)
  })

  it.each(['名', '𠀀'])('have names that a file system accepts: %s', async (letter) => {
    const files = mkdtempSync(join(tmpdir(), 'byref-files-'))
    onTestFinished(() => rmSync(files, { recursive: true, force: true }))
    const tool = mcpTool('x', schema, files)
    for (const name of [`${letter.repeat(200)}.txt`, `a${letter.repeat(200)}`]) {
      const { ref } = await assets.save(Buffer.from('words'), 'text/plain', { name })
      const { path } = await resolveArguments(tool, { path: ref }, { assets, files })
      expect(readFileSync(String(path), 'utf8')).toBe('words')
      expect(String(path).isWellFormed()).toBe(true)
      expect(basename(String(path))).toMatch(/^.{30,}\.txt$/u)
    }
  })

  it('have the form of the named field', async () => {
    const files = mkdtempSync(join(tmpdir(), 'byref-files-'))
    onTestFinished(() => rmSync(files, { recursive: true, force: true }))
    const json = Buffer.from('{"page":"<p>hello"}')
    const { ref } = await assets.save(json, 'application/json', { name: 'page.json' })
    const tool = mcpTool('x', schema, files)
    const args = { path: `${ref}/content/page` }
    const { path } = await resolveArguments(tool, args, { assets, files })
    expect(readFileSync(String(path), 'utf8')).toBe('<p>hello')
    expect(basename(String(path))).toBe('file.txt')
  })

  it('are not made of a field that is a path itself', async () => {
    const found = [
      '/a b/c.txt',
      './c',
      '~/c',
      'C:\\c d.txt',
      'file:///c',
      'src/index.ts',
      'notes.txt',
    ]
    const other = ['hello', 'two words.', '1.5', '<p>/x</p>', 'a\n/b']
    const { ref } = await assets.save(
      Buffer.from(JSON.stringify({ found, other })),
      'application/json',
    )
    const files = mkdtempSync(join(tmpdir(), 'byref-files-'))
    onTestFinished(() => rmSync(files, { recursive: true, force: true }))
    const given = async (field: string) => {
      const tool = mcpTool('x', schema, files)
      return (await resolveArguments(tool, { path: `${ref}/content/${field}` }, { assets, files }))
        .path
    }
    for (const [i, path] of found.entries()) expect(await given(`found/${i}`)).toBe(path)
    for (const [i, text] of other.entries()) {
      const path = String(await given(`other/${i}`))
      expect([dirname(dirname(path)), readFileSync(path, 'utf8')]).toEqual([files, text])
    }
    const tool = mcpTool('x', { properties: { xpath: { type: 'string' } } }, files)
    const args = { xpath: `${ref}/content/other/0` }
    expect(await resolveArguments(tool, args, { assets, files })).toEqual({ xpath: 'hello' })
  })

  it('are text if the server may run on another machine', async () => {
    const { ref } = await assets.save(Buffer.from('words'), 'text/plain')
    const made = await resolveArguments(mcpTool('x', schema), { path: ref }, { assets })
    expect(made).toEqual({ path: 'words' })
  })
})
