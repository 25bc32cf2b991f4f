import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = process.env.BYREF_URL ?? 'http://127.0.0.1:4114'
// The server sees the address of the page, and takes its requests for those of a page of its own.
const proxy = { '/api': { target: server, changeOrigin: false } }

export default defineConfig({
  plugins: [react()],
  build: { rollupOptions: { input: ['index.html', 'workbench.html'] } },
  server: { proxy },
  preview: { proxy },
})
