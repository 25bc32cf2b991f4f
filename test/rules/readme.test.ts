import { execFile } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ran } from './fixtures/run-files.ts'
import { withProject } from './fixtures/with-project.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const LIBRARIES = ['ES2024', 'ESNext.Disposable', 'DOM', 'DOM.Iterable']
const CODE = /^```(ts|js|tsx)(?: run)?\n([\s\S]*?)^```/gm

/** The folder of a built package that the code uses instead of the sources (`node scripts/check-package.mjs`). */
const packed = process.env.BYREF_PACKAGE

// Inside the project, so that "byref" is the project itself.
mkdirSync(join(root, '.cache'), { recursive: true })
const folder = mkdtempSync(join(root, '.cache', 'readme-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
if (packed) {
  cpSync(packed, join(folder, 'node_modules/byref'), { recursive: true })
  // Otherwise "byref" is the project around the folder.
  writeFileSync(join(folder, 'package.json'), '{ "name": "documentation", "type": "module" }')
}
const CONDITIONS = packed ? [] : ['byref-source']

/** Returns the files that package.json names, without the time that `npm pack` takes. */
function filesToPublish(): string[] {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const matching = (patterns: string[]) =>
    globSync(
      patterns.flatMap((one) => [one, `${one}/**`]),
      { cwd: root },
    )
  const [excluded, named] = [true, false].map((isExcluded) =>
    (files as string[]).filter((one) => one.startsWith('!') === isExcluded),
  )
  const left = new Set(matching((excluded ?? []).map((one) => one.slice(1))))
  return ['README.md', 'LICENSE', ...matching(named ?? [])].filter((file) => !left.has(file))
}

/** Runs files one after the other in one process, which loads byref once for all of them. Returns their results. */
async function execute(files: readonly string[]): Promise<Record<string, Ran>> {
  const conditions = CONDITIONS.map((name) => `--conditions=${name}`)
  const program = join(root, 'test/rules/fixtures/run-files.ts')
  const args = ['--disable-warning=ExperimentalWarning', ...conditions, program, ...files]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1))
}

/** Writes a block of code into a file, and returns its path. */
function written(name: string, code: string): string {
  const file = join(folder, name)
  writeFileSync(file, code)
  return file
}

