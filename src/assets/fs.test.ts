import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { testAssetStore } from '../testing/asset-store.ts'
import { createFsAssetStore } from './fs.ts'

let folder: string
let count = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function newStore(options: { baseUrl?: string } = {}) {
  return createFsAssetStore({ rootDir: join(folder, String(count++)), ...options })
}

describe('createFsAssetStore', () => {
  testAssetStore(() => newStore(), it)
})

describe('createFsAssetStore with a baseUrl', () => {
  testAssetStore(() => newStore({ baseUrl: 'https://cdn.example.com/assets/' }), it)
})
