import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openFolder, signingSecret } from './data-folder.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'byref-secret-'))
  vi.stubEnv('BYREF_SECRET', '')
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  return folder
}

describe('signingSecret', () => {
  it('is created once, and only its owner may read it', () => {
    const folder = newFolder()
    const secret = signingSecret(folder)
    expect([secret.length, signingSecret(folder)]).toEqual([43, secret])
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe(`${secret}\n`)
    expect(statSync(join(folder, 'secret')).mode & 0o777).toBe(0o600)
  })

  it('reports which file is empty after a crash or on a full disk', () => {
    const folder = newFolder()
    const file = join(folder, 'secret')
    writeFileSync(file, '')
    expect(() => signingSecret(folder)).toThrow(`${file} is empty: delete it`)
  })
})

describe('openFolder', () => {
  it('says that a file is not a folder', () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '', { mode: 0o600 })
    for (const make of [true, false]) {
      expect(() => openFolder(file, { make })).toThrow(
        `${file} cannot be used, because it is a file`,
      )
    }
  })
})
