import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openAgent } from './open-agent.ts'

it('rejects BYREF_MODEL without a key, and makes no folder', async () => {
  const keys = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']
  for (const name of [...keys, 'OPENAI_BASE_URL']) vi.stubEnv(name, undefined)
  vi.stubEnv('BYREF_MODEL', 'foo')
  onTestFinished(() => void vi.unstubAllEnvs())
  const folder = mkdtempSync(join(tmpdir(), 'byref-no-key-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const data = join(folder, 'data')
  await expect(openAgent({ data })).rejects.toThrow(
    'BYREF_MODEL is set, but no API key. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY',
  )
  expect(existsSync(data)).toBe(false)
})
