import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const source = {
  resolve: { conditions: ['byref-source'] },
  ssr: { resolve: { conditions: ['byref-source'] } },
}

/** Time limits. They are long because a machine may be busy. A test does not wait once its condition is met. */
const patience = {
  expect: { poll: { timeout: 30_000 } },
  testTimeout: 180_000,
  hookTimeout: 180_000,
}

/** `npm test` leaves out slow tests: kills, full disks, random schedules, every screen. `npm run test:all` runs them. */
const leftOut = process.env.BYREF_TESTS === 'quick' ? ['**/*.slow.*'] : []

export default defineConfig({
  test: {
    // Many tests wait for a disk, a process or a browser, so one worker per core would leave cores idle.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: './packages/react/vitest.config.ts',
        root: 'packages/react',
        test: { name: 'react', include: ['src/**/*.test.ts', '../../web/src/**/*.test.ts'] },
      },
      {
        // Another project, because Vitest starts a new worker when the environment changes.
        extends: './packages/react/vitest.config.ts',
        root: 'packages/react',
        test: {
          name: 'react-page',
          include: ['src/**/*.test.tsx'],
          environment: 'jsdom',
          setupFiles: [`${import.meta.dirname}/packages/react/src/testing/setup.ts`],
        },
      },
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
          exclude: ['**/*.{postgres,isolated}.test.ts', ...leftOut],
          // Test files share loaded modules. A separate process for each file would cost half a second.
          isolate: false,
          ...patience,
        },
      },
      {
        ...source,
        test: {
          name: 'postgres',
          include: ['src/**/*.postgres.test.ts'],
          exclude: leftOut,
          // One server for all test files.
          globalSetup: 'src/postgres/fixtures/one-postgres.ts',
          isolate: false,
          ...patience,
        },
      },
      {
        ...source,
        test: {
          // Tests of things that a whole process shares, such as its timers. No other test file runs in the process.
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
          exclude: leftOut,
          ...patience,
        },
      },
    ],
  },
})
