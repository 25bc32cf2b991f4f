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

/** Also builds the page in which conversations are saved. */
const offlinePage: Plugin = {
  name: 'offline-page',
  apply: 'build',
  async closeBundle() {
    const configFile = fileURLToPath(new URL('vite.offline.config.ts', import.meta.url))
    await build({ configFile, logLevel: 'warn' })
  },
}

/** Compresses scripts and styles once, more than a server could for each request. */
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

/** Leaves out the fonts of formulas in formats that only old browsers need. */
const newFonts: Plugin = {
  name: 'new-fonts',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('katex.min.css')) return null
    return code.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("[^"]*"\)/g, '')
  },
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [newFonts, react(), tailwind(), packed, offlinePage],
  css: { postcss: { plugins: [scopeStyles] } },
  resolve: {
    conditions: ['byref-source', ...defaultClientConditions],
    alias: { 'byref/client': fileURLToPath(new URL('../src/client/index.ts', import.meta.url)) },
  },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows fonts from the server only.
    assetsInlineLimit: (path) => (path.endsWith('.woff2') ? false : undefined),
    // One file for the first load compresses better than many.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] } },
    },
    // Diagrams are in large chunks, each loaded when one is shown.
    chunkSizeWarningLimit: 1_600,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4114' } },
})
