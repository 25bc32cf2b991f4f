import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const source = {
  resolve: { conditions: ['byref-source'] },
  ssr: { resolve: { conditions: ['byref-source'] } },
}

/** How long tests wait for what must come: long, since a machine may be busy; what is there is seen at once. */
const patience = {
  expect: { poll: { timeout: 30_000 } },
  testTimeout: 180_000,
  hookTimeout: 180_000,
}

export default defineConfig({
  test: {
    // Many wait for a disk, a process or a browser: one for each core would leave cores idle.
    maxWorkers: availableParallelism() + 1,
    projects: [
      'packages/react/vitest.config.ts',
      {
        ...source,
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            '{demo,eval}/**/*.test.ts',
            'packages/create-byref/src/**/*.test.ts',
            'test/rules/**/*.test.ts',
          ],
          exclude: ['**/*.{postgres,isolated}.test.ts'],
          // What a file imports the next one has: a process of its own for each would cost half a second.
          isolate: false,
          ...patience,
        },
      },
      {
        ...source,
        test: {
          name: 'postgres',
          include: ['src/**/*.postgres.test.ts'],
          // One server for all of them.
          globalSetup: 'src/postgres/fixtures/one-postgres.ts',
          isolate: false,
          ...patience,
        },
      },
      {
        ...source,
        test: {
          // Tests of what a whole process has, such as its timers: no other test file runs there.
          name: 'isolated',
          include: ['src/**/*.isolated.test.ts'],
          ...patience,
        },
      },
      {
        ...source,
        test: {
          name: 'end-to-end',
          include: ['test/e2e/**/*.test.ts'],
          ...patience,
        },
      },
    ],
  },
})
