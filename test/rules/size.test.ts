import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

/** The functions that users meet of the two layers that run everywhere. */
const ENTRY = `
  export { extractAssetId, formatAssetRef, isAssetRef, parseAssetRef } from './refs/asset-ref.ts'
  export { findEmbeddedRefs } from './refs/embedded-refs.ts'
  export { resolveFieldPath } from './refs/field-path.ts'
  export { assetMeta } from './content/asset-meta.ts'
  export { createBoard } from './content/board.ts'
  export { flatten, unflatten } from './content/flatten.ts'
  export { renderContext } from './content/render-context.ts'
  export { toMessage } from './content/to-message.ts'
`

it('refs and content are under 14.5 kB, minified and gzipped', async () => {
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: fileURLToPath(new URL('../../src', import.meta.url)) },
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
  })
  const size = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  expect(size).toBeGreaterThan(5_000)
  expect(size).toBeLessThan(14.5 * 1024)
})
