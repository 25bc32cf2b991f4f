import { execFileSync, spawnSync } from 'node:child_process'
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
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const TSC = join(root, 'node_modules/typescript/bin/tsc')
const LIBRARIES = ['ES2024', 'ESNext.Disposable', 'DOM', 'DOM.Iterable']
const CODE = /^```(ts|js|tsx)(?: run)?\n([\s\S]*?)^```/gm

/** The folder of a built package that the code uses instead of the sources (`npm run check:package`). */
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

function execute(file: string): string {
  const conditions = CONDITIONS.map((name) => `--conditions=${name}`)
  const flags = ['--disable-warning=ExperimentalWarning', ...conditions]
  return execFileSync(process.execPath, [...flags, file], { encoding: 'utf8', cwd: root })
}

describe('README.md', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')

  it('has code', () => expect(blocks.length).toBeGreaterThan(0))

  it.each(blocks.map((code, i) => [i + 1, code] as const))(
    'code block %i runs as it stands',
    (i, code) => {
      const file = join(folder, `${i}.mts`)
      writeFileSync(file, code)
      expect(execute(file)).toMatch(/asset:\/\//)
    },
  )

  it('links to files that are there', () => {
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
    const pack = ['pack', '--dry-run', '--json', '--ignore-scripts']
    const listed = execFileSync('npm', pack, { encoding: 'utf8', cwd: root, stdio: 'pipe' })
    const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }]
    const published = new Set(files.map(({ path }) => path))
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

  it('has code without semicolons that can be pasted as it is', () => {
    const code = [...readme.matchAll(/```[jt]sx?\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
    expect(code.join('\n').match(/^[([`].*/gm)).toBeNull()
  })
})

describe('docs', () => {
  const runnable = globSync('docs/**/*.md', { cwd: root }).flatMap((file) => {
    const blocks = readFileSync(join(root, file), 'utf8').matchAll(/```ts run\n([\s\S]*?)```/g)
    return [...blocks].map((match, i) => [`${file}, block ${i + 1}`, match[1] ?? ''] as const)
  })

  it.each(runnable)('%s runs', (name, code) => {
    const file = join(folder, `${name.replace(/\W+/g, '-')}.mts`)
    writeFileSync(file, code)
    expect(execute(file)).not.toBe('')
  })
})

describe('code blocks', () => {
  it('have sound types, each pasted into a file of its own', () => {
    const own = join(folder, 'blocks')
    mkdirSync(own)
    for (const file of ['README.md', ...globSync('docs/**/*.md', { cwd: root })]) {
      // It uses @byref/react, which is not beside the packed package (scripts/check-react.mjs).
      if (packed && file.endsWith('guides/react.md')) continue
      const text = readFileSync(join(root, file), 'utf8')
      for (const [i, match] of [...text.matchAll(CODE)].entries()) {
        const [, type = '', code = ''] = match
        const name = `${file.replace(/\W+/g, '-')}-${i + 1}.${type}`
        // Each is a module, with names of its own.
        writeFileSync(join(own, name), `${code}\nexport {}\n`)
      }
    }
    const compilerOptions = {
      ...{ allowJs: true, checkJs: true, jsx: 'react-jsx', lib: LIBRARIES },
      customConditions: CONDITIONS,
    }
    const project = { extends: '../../../tsconfig.json', compilerOptions, include: ['.'] }
    writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ ...project, exclude: [] }))
    const { stdout } = spawnSync(process.execPath, [TSC, '-p', own], {
      cwd: root,
      encoding: 'utf8',
    })
    // With a browser's types, some of what Node has is of another type in src.
    expect(stdout.split('\n').filter((line) => line.startsWith('.cache'))).toEqual([])
  }, 120_000)
})

/** Packages that come with byref. */
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

describe('examples', () => {
  it.each(globSync('examples/*.ts', { cwd: root }).sort())('%s names its packages', (file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const used = [
      ...text.matchAll(/(?: from '|node_modules\/)((?:@[\w-]+\/)?[a-z][\w-]*)(?=['/])/g),
    ]
    const others = used.map(([, name = '']) => name).filter((name) => name !== 'byref')
    const [, named = ''] = /^\/\/ npm install byref (.*)$/m.exec(text) ?? []
    const known = [...Object.keys(dependencies), ...named.split(' ')]
    expect(others.filter((name) => !known.includes(name))).toEqual([])
  })

  it.each(globSync('examples/*.ts', { cwd: root }).sort())('%s runs', (file) => {
    const said = execute(join(root, file))
    expect(said).not.toBe('')
    // Nor a value that the example did not find.
    expect(said).not.toMatch(/ (\?|undefined)$/m)
    const text = readFileSync(join(root, file), 'utf8')
    expect(text.split('\n').length).toBeLessThanOrEqual(61)
    // People copy examples into projects that have the built package only.
    expect(text).not.toContain('byref-source')
  })
})
