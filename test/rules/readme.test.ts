import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

// Inside the project, so that "byref" is the project itself.
mkdirSync(join(root, '.cache'), { recursive: true })
const folder = mkdtempSync(join(root, '.cache', 'readme-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function execute(file: string): string {
  const flags = ['--disable-warning=ExperimentalWarning', '--conditions=byref-source']
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
    const packed = new Set(files.map(({ path }) => path))
    const links = [...packed]
      .filter((file) => /^(README|docs\/.*)\.md$/.test(file))
      .flatMap((file) => {
        const text = readFileSync(join(root, file), 'utf8')
        return [...text.matchAll(/\]\((?!https?:|#|<\\?\|)([^)#\s]+)/g)].map(([, target = '']) =>
          relative(root, resolve(root, file, '..', target)),
        )
      })
    expect(links.length).toBeGreaterThan(50)
    expect(links.filter((link) => !packed.has(link))).toEqual([])
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

describe('examples', () => {
  it.each(globSync('examples/*.ts', { cwd: root }).sort())('%s runs', (file) => {
    expect(execute(join(root, file))).not.toBe('')
    expect(readFileSync(join(root, file), 'utf8').split('\n').length).toBeLessThanOrEqual(61)
  })
})
