import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defaultClientConditions, defineConfig } from 'vite'
import { viteSingleFile } from 'vite-plugin-singlefile'
import { scopeStyles } from '../packages/react/scope-styles.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Replacements for parts that need a server, much code, or fonts. */
const REPLACED: readonly [source: RegExp, file: string][] = [
  [/\/draw-diagram\.ts$/, 'src/offline/saved-diagram.ts'],
  [/\/katex\.min\.css$/, 'src/offline/no-fonts.css'],
]

const offlineParts: Plugin = {
  name: 'offline-parts',
  enforce: 'pre',
  resolveId(source) {
    const found = REPLACED.find(([pattern]) => pattern.test(source))
    return found ? here(found[1]) : null
  },
}

/** Lets the page run only its own script, and load nothing. */
const policy: Plugin = {
  name: 'offline-policy',
  async closeBundle() {
    const file = here('../dist/web/offline.html')
    const html = await readFile(file, 'utf8')
    const scripts = [...html.matchAll(/<script type="module"[^>]*>([\s\S]*?)<\/script>/g)]
    const hashes = scripts.map(([, text = '']) => {
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    })
    const rules = [
      "default-src 'none'",
      `script-src ${hashes.join(' ')}`,
      "style-src 'unsafe-inline'",
      ...['img-src', 'media-src', 'frame-src'].map((kind) => `${kind} blob: data:`),
      "base-uri 'none'",
      "form-action 'none'",
    ]
    await writeFile(file, html.replace('__POLICY__', rules.join('; ')))
  },
}

/** The page in which conversations are saved: the workbench in one file. */
export default defineConfig({
  root: here('.'),
  publicDir: false,
  plugins: [
    offlineParts,
    react(),
    tailwind(),
    viteSingleFile({ removeViteModuleLoader: true }),
    policy,
  ],
  css: { postcss: { plugins: [scopeStyles] } },
  resolve: {
    conditions: ['byref-source', ...defaultClientConditions],
    alias: { 'byref/client': here('../src/client/index.ts') },
  },
  build: {
    outDir: '../dist/web',
    emptyOutDir: false,
    target: 'es2023',
    rollupOptions: { input: here('offline.html') },
  },
})