describe('README.md', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')

  it('has code', () => expect(blocks.length).toBeGreaterThan(0))

  it.each(blocks.map((code, i) => [i + 1, code] as const))(
    'code block %i runs unchanged',
    async (i, code) => {
      const file = written(`${i}.mts`, code)
      const { [file]: ran } = await execute([file])
      expect(ran).toEqual({ output: expect.stringMatching(/asset:\/\//), error: null })
    },
  )

  it('links to existing files', () => {
    for (const file of ['README.md', ...globSync('docs/**/*.md', { cwd: root })]) {
      const text = readFileSync(join(root, file), 'utf8')
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#|<\\?\|)([^)#\s]+)/g)) {
        expect(
          () => readFileSync(resolve(root, file, '..', target)),
          `${file} → ${target}`,
        ).not.toThrow()
      }
    }
  })

  it('links to files that are in the package', () => {
    const published = new Set(packed ? globSync('**', { cwd: packed }) : filesToPublish())
    const links = [...published]
      .filter((file) => /^(README|docs\/.*)\.md$/.test(file))
      .flatMap((file) => {
        const text = readFileSync(join(root, file), 'utf8')
        return [...text.matchAll(/\]\((?!https?:|#|<\\?\|)([^)#\s]+)/g)].map(([, target = '']) =>
          relative(root, resolve(root, file, '..', target)),
        )
      })
    expect(links.length).toBeGreaterThan(50)
    expect(links.filter((link) => !published.has(link))).toEqual([])
  })

  it('has code without semicolons that can be pasted unchanged', () => {
    const code = [...readme.matchAll(/```[jt]sx?\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
    expect(code.join('\n').match(/^[([`].*/gm)).toBeNull()
  })
})

describe('docs', () => {
  const runnable = globSync('docs/**/*.md', { cwd: root }).flatMap((file) => {
    const blocks = readFileSync(join(root, file), 'utf8').matchAll(/```ts run\n([\s\S]*?)```/g)
    return [...blocks].map((match, i) => {
      const name = `${file}, block ${i + 1}`
      return [name, written(`${name.replace(/\W+/g, '-')}.mts`, match[1] ?? '')] as const
    })
  })

  const ran: Record<string, Ran> = {}
  beforeAll(async () => {
    const files = runnable.map(([, file]) => file)
    // A file with tests prints when its process ends.
    const alone = files.filter((file) => readFileSync(file, 'utf8').includes("from 'node:test'"))
    const others = files.filter((file) => !alone.includes(file))
    for (const one of [others, ...alone.map((file) => [file])]) {
      Object.assign(ran, await execute(one))
    }
  })

  it.each(runnable)('%s runs', (_, file) => {
    expect(ran[file]).toEqual({ output: expect.stringMatching(/./), error: null })
  })
})

describe('code blocks', () => {
  it('have correct types, each pasted into its own file', () => {
    const own = join(folder, 'blocks')
    mkdirSync(own)
    let count = 0
    for (const file of ['README.md', ...globSync('docs/**/*.md', { cwd: root })]) {
      // It uses @byref/react, which is not installed with the packed package (scripts/check-react.mjs).
      if (packed && file.endsWith('guides/react.md')) continue
      const text = readFileSync(join(root, file), 'utf8')
      for (const [i, match] of [...text.matchAll(CODE)].entries()) {
        const [, type = '', code = ''] = match
        const name = `${file.replace(/\W+/g, '-')}-${i + 1}.${type}`
        // Each is a module, with its own names.
        writeFileSync(join(own, name), `${code}\nexport {}\n`)
        count++
      }
    }
    const compilerOptions = {
      allowJs: true,
      checkJs: true,
      jsx: 'react-jsx',
      lib: LIBRARIES,
      customConditions: CONDITIONS,
    }
    const project = { extends: '../../../tsconfig.json', compilerOptions, include: ['.'] }
    writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ ...project, exclude: [] }))
    // Checks only the blocks. `npm test` checks the types of what they import.
    const [checked, wrong] = withProject(join(own, 'tsconfig.json'), ({ program }) => {
      const files = program.getSourceFileNames().filter((name) => name.startsWith(own))
      const problems = files.flatMap((name) => [
        ...program.getSyntacticDiagnostics(name),
        ...program.getSemanticDiagnostics(name),
      ])
      return [files, problems]
    })
    expect(checked).toHaveLength(count)
    expect(wrong.map(({ fileName, text }) => `${fileName}: ${text}`)).toEqual([])
  }, 120_000)
})

/** Packages that come with byref. */
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

describe('examples', () => {
  const files = globSync('examples/*.ts', { cwd: root }).sort()
  let ran: Record<string, Ran> = {}
  beforeAll(async () => {
    ran = await execute(files.map((file) => join(root, file)))
  })

  it.each(files)('%s names its packages', (file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const used = [
      ...text.matchAll(/(?: from '|node_modules\/)((?:@[\w-]+\/)?[a-z][\w-]*)(?=['/])/g),
    ]
    const others = used.map(([, name = '']) => name).filter((name) => name !== 'byref')
    const [, named = ''] = /^\/\/ npm install byref (.*)$/m.exec(text) ?? []
    const known = [...Object.keys(dependencies), ...named.split(' ')]
    expect(others.filter((name) => !known.includes(name))).toEqual([])
  })

  it.each(files)('%s runs', (file) => {
    const one = ran[join(root, file)]
    expect(one).toEqual({ output: expect.stringMatching(/./), error: null })
    // Nor values that the example did not find.
    expect(one?.output).not.toMatch(/ (\?|undefined)$/m)
    const text = readFileSync(join(root, file), 'utf8')
    expect(text.split('\n').length).toBeLessThanOrEqual(61)
    // People copy examples into projects that have only the built package.
    expect(text).not.toContain('byref-source')
  })
})
