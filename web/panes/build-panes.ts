import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { build, defaultClientConditions } from 'vite'
import { scopeStyles } from '../../packages/react/scope-styles.ts'

/** Builds the page that shows one pane of `@byref/react`, from the sources. Returns its files by path. */
export async function buildPanes(): Promise<Map<string, string>> {
  const built = await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'warn',
    plugins: [react(), tailwind()],
    css: { postcss: { plugins: [scopeStyles] } },
    resolve: {
      conditions: ['byref-source', ...defaultClientConditions],
      alias: {
        'byref/client': fileURLToPath(new URL('../../src/client/index.ts', import.meta.url)),
      },
    },
    build: { write: false, assetsDir: 'panes', target: 'es2023', chunkSizeWarningLimit: 2_000 },
  })
  const outputs = Array.isArray(built) ? built : 'output' in built ? [built] : []
  return new Map(
    outputs.flatMap(({ output }) =>
      output.map((file) => {
        const text = file.type === 'chunk' ? file.code : String(file.source)
        return [file.fileName, text] as const
      }),
    ),
  )
}
