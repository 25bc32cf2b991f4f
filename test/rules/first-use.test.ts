import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const SCRIPT = `
import { registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({
  load(url, context, next) {
    const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
    if (name) loaded.add(name)
    return next(url, context)
  },
})
const { createAssets } = await import(process.argv[1])
const assets = createAssets()
await assets.importFile(new Blob(['no table']), { name: 'x.txt' })
console.log(JSON.stringify([...loaded]))
`

describe('the main entry', () => {
  it('loads what makes tables with the first of them', async () => {
    const entry = new URL('../../src/index.ts', import.meta.url).href
    const args = ['--input-type=module', '--eval', SCRIPT, entry]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const loaded = JSON.parse(stdout) as string[]
    expect(loaded).toContain('mime')
    for (const name of [
      ...['csv-parse', 'hyparquet', 'hyparquet-writer', '@streamparser/json'],
      ...['@duckdb/node-api', 'apache-arrow', 'read-excel-file'],
    ]) {
      expect(loaded).not.toContain(name)
    }
  })
})
