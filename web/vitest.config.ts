import { availableParallelism } from 'node:os'
import { mergeConfig } from 'vitest/config'
import vite from './vite.config.ts'

// What needs a page says so: `// @vitest-environment jsdom`.
export default mergeConfig(vite, {
  test: {
    name: 'web',
    include: ['src/**/*.test.{ts,tsx}'],
    // A page costs more than its tests: files share one, and leave it as they found it.
    pool: 'threads',
    isolate: false,
    maxWorkers: availableParallelism() + 1,
    unstubGlobals: true,
    restoreMocks: true,
    setupFiles: ['src/testing/setup.ts'],
    // As long as those of ../vitest.config.ts.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
