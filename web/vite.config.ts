import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), tailwind()],
  resolve: {
    alias: { 'byref/client': fileURLToPath(new URL('../src/client/index.ts', import.meta.url)) },
  },
  build: { outDir: '../dist/web', emptyOutDir: true, target: 'es2023' },
  server: { proxy: { '/api': 'http://127.0.0.1:4114' } },
})
