import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

/** The functions of core that users use most. */
const ENTRY = `
  export { extractAssetId, formatAssetRef, isAssetRef, parseAssetRef } from './core/refs/asset-ref.ts'
  export { findEmbeddedRefs } from './core/refs/embedded-refs.ts'
  export { resolveFieldPath } from './core/refs/field-path.ts'
  export { assetMeta } from './core/messages/asset-meta.ts'
  export { createBoard } from './core/board/board.ts'
  export { flatten, unflatten } from './core/messages/flatten.ts'
  export { renderContext } from './core/board/render-context.ts'
  export { toMessage } from './core/messages/to-message.ts'
`

it('core is under 15 kB, minified and gzipped', async () => {
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
  expect(size).toBeLessThan(15 * 1024)
})
