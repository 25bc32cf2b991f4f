import { mergeConfig } from 'vitest/config'
import vite from './vite.config.ts'

export default mergeConfig(vite, {
  test: { name: 'web', environment: 'jsdom', include: ['src/**/*.test.{ts,tsx}'] },
})
