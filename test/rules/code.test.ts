import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { withProject } from './fixtures/with-project.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Maximum number of lines of a function, without blank lines and comments. */
const MOST = 100

// Biome formats the code, so a function ends at the first closing brace with its own indentation.
const START = /^(\s*)(?:export )?(?:async )?function\b|^( {2})(?:async |static |get )*[#\w]+\(.*\{$/

function longFunctions(code: string): { name: string; lines: number }[] {
  const lines = code.split('\n')
  return lines.flatMap((line, i) => {
    const found = START.exec(line)
    if (!found) return []
    const indent = found[1] ?? found[2] ?? ''
    const length =
      lines.slice(i + 1).findIndex((one) => one === `${indent}}` || one === `${indent}},`) + 2
    const body = lines.slice(i, i + length).filter((one) => !/^\s*(?:\/\/|\/?\*|$)/.test(one))
    return body.length > MOST ? [{ name: line.trim(), lines: body.length }] : []
  })
}

it('no function has more than 100 lines', () => {
  const body = Array.from({ length: MOST }, () => '  work()').join('\n')
  expect(longFunctions(`function long() {\n${body}\n}\n`)).toHaveLength(1)
  expect(longFunctions(`function short() {\n  work()\n}\n${body}\n`)).toEqual([])
  const files = globSync('{src,demo,eval}/**/*.ts', { cwd: root })
  expect(files.length).toBeGreaterThan(500)
  const found = files
    .filter((file) => !/\.test\.ts$|\/fixtures\/|^src\/testing\//.test(file))
    .flatMap((file) =>
      longFunctions(readFileSync(join(root, file), 'utf8')).map(({ name, lines }) => {
        return `${file}: ${name} has ${lines} lines`
      }),
    )
  expect(found).toEqual([])
})

it('no object literal is spread', () => {
  const files = globSync(
    '{src,packages,web,test,demo,eval,bench,scripts,examples}/**/*.{ts,tsx,mjs}',
    {
      cwd: root,
      exclude: ['**/node_modules', '**/dist'],
    },
  )
  expect(files.length).toBeGreaterThan(1500)
  // The keys can be written without the spread.
  const found = files.filter((file) => /\.{3}\{/.test(readFileSync(join(root, file), 'utf8')))
  expect(found).toEqual([])
})

/** TypeScript's codes for a module that does not exist, and for one without an export of that name. */
const MISSING = [2305, 2307, 2724]

it('benchmarks import what exists', () => {
  const found = withProject(join(root, 'bench/tsconfig.json'), ({ program }) => {
    const files = program
      .getSourceFileNames()
      .filter((file) => /\/bench\/(?!node_modules)/.test(file))
    expect(files.length).toBeGreaterThan(100)
    return files.flatMap((file) => program.getSemanticDiagnostics(file))
  })
  // The packages of bench/package.json may not be installed.
  const wrong = found.filter(({ code, text }) => MISSING.includes(code) && /['"]\.|src/.test(text))
  expect(wrong.map(({ fileName, text }) => `${fileName}: ${text}`)).toEqual([])
}, 120_000)
