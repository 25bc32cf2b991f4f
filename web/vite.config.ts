import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { build, defaultClientConditions, defineConfig, type Plugin } from 'vite'
import { scopeStyles } from '../packages/react/scope-styles.ts'

const brotli = promisify(brotliCompress)

/** Builds the page that conversations are saved in beside the app. */
const offlinePage: Plugin = {
  name: 'offline-page',
  apply: 'build',
  async closeBundle() {
    const configFile = fileURLToPath(new URL('vite.offline.config.ts', import.meta.url))
    await build({ configFile, logLevel: 'warn' })
  },
}

/** Packs scripts and styles once, more tightly than a server could at each request. */
const packed: Plugin = {
  name: 'packed',
  apply: 'build',
  async writeBundle({ dir = '' }, bundle) {
    const names = Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name))
    await Promise.all(
      names.map(async (name) => {
        const file = join(dir, name)
        await writeFile(`${file}.br`, await brotli(await readFile(file)))
      }),
    )
  },
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), tailwind(), packed, offlinePage],
  css: { postcss: { plugins: [scopeStyles] } },
  resolve: {
    conditions: ['byref-source', ...defaultClientConditions],
    alias: { 'byref/client': fileURLToPath(new URL('../src/client/index.ts', import.meta.url)) },
  },
  build: { outDir: '../dist/web', emptyOutDir: true, target: 'es2023' },
  server: { proxy: { '/api': 'http://127.0.0.1:4114' } },
})
