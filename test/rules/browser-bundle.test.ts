import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('entries that run in a browser', () => {
  it.each(['src/client/index.ts', 'src/content/board.ts', 'src/refs/asset-ref.ts'])(
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
