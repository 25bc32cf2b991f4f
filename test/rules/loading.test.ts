import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Few programs need each of them. Each costs 1 to 50 ms or 1 to 10 MB. */
const HEAVY =
  /^(ai|ajv|yaml|mime|file-type|@file-type\/xml|csv-parse|hyparquet|hyparquet-writer|@streamparser\/json|@duckdb\/node-api|apache-arrow|read-excel-file|@ai-sdk\/.*|@aws-sdk\/.*|@opentelemetry\/.*|@modelcontextprotocol\/.*|@pydantic\/genai-prices|sharp|mammoth|unpdf|pg|zod|hono|node:util|node:sqlite|node:worker_threads|node:zlib|node:http|node:vm)(\/|$)/

/** Returns the external modules that an entry imports statically, with the importing files. */
async function loadedBy(entry: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    outdir: 'never-written',
    platform: 'node',
    format: 'esm',
    packages: 'external',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const outside: string[] = []
  const seen = new Set([entry])
  for (const path of seen) {
    const text = readFileSync(join(root, path), 'utf8')
    for (const [, builtin] of text.matchAll(/^const .* = nodeBuiltin\('([^']+)'\)/gm)) {
      outside.push(`${builtin} by ${path}`)
    }
    for (const { path: imported, kind, external } of metafile.inputs[path]?.imports ?? []) {
      if (kind === 'dynamic-import') continue
      if (external) outside.push(`${imported} by ${path}`)
      else seen.add(imported)
    }
  }
  return outside
}

describe("import 'byref'", () => {
  it('loads rarely needed modules at their first use', async () => {
    const loaded = await loadedBy('src/index.ts')
    expect(loaded.length).toBeGreaterThan(10)
    expect(loaded.filter((one) => HEAVY.test(one))).toEqual([])
  })

  it.each(['ajv', 'mime', 'csv-parse/sync', 'node:util', '@ai-sdk/provider'])(
    'fails this test if it loads %s',
    (specifier) => expect(specifier).toMatch(HEAVY),
  )
})
