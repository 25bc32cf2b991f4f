import { mergeConfig } from 'vitest/config'
import vite from './vite.config.ts'

// What needs a page says so: `// @vitest-environment jsdom`.
export default mergeConfig(vite, {
  test: {
    name: 'web',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
    testTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
