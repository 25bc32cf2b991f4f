import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('entries that run in a browser', () => {
  it.each(['src/client/index.ts', 'src/core/board/board.ts', 'src/core/refs/asset-ref.ts'])(
    '%s bundles without Node and without packages',
    async (entry) => {
      const { metafile } = await build({
        absWorkingDir: root,
        entryPoints: [entry],
        bundle: true,
        platform: 'browser',
        format: 'esm',
        write: false,
        metafile: true,
        logLevel: 'silent',
      })
      const outside = Object.keys(metafile.inputs).filter((input) => !/^src\//.test(input))
      expect(outside).toEqual([])
    },
  )
})

describe('entries that bundle for any platform', () => {
  const pure = [
    ...['src/index.ts', 'src/assets/stores.ts', 'src/integrations/ai-sdk/index.ts'],
    ...[
      'src/integrations/ag-ui/index.ts',
      'src/integrations/langchain/index.ts',
      'src/integrations/mcp/index.ts',
      'src/integrations/openai/index.ts',
      'src/integrations/openai-agents/index.ts',
      'src/integrations/mastra/index.ts',
      'src/integrations/workflow/index.ts',
    ],
    'src/integrations/otel/index.ts',
  ]
  const options = { bundle: true, format: 'esm', write: false, logLevel: 'silent' } as const

  const together = {
    ...options,
    absWorkingDir: root,
    entryPoints: pure,
    outdir: 'never-written',
    splitting: true,
  } as const

  it('bundles for a browser with its packages', async () => {
    await expect(build({ ...together, platform: 'browser' })).resolves.toMatchObject({ errors: [] })
  })

  it('imports nothing of Node for a neutral platform', async () => {
    const { metafile } = await build({
      ...together,
      platform: 'neutral',
      packages: 'external',
      metafile: true,
    })
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports)
    const outside = imported.filter(({ external }) => external).map(({ path }) => path)
    expect(outside.length).toBeGreaterThan(5)
    expect(outside.filter((path) => isBuiltin(path))).toEqual([])
  })

  it('a program with references only does not bundle all of byref', async () => {
    const contents =
      "import { parseAssetRef } from './src/index.ts'; console.log(parseAssetRef('x'))"
    const { outputFiles } = await build({
      ...options,
      platform: 'browser',
      minify: true,
      stdin: { contents, resolveDir: root },
    })
    expect(outputFiles[0]?.contents.byteLength).toBeLessThan(20_000)
  })
})

describe('byref without Node', () => {
  const contents = `
    import { createAssets, parseAssetRef } from './src/index.ts'
    import { createBoard } from './src/core/index.ts'
    import { byReference } from './src/integrations/ai-sdk/index.ts'
    globalThis.used = async () => [
      parseAssetRef('asset://x').id,
      Object.keys(byReference().tools({})),
      typeof createBoard([]),
      await createAssets().save(new Uint8Array(3), 'image/png').catch(({ code, message }) => [code, message]),
    ]`
  const WEB = [
    ...['AbortController', 'AbortSignal', 'Blob', 'DOMException', 'Event', 'EventTarget', 'File'],
    ...['Headers', 'ReadableStream', 'Request', 'Response', 'TextDecoder', 'TextEncoder'],
    ...[
      'TransformStream',
      'URL',
      'URLSearchParams',
      'WebAssembly',
      'WritableStream',
      'atob',
      'btoa',
    ],
    ...[
      'clearTimeout',
      'console',
      'crypto',
      'fetch',
      'performance',
      'queueMicrotask',
      'setTimeout',
    ],
  ]

  it('works as far as it needs no Node, and reports what is missing for the rest', async () => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: root },
      bundle: true,
      platform: 'browser',
      format: 'iife',
      write: false,
      logLevel: 'silent',
    })
    const context = createContext(
      Object.fromEntries(WEB.map((name) => [name, Reflect.get(globalThis, name)])),
    )
    runInContext(outputFiles[0]?.text ?? '', context)
    expect(await context.used()).toEqual([
      'x',
      ['fetch_asset', 'search_asset'],
      'object',
      [
        'dependency_missing',
        expect.stringMatching(/^This needs \w+ of node:\w+, .* run it in Node/),
      ],
    ])
  })
})

describe('optional peers', () => {
  it.each(['cjs', 'esm'] as const)('stay out of a bundle for Node in %s', async (format) => {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: ['src/index.ts', 'src/integrations/ai-sdk/index.ts'],
      bundle: true,
      platform: 'node',
      format,
      write: false,
      metafile: true,
      outdir: 'never-written',
      logLevel: 'silent',
    })
    const names =
      /node_modules\/(unpdf|mammoth|sharp|@aws-sdk|@duckdb|apache-arrow|read-excel-file)\//
    expect(Object.keys(metafile.inputs).filter((input) => names.test(input))).toEqual([])
  })
})
