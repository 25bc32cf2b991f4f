import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const source = {
  resolve: { conditions: ['byref-source'] },
  ssr: { resolve: { conditions: ['byref-source'] } },
}

export default defineConfig({
  test: {
    // Many wait for a disk, a process or a browser: one at a time would leave a core idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      'web/vitest.config.ts',
      {
        ...source,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/rules/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        ...source,
        test: {
          name: 'end-to-end',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
