import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = process.env.BYREF_URL ?? 'http://127.0.0.1:4114'
const proxy = { '/api': { target: server, changeOrigin: true } }

export default defineConfig({
  plugins: [react()],
  build: { rollupOptions: { input: ['index.html', 'workbench.html'] } },
  // The page and its server then have one origin, for the browser.
  server: { proxy },
  preview: { proxy },
})
