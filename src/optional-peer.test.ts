import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** Code that needs each optional peer. It runs where the peer is missing. */
const USES: Record<string, string> = {
  '@ai-sdk/anthropic': "model({ ANTHROPIC_API_KEY: 'k' })",
  '@ai-sdk/google': "model({ GOOGLE_GENERATIVE_AI_API_KEY: 'k' })",
  '@ai-sdk/openai': "model({ OPENAI_API_KEY: 'k' })",
  '@ai-sdk/openai-compatible': "model({ OPENAI_BASE_URL: 'http://x', BYREF_MODEL: 'm' })",
  '@aws-sdk/client-s3': "s3().check('bucket')",
  '@aws-sdk/lib-storage': "s3().putStream({ bucket: 'b', key: 'k', body: new ReadableStream() })",
  '@aws-sdk/s3-request-presigner': "s3().signedUrl({ bucket: 'b', key: 'k', expiresIn: 1 })",
  '@duckdb/node-api': '(await use("assets/tables/duckdb")).loadDuckdb()',
  '@modelcontextprotocol/client': "(await use('cli/mcp/http-channel')).httpChannel('http://x', {})",
  '@modelcontextprotocol/server':
    "(await use('integrations/mcp/server/mcp-server')).createMcpServer({ agent: { run() {}, approve() {} } })(new Request('http://localhost'))",
  '@resvg/resvg-js': "(await use('../demo/bar-chart')).drawBarChart({ title: '', bars: [] })",
  'apache-arrow': "table('arrow-table', 'readArrowTable')",
  mammoth: "document('docx')",
  pg: "(await use('log/postgres-log')).createPostgresLog({ connectionString: 'postgresql://a@127.0.0.1:1/b' }).find('c')",
  'pg-boss': "(await use('hosts/queue')).createQueue({ pool: new pg.Pool() }).isWhole()",
  'read-excel-file':
    "(await use('assets/tables/xlsx-table')).writeSheets({ name: 'x', path: '/x' }).next()",
  sharp:
    "(await use('prompt/media/fit-image')).fitImage(new Uint8Array(9), { mime: 'image/tiff', types: ['image/png'], maxSide: 1, maxBytes: 1 })",
  unpdf: "document('pdf')",
}

const SCRIPT = `
import { registerHooks } from 'node:module'
const uses = ${JSON.stringify(USES)}
let missing = ''
registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== missing && !specifier.startsWith(missing + '/')) return next(specifier, context)
    const error = new Error("Cannot find package '" + missing + "'")
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
const { default: pg } = await import('pg')
const use = (path) => import('./src/' + path + '.ts')
const model = async (env) => (await use('models/model-from-environment')).modelFromEnvironment(env)
const table = async (file, name) => (await use('assets/tables/' + file))[name]({ name: 'x', path: '/x' }).batches().next()
const document = async (form) =>
  (await use('assets/documents/write-pages')).documentPages({ form, name: 'x', path: 'package.json' }).next()
const { createS3Connector } = await use('assets/bodies/s3/connector')
const s3 = () => createS3Connector({ endpoint: 'http://127.0.0.1:1' })
const found = {}
for (const [name, code] of Object.entries(uses)) {
  missing = name
  const AsyncFunction = (async () => {}).constructor
  const run = new AsyncFunction('use', 'model', 'table', 'document', 's3', 'pg', 'return await ' + code)
  const end = await run(use, model, table, document, s3, pg).catch((error) => ({ code: error.code, why: error.message }))
  found[name] = { code: end?.code ?? null, why: end?.why ?? JSON.stringify(end) }
}
console.log(JSON.stringify(found))
process.exit()
`

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

describe('an optional peer that is missing', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: root,
  })
  const found: Record<string, { code: string | null; why: string }> = JSON.parse(stdout)

  it.each(Object.keys(USES))('%s: the error says what needs it and what to install', (name) => {
    expect(found[name]?.why).toMatch(
      new RegExp(`[A-Z].* needs the package ${name}, which is not installed: npm install ${name}$`),
    )
  })

  it('is an error with a code, or a note for the model', () => {
    const codes = Object.entries(found).map(([name, { code }]) => [name, code])
    const notes = codes.filter(([, code]) => code !== 'dependency_missing')
    expect(Object.fromEntries(notes)).toEqual({
      'apache-arrow': 'table_invalid',
      'read-excel-file': 'table_invalid',
      sharp: null,
    })
  })
})

describe("import 'byref'", () => {
  const importedAs = async (version: string) => {
    const script = `
      Object.defineProperty(process.versions, 'node', { value: '${version}' })
      await import('./src/index.ts').then(() => 'imported', (error) => error.message).then(console.log)`
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: root,
    })
    return stdout.trim()
  }

  it('fails on an old Node with one sentence', async () => {
    expect(await importedAs('20.20.2')).toBe(
      'byref needs Node.js 22.18 or newer; this is Node.js 20.20.2',
    )
    expect(await importedAs('22.17.9')).toMatch(/22\.18 or newer/)
  })

  it('works on the oldest Node that is supported', async () => {
    expect(await importedAs('22.18.0')).toBe('imported')
  })
})
