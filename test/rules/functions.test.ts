import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

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
