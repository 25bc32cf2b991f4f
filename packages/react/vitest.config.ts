import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Shared by two projects of ../../vitest.config.ts: tests that need a page (`*.test.tsx`), and tests that need none.
export default defineConfig({
  plugins: [react()],
  resolve: {
    conditions: ['byref-source'],
    alias: { 'byref/client': here('../../src/client/index.ts') },
  },
  ssr: { resolve: { conditions: ['byref-source'] } },
  test: {
    // A page costs more than its tests. So files share one, and clean up after themselves.
    pool: 'threads',
    isolate: false,
    maxWorkers: availableParallelism() + 1,
    unstubGlobals: true,
    restoreMocks: true,
    // The same as in ../../vitest.config.ts.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
