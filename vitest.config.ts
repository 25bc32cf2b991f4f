import { defineConfig } from 'vitest/config'

const source = {
  resolve: { conditions: ['byref-source'] },
  ssr: { resolve: { conditions: ['byref-source'] } },
}

export default defineConfig({
  test: {
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
