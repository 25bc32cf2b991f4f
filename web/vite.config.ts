import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { build, defineConfig, type Plugin } from 'vite'

/** Builds the page that conversations are saved in beside the app. */
const offlinePage: Plugin = {
  name: 'offline-page',
  apply: 'build',
  async closeBundle() {
    const configFile = fileURLToPath(new URL('vite.offline.config.ts', import.meta.url))
    await build({ configFile, logLevel: 'warn' })
  },
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), tailwind(), offlinePage],
  resolve: {
    alias: { 'byref/client': fileURLToPath(new URL('../src/client/index.ts', import.meta.url)) },
  },
  build: { outDir: '../dist/web', emptyOutDir: true, target: 'es2023' },
  server: { proxy: { '/api': 'http://127.0.0.1:4114' } },
})
