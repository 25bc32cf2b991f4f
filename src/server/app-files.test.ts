import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appFiles } from './app-files.ts'

const PAGE = '<!doctype html><title>byref</title>'
const folder = mkdtempSync(join(tmpdir(), 'byref-app-'))
const files = {
  'index.html': PAGE,
  'offline.html': '<p>saved</p>',
  'icon.svg': '<svg/>',
  'assets/main-DY4YfrkT.js': 'main()',
  'assets/first.js': 'first()',
  'samples/index.json': '[]',
}

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const get = (path: string) => appFiles(folder).request(path)

describe('appFiles', () => {
  it('gives the files of the app, those named by their content for good', async () => {
    for (const [name, text] of Object.entries(files)) {
      expect([name, await (await get(`/${name === 'index.html' ? '' : name}`)).text()]).toEqual([
        name,
        text,
      ])
    }
    const script = await get('/assets/main-DY4YfrkT.js')
    expect(script.headers.get('cache-control')).toContain('immutable')
    expect((await get('/assets/first.js')).headers.get('cache-control')).toBeNull()
    expect((await get('/')).headers.get('cache-control')).toBe('no-cache')
  })

  it('gives its page for every address in it, also of fields with a dot, under a policy', async () => {
    for (const path of [
      '/',
      '/c/x.y',
      '/assets/a1',
      '/assets/rain.csv',
      '/assets/a1/content/files/read.me',
    ]) {
      const page = await get(path)
      expect([path, page.status, await page.text()]).toEqual([path, 200, PAGE])
      expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self';/)
    }
  })

  it('gives no page where a file was asked for', async () => {
    for (const path of ['/assets/main-00000000.js', '/samples/none.json']) {
      expect([path, (await get(path)).status]).toEqual([path, 404])
    }
  })

  it('says how the app is built where it is not', async () => {
    const answer = await appFiles(join(folder, 'nowhere')).request('/')
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining('npm run build:web'),
    ])
  })
})
